"""The shadow snapshot is exact: what is in it, byte for byte."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from shadows import EMPTY_TREE, contents, git, put, shadow_of, write

from zeroin.record.code import CodeError, Shadow


class TestWhatIsInIt:
    def test_the_work_tree_as_it_is(self, repo):
        """Modified, untracked and deleted files count as they lie on disk; ignored ones don't."""
        write(repo, a="a = 2\n", new="n\n")
        (repo / "b.py").unlink()
        put(repo, ".gitignore", "*.log\n")
        put(repo, "run.log")
        shadow = shadow_of(repo)
        assert contents(shadow, shadow.snapshot().tree) == {
            ".gitignore": b"*.log\n",
            "a.py": b"a = 2\n",
            "new.py": b"n\n",
            "sub/c.py": b"c = 1\n",
        }

    def test_without_git(self, plain):
        """A project without git is recorded just the same, without environments and caches."""
        put(plain, "src/m.py", "m\n")
        for junk in ("__pycache__/m.pyc", ".venv/x.py", "node_modules/x.js", "odd [env]/lib.py"):
            put(plain, junk)
        put(plain, "odd [env]/pyvenv.cfg")
        shadow = shadow_of(plain)
        assert contents(shadow, shadow.snapshot().tree) == {"src/m.py": b"m\n"}

    @pytest.mark.parametrize("name", ["our store", ".state/ours"])
    def test_the_store_is_never_in_it(self, repo, name):
        """A store inside the project under any name does not record itself."""
        shadow = Shadow(str(repo / name), str(repo))
        first = shadow.snapshot()
        assert shadow.snapshot() == first
        assert shadow.files(first.tree) == ["a.py", "b.py", "sub/c.py"]

    def test_an_empty_project(self, plain):
        """Nothing at all is a snapshot too."""
        assert shadow_of(plain).snapshot() == (EMPTY_TREE, [])

    def test_an_empty_folder_of_a_repository(self, repo):
        """A root without files inside a repository with files gives the empty tree."""
        (repo / "bare").mkdir()
        assert shadow_of(repo / "bare").snapshot() == (EMPTY_TREE, [])

    def test_ignore_rules_of_every_kind_are_heard(self, repo, monkeypatch):
        """.gitignore, .git/info/exclude and the user's global ignore file all keep files out."""
        put(repo, ".gitignore", "one\n")
        put(repo, ".git/info/exclude", "two\n")
        put(Path(os.environ["HOME"]), ".gitconfig", "[core]\n\texcludesFile = ~/ig\n")
        put(Path(os.environ["HOME"]), "ig", "three\n")
        for name in ("one", "two", "three", "four"):
            put(repo, name)
        shadow = shadow_of(repo)
        found = shadow.files(shadow.snapshot().tree)
        assert found == [".gitignore", "a.py", "b.py", "four", "sub/c.py"]

    def test_a_file_ignored_later_leaves(self, repo):
        """Once the user ignores a file we had recorded, it is recorded no longer; `git add -f` is."""
        shadow = shadow_of(repo)
        put(repo, "secrets.txt")
        put(repo, "forced.txt")
        assert "secrets.txt" in shadow.files(shadow.snapshot().tree)
        git(repo, "add", "forced.txt")
        put(repo, ".gitignore", "*.txt\n")
        found = shadow.files(shadow.snapshot().tree)
        assert "secrets.txt" not in found
        assert "forced.txt" in found

    def test_include_is_no_deeper_than_it_says(self, repo):
        """A star in `include` stands for a name, not for a path."""
        put(repo, ".gitignore", "*.cfg\n")
        put(repo, "top.cfg")
        put(repo, "deep/down.cfg")
        shadow = shadow_of(repo, include=["*.cfg"])
        assert [p for p in shadow.files(shadow.snapshot().tree) if p.endswith("cfg")] == ["top.cfg"]

    def test_include(self, repo):
        """`include` brings ignored files back, also new, changed and deleted ones."""
        put(repo, ".gitignore", ".env*\nconf/\n")
        put(repo, ".env", "A=1\n")
        put(repo, "conf/deep/x.yaml")
        shadow = shadow_of(repo, include=[".env", "conf/**/*.yaml"])
        one = shadow.snapshot().tree
        assert {".env", "conf/deep/x.yaml"} <= set(shadow.files(one))
        put(repo, ".env", "A=2\n")
        (repo / "conf/deep/x.yaml").unlink()
        two = shadow.snapshot().tree
        assert [(c.path, c.kind) for c in shadow.changes(one, two)] == [
            (".env", "M"),
            ("conf/deep/x.yaml", "D"),
        ]
        narrower = shadow_of(repo)
        assert ".env" not in narrower.files(narrower.snapshot().tree)

    def test_only_some_paths(self, plain):
        """With `paths` those files alone are recorded, relative or absolute, ignored or not."""
        put(plain, ".gitignore", "*\n")
        put(plain, "s.py", "s\n")
        put(plain, "lib/t.py", "t\n")
        put(plain, "other.py")
        shadow = shadow_of(plain)
        taken = shadow.snapshot(["s.py", str(plain / "lib/t.py"), "../out.py", "missing.py"])
        assert contents(shadow, taken.tree) == {"s.py": b"s\n", "lib/t.py": b"t\n"}
        assert [line.split(" (")[0] for line in taken.left_out] == ["../out.py"]

    def test_no_path_at_all(self, plain, tmp_path):
        """A tree of nothing can be kept, packed, compared, and put into a folder."""
        put(plain, "s.py", "s\n")
        shadow = shadow_of(plain)
        nothing, something = shadow.snapshot([]).tree, shadow.snapshot(["s.py"]).tree
        shadow.keep("1", nothing)
        shadow.keep("2", something)
        shadow.gc()
        assert shadow.files(nothing) == []
        assert [(c.path, c.kind) for c in shadow.changes(nothing, something)] == [("s.py", "A")]
        shadow.checkout(nothing, str(tmp_path / "out"))
        assert os.listdir(tmp_path / "out") == []

    def test_an_edit_of_the_same_size_in_the_same_second(self, plain):
        """A change that neither size nor whole seconds show is seen."""
        shadow = shadow_of(plain)
        trees = set()
        for number in range(5):
            write(plain, a=f"a = {number}\n")
            trees.add(shadow.snapshot().tree)
        assert len(trees) == 5

    def test_a_file_becomes_a_folder_and_a_link_and_back(self, repo):
        """Changes of kind between file, folder and link are followed in every direction."""
        shadow = shadow_of(repo)
        first = shadow.snapshot().tree
        (repo / "a.py").unlink()
        put(repo, "a.py/inner", "i\n")
        shutil.rmtree(repo / "sub")
        put(repo, "elsewhere/c.py", "c = 1\n")
        (repo / "sub").symlink_to("elsewhere")
        assert contents(shadow, shadow.snapshot().tree) == {
            "a.py/inner": b"i\n",
            "b.py": b"b = 1\n",
            "elsewhere/c.py": b"c = 1\n",
            "sub": b"elsewhere",
        }
        for gone in ("a.py", "elsewhere"):
            shutil.rmtree(repo / gone)
        (repo / "sub").unlink()
        write(repo, a="a = 1\n")
        put(repo, "sub/c.py", "c = 1\n")
        assert shadow.snapshot().tree == first


class TestRawBytes:
    @pytest.mark.parametrize("touched", [False, True])
    def test_line_endings(self, repo, touched):
        """CRLF files are recorded as they are on disk, though the user's git stores LF."""
        git(repo, "config", "core.autocrlf", "true")
        put(repo, ".gitattributes", "*.txt text eol=crlf\n")
        put(repo, "w.txt", b"one\r\ntwo\r\n", old=True)
        put(repo, "a.py", b"a = 1\r\n", old=True)
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", "crlf")
        if touched:
            os.utime(repo / "w.txt")
        shadow = shadow_of(repo)
        found = contents(shadow, shadow.snapshot().tree)
        assert (found["w.txt"], found["a.py"]) == (b"one\r\ntwo\r\n", b"a = 1\r\n")
        assert shadow.snapshot().tree == shadow.snapshot().tree

    def test_filters_never_run(self, repo, tmp_path):
        """A clean filter such as LFS is not run, and files it had replaced are recorded whole."""
        put(repo, ".gitattributes", "*.bin filter=lfs\n")
        git(repo, "config", "filter.lfs.clean", "sed s/real/pointer/g")
        put(repo, "m.bin", "really real\n", old=True)
        git(repo, "add", "-A")
        assert git(repo, "show", ":m.bin") == "pointerly pointer"
        put(Path(os.environ["HOME"]), ".gitconfig", '[filter "lfs"]\n clean=false\n required\n')
        shadow = shadow_of(repo)
        assert shadow.read(shadow.snapshot().tree, "m.bin") == b"really real\n"

    def test_checkout(self, repo, tmp_path):
        """A checkout has the same bytes, executable bits and links, and refuses a full folder."""
        put(repo, ".gitattributes", "* text eol=crlf\n*.bin filter=lfs\n")
        put(repo, "run.sh", "#!/bin/sh\n").chmod(0o755)
        put(repo, "m.bin", b"\x00\r\n\xff")
        (repo / "link").symlink_to("/nowhere at all")
        shadow = shadow_of(repo)
        out = tmp_path / "out" / "deep"
        tree = shadow.snapshot().tree
        shadow.checkout(tree, str(out))
        assert (out / "run.sh").read_bytes() == b"#!/bin/sh\n"
        assert (out / "run.sh").stat().st_mode & 0o111
        assert not (out / "a.py").stat().st_mode & 0o111
        assert (out / "m.bin").read_bytes() == b"\x00\r\n\xff"
        assert os.readlink(out / "link") == "/nowhere at all"
        again = Shadow(str(tmp_path / "second"), str(out)).snapshot().tree
        assert again == tree
        with pytest.raises(CodeError, match="not empty"):
            shadow.checkout(tree, str(out))

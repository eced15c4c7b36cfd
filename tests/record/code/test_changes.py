"""What changed between two snapshots, and how long they are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from shadows import EMPTY_TREE, put, shadow_of, write

from zeroin.record import code
from zeroin.record.code import Change, CodeError, Shadow


class TestChanges:
    def test_kinds(self, repo):
        """Added, modified, deleted, renamed, binary, mode and type changes, each with its lines."""
        put(repo, "long.py", "".join(f"line {n}\n" for n in range(30)))
        put(repo, "m.bin", b"\0\1")
        put(repo, "mode.sh", "#!\n")
        put(repo, "kind", "a file\n")
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        write(repo, a="a = 1\nmore\nand more\n", new="1\n2\n")
        (repo / "b.py").unlink()
        (repo / "long.py").rename(repo / "sub/moved.py")
        with (repo / "sub/moved.py").open("a") as file:
            file.write("end\n")
        put(repo, "m.bin", b"\0\2\3")
        (repo / "mode.sh").chmod(0o755)
        (repo / "kind").unlink()
        (repo / "kind").symlink_to("target")
        new = shadow.snapshot().tree
        assert shadow.changes(old, new) == [
            Change("a.py", 2, 0, "M"),
            Change("b.py", 0, 1, "D"),
            Change("kind", 1, 1, "M"),
            Change("m.bin", None, None, "M"),
            Change("mode.sh", 0, 0, "M"),
            Change("new.py", 2, 0, "A"),
            Change("sub/moved.py", 1, 0, "R", "long.py"),
        ]
        assert shadow.changes(old, old) == []

    def test_patch_applies(self, repo, tmp_path):
        """A binary patch turns the old checkout into the new one; bytes that aren't UTF-8 too."""
        put(repo, "m.bin", b"\0\1")
        put(repo, "latin.py", b"# caf\xe9\n")
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        put(repo, "m.bin", os.urandom(300))
        put(repo, "latin.py", b"# th\xe9\n")
        (repo / "a.py").rename(repo / "z.py")
        new = shadow.snapshot().tree
        out = tmp_path / "out"
        shadow.checkout(old, str(out))
        patch = os.fsencode(shadow.patch(old, new, binary=True))
        subprocess.run(["git", "apply"], cwd=out, input=patch, check=True)
        assert Shadow(str(tmp_path / "s"), str(out)).snapshot().tree == new
        only = shadow.patch(old, new, paths=["latin.py"])
        assert only.count("diff --git") == 1

    def test_attributes_of_the_project_hide_nothing(self, repo):
        """`-diff` in .gitattributes does not turn a text file's change into a binary one."""
        put(repo, ".gitattributes", "*.py -diff\n")
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        write(repo, a="a = 2\n")
        assert shadow.changes(old, shadow.snapshot().tree) == [Change("a.py", 1, 1, "M")]


class TestKeeping:
    def _aged(self, shadow: Shadow) -> None:
        for path in (Path(shadow.folder) / "objects").rglob("*"):
            os.utime(path, (1e9, 1e9))

    def test_gc(self, repo):
        """`gc` takes what was forgotten and leaves what is kept; snapshots go on as before."""
        shadow = shadow_of(repo)
        trees = []
        for number in range(3):
            write(repo, a=f"attempt {number}\n")
            trees.append(shadow.snapshot().tree)
            shadow.keep(str(number), trees[-1])
        shadow.forget(["1", "never-there"])
        self._aged(shadow)
        shadow.gc()
        assert shadow.read(trees[0], "a.py") == b"attempt 0\n"
        with pytest.raises(CodeError):
            shadow.read(trees[1], "a.py")
        shadow.forget(["0"])
        self._aged(shadow)
        shadow.gc()
        with pytest.raises(CodeError):
            shadow.read(trees[0], "a.py")
        assert shadow.snapshot().tree == trees[2]
        assert shadow.read(trees[2], "a.py") == b"attempt 2\n"

    def test_the_new_pack_stays(self, repo, monkeypatch):
        """However old the clock makes it look, what is kept is not swept away."""
        shadow = shadow_of(repo)
        write(repo, a="kept\n")
        tree = shadow.snapshot().tree
        shadow.keep("1", tree)
        monkeypatch.setattr(code.files, "_GRACE", -3_600.0)
        shadow.gc()
        assert shadow.read(tree, "a.py") == b"kept\n"

    def test_the_last_tree_is_never_a_memory_only(self, repo):
        """Nothing kept and all collected: an unchanged project still gets a tree that exists."""
        shadow = shadow_of(repo)
        write(repo, a="a = 3\n")
        tree = shadow.snapshot().tree
        self._aged(shadow)
        shadow.gc()
        assert shadow.snapshot().tree == tree
        assert shadow.read(tree, "a.py") == b"a = 3\n"

    def test_young_objects_stay(self, repo):
        """A snapshot that isn't kept yet survives a `gc` that comes in between."""
        shadow = shadow_of(repo)
        write(repo, a="young\n")
        tree = shadow.snapshot().tree
        write(repo, a="younger\n")
        shadow.snapshot()
        shadow.gc()
        assert shadow.read(tree, "a.py") == b"young\n"

    def test_gc_without_the_users_repository(self, repo):
        """When borrowed objects are gone for good, `gc` still gives space back."""
        shadow = shadow_of(repo)
        put(repo, "new.txt", os.urandom(200_000))
        shadow.keep("1", shadow.snapshot().tree)
        shutil.rmtree(repo / ".git")
        (repo / "new.txt").unlink()
        shadow.keep("2", shadow.snapshot().tree)
        shadow.forget(["1"])
        self._aged(shadow)
        shadow.gc()
        kept = sum(p.stat().st_size for p in Path(shadow.folder).rglob("*") if p.is_file())
        assert kept < 50_000

    def test_gc_with_kept_code_that_is_gone(self, repo):
        """A kept snapshot whose borrowed code is gone doesn't stop `gc` either."""
        shadow = shadow_of(repo)
        write(repo, b="ours\n")
        half = shadow.snapshot().tree
        shadow.keep("half", half)
        put(repo, "new.txt", os.urandom(200_000))
        shadow.keep("whole", shadow.snapshot().tree)
        shutil.rmtree(repo / ".git")
        shadow.forget(["whole"])
        self._aged(shadow)
        shadow.gc()
        kept = sum(p.stat().st_size for p in Path(shadow.folder).rglob("*") if p.is_file())
        assert kept < 50_000
        assert shadow.read(half, "b.py") == b"ours\n"

    @pytest.mark.parametrize("name", ["", "../x", "a/b", "a..b", ".x", "x.lock", "a\n", "-"])
    def test_names(self, repo, name):
        """A name that isn't a plain word is refused before it becomes a path."""
        shadow = shadow_of(repo)
        with pytest.raises(CodeError, match="can't name"):
            shadow.keep(name, EMPTY_TREE)
        assert shadow.forget(["12", "a-b_c.d"]) is None

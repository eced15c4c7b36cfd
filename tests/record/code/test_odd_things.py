"""The shadow snapshot of a project with odd names, links, nested repositories."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading

import pytest
from shadows import contents, git, put, shadow_of, write

from zeroin.record.code import Change, Shadow


class TestOddThings:
    def test_names(self, plain, tmp_path):
        """Newlines, tabs, quotes, bytes that aren't UTF-8, dashes, colons, globs: all are names."""
        names = [
            "a\nb",
            "tab\t",
            '"q"',
            os.fsdecode(b"\xff\xfe"),
            "-rf",
            "--",
            ":(top)x",
            "*",
            "é ü",
        ]
        names += ["d\n/-x", " lead", "trail ", "a\\b", "#c", "!n", "git~1", "nul", "a\\.git"]
        for number, name in enumerate(names):
            put(plain, name, f"{number}\n")
        shadow = shadow_of(plain)
        old = shadow.snapshot()
        assert sorted(shadow.files(old.tree)) == sorted(names)
        assert all(shadow.read(old.tree, n) == f"{i}\n".encode() for i, n in enumerate(names))
        for name in names:
            put(plain, name, "other\n")
        new = shadow.snapshot()
        changes = shadow.changes(old.tree, new.tree)
        assert sorted(changes) == sorted(Change(name, 1, 1, "M") for name in names)
        for name in names:
            assert shadow.patch(old.tree, new.tree, paths=[name]).count("\n+other") == 1
        shadow.checkout(new.tree, str(tmp_path / "out"))
        assert sorted(shadow.files(new.tree)) == sorted(
            os.path.relpath(os.path.join(base, name), tmp_path / "out")
            for base, _, files in os.walk(tmp_path / "out")
            for name in files
        )

    def test_sockets_and_pipes(self, repo):
        """Sockets and FIFOs are no code; one that took a file's place takes the file out."""
        os.mkfifo(repo / "pipe")
        (repo / "a.py").unlink()
        os.mkfifo(repo / "a.py")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(repo / "sock"))
            shadow = shadow_of(repo)
            taken = shadow.snapshot()
        assert shadow.files(taken.tree) == ["b.py", "sub/c.py"]
        assert taken.left_out == ["a.py (not a file)"]

    def test_links_are_never_followed(self, plain, tmp_path):
        """Links to files, folders, themselves and nothing are recorded as links."""
        put(tmp_path, "outside/secret.py", "s\n")
        targets = {
            "out": "../outside",
            "loop": "loop",
            "none": "nothing",
            "f": "../outside/secret.py",
        }
        for name, target in targets.items():
            (plain / name).symlink_to(target)
        shadow = shadow_of(plain)
        found = contents(shadow, shadow.snapshot().tree)
        assert found == {name: target.encode() for name, target in targets.items()}

    def test_nested_repositories(self, repo):
        """A repository inside is left out and said so, with commits or without."""
        for name in ("with", "without"):
            put(repo, f"{name}/x.py")
            git(repo / name, "init", "-q")
        git(repo / "with", "add", "-A")
        git(repo / "with", "commit", "-q", "-m", "m")
        shadow = shadow_of(repo)
        taken = shadow.snapshot()
        assert not any(path.startswith("with/") for path in shadow.files(taken.tree))
        assert "with/ (a repository of its own)" in taken.left_out
        assert shadow.snapshot() == taken

    def test_submodules(self, repo, tmp_path):
        """A submodule is recorded by its commit, also after it moved on, is gone or isn't there."""
        other = tmp_path / "other"
        other.mkdir()
        git(other, "init", "-q")
        write(other, o="1\n")
        git(other, "add", "-A")
        git(other, "commit", "-q", "-m", "o")
        git(repo, "submodule", "--quiet", "add", str(other), "mod")
        git(repo, "commit", "-q", "-m", "with module")
        shadow = shadow_of(repo)
        one = shadow.snapshot()
        assert "mod" in shadow.files(one.tree)
        git(repo / "mod", "commit", "-q", "--allow-empty", "-m", "on")
        two = shadow.snapshot()
        assert [(c.path, c.kind) for c in shadow.changes(one.tree, two.tree)] == [("mod", "M")]
        shadow.checkout(two.tree, str(tmp_path / "out"))
        assert (tmp_path / "out/mod").is_dir()
        inside = Shadow(str(tmp_path / "s2"), str(repo / "mod"))
        assert inside.files(inside.snapshot().tree) == ["o.py"]
        assert inside.base_commit() == git(repo / "mod", "rev-parse", "HEAD")
        shutil.rmtree(repo / "mod")
        assert "mod" not in shadow.files(shadow.snapshot().tree)

    def test_conflicts_and_odd_index_entries(self, repo):
        """Conflicts, intent-to-add, assume-unchanged and skip-worktree don't hide the disk."""
        git(repo, "checkout", "-q", "-b", "side")
        write(repo, a="side\n")
        git(repo, "commit", "-qam", "side")
        git(repo, "checkout", "-q", "main")
        write(repo, a="main\n")
        git(repo, "commit", "-qam", "main")
        with pytest.raises(subprocess.CalledProcessError):
            git(repo, "merge", "side")
        write(repo, later="later\n")
        git(repo, "add", "-N", "later.py")
        git(repo, "update-index", "--assume-unchanged", "b.py")
        put(repo, "b.py", "b = 2\n", old=True)
        git(repo, "update-index", "--skip-worktree", "sub/c.py")
        put(repo, "sub/c.py", "c = 2\n", old=True)
        shadow = shadow_of(repo)
        found = contents(shadow, shadow.snapshot().tree)
        assert found["a.py"].startswith(b"<<<<<<<")
        del found["a.py"]
        assert found == {
            "b.py": b"b = 2\n",
            "later.py": b"later\n",
            "sub/c.py": b"c = 2\n",
        }

    @pytest.mark.parametrize("sparse_index", ["--sparse-index", "--no-sparse-index"])
    def test_sparse_checkouts(self, repo, sparse_index):
        """What a sparse checkout keeps off the disk is not in the snapshot."""
        git(repo, "sparse-checkout", "init", "--cone", sparse_index)
        assert not (repo / "sub").exists()
        shadow = shadow_of(repo)
        assert shadow.files(shadow.snapshot().tree) == ["a.py", "b.py"]

    def test_behind_a_link_nobody_tracks(self, repo, tmp_path):
        """A folder replaced by an ignored link takes its files out: they are not the project's."""
        shadow = shadow_of(repo)
        put(repo, ".gitignore", "sub\n")
        shadow.snapshot()
        put(tmp_path, "elsewhere/c.py", "c = 3\n")
        shutil.rmtree(repo / "sub")
        (repo / "sub").symlink_to(tmp_path / "elsewhere")
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == [".gitignore", "a.py", "b.py"]
        assert shadow.snapshot() == (taken.tree, [])

    def test_a_repository_that_ignores_us(self, repo):
        """A project in a folder that the repository around it ignores is recorded on its own."""
        put(repo, ".gitignore", "scratch/\n")
        put(repo, "scratch/deep/s.py", "s\n")
        shadow = shadow_of(repo / "scratch/deep")
        assert contents(shadow, shadow.snapshot().tree) == {"s.py": b"s\n"}

    def test_sha256_repositories(self, plain):
        """A repository with the other hash is recorded, borrowing nothing."""
        git(plain, "init", "-q", "--object-format=sha256")
        write(plain, a="1\n")
        git(plain, "add", "-A")
        git(plain, "commit", "-qm", "m")
        git(plain, "gc", "-q")
        shadow = shadow_of(plain)
        assert contents(shadow, shadow.snapshot().tree) == {"a.py": b"1\n"}
        assert shadow.base_commit() == git(plain, "rev-parse", "HEAD")

    def test_files_that_come_and_go(self, plain):
        """Files that vanish between listing and reading never make a snapshot fail."""
        done = threading.Event()

        def flicker() -> None:
            while not done.is_set():
                for number in range(40):
                    put(plain, f"t{number}.py", str(number))
                for number in range(40):
                    (plain / f"t{number}.py").unlink()

        write(plain, stays="s\n")
        flickering = threading.Thread(target=flicker)
        flickering.start()
        try:
            shadow = shadow_of(plain)
            trees = [shadow.snapshot(timeout=60).tree for _ in range(25)]
        finally:
            done.set()
            flickering.join()
        assert all("stays.py" in shadow.files(tree) for tree in trees)
        assert len(set(trees)) > 1
        assert shadow.files(shadow.snapshot().tree) == ["stays.py"]

"""Snapshots where something is in the way: locks, full disks, kills, two at once."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from shadows import EMPTY_TREE, contents, git, put, shadow_of, write

from zeroin.record import code
from zeroin.record.code import Change, CodeError, GitMissingError


class TestTrouble:
    def test_no_git(self, plain, monkeypatch):
        """Without a git to call the error says so."""
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(GitMissingError, match="not installed"):
            shadow_of(plain).snapshot()

    def test_moved_project(self, repo, tmp_path):
        """After the project moved, old snapshots are read from its new place and new ones work."""
        old = shadow_of(repo).snapshot().tree
        moved = tmp_path / "elsewhere: here"
        repo.rename(moved)
        shadow = shadow_of(moved)
        assert shadow.read(old, "a.py") == b"a = 1\n"
        assert shadow.snapshot().tree == old
        write(moved, a="a = 7\n")
        assert shadow.changes(old, shadow.snapshot().tree) == [Change("a.py", 1, 1, "M")]

    @pytest.mark.parametrize("then", ["nothing", "init"])
    def test_the_users_repository_is_gone(self, repo, then, tmp_path):
        """Borrowed code that is gone is a clear error; the next snapshot is whole again."""
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        write(repo, a="a = 8\n")
        shutil.rmtree(repo / ".git")
        if then == "init":
            git(repo, "init", "-q")
        with pytest.raises(CodeError, match="part of that code is gone"):
            shadow.read(old, "a.py")
        with pytest.raises(CodeError, match="part of that code is gone"):
            shadow.checkout(old, str(tmp_path / "out"))
        with pytest.raises(CodeError, match="part of that code is gone"):
            shadow.patch(old, EMPTY_TREE)
        new = shadow.snapshot().tree
        assert contents(shadow, new) == {
            "a.py": b"a = 8\n",
            "b.py": b"b = 1\n",
            "sub/c.py": b"c = 1\n",
        }

    def test_a_path_that_is_not_there(self, repo):
        """Asking for a file the snapshot hasn't got is an error that names it."""
        shadow = shadow_of(repo)
        tree = shadow.snapshot().tree
        with pytest.raises(CodeError, match=r"nope\.py"):
            shadow.read(tree, "nope.py")

    @pytest.mark.parametrize("index", [b"", b"DIRC garbage", None])
    def test_a_broken_index_of_the_user(self, repo, index):
        """An index that is empty, broken or missing is no reason to fail."""
        if index is None:
            (repo / ".git/index").unlink()
        else:
            (repo / ".git/index").write_bytes(index)
        shadow = shadow_of(repo)
        assert shadow.files(shadow.snapshot().tree) == ["a.py", "b.py", "sub/c.py"]

    def test_a_broken_index_of_ours(self, repo):
        """Our own index is a cache: broken, it is made anew."""
        shadow = shadow_of(repo)
        expected = shadow.snapshot()
        for path in Path(shadow.folder).glob("index.*[!.tree]"):
            info = path.stat()
            path.write_bytes(b"DIRC broken")
            os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert shadow.snapshot() == expected

    def test_locks_of_the_dead(self, repo):
        """Lock files that a killed git left, of the user's or ours, stop nothing."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        put(repo, ".git/index.lock")
        for name in os.listdir(shadow.folder):
            if name.startswith("index."):
                put(Path(shadow.folder), name + ".lock")
        write(repo, a="a = 4\n")
        assert shadow.read(shadow.snapshot().tree, "a.py") == b"a = 4\n"

    def test_many_at_once(self, repo):
        """Snapshots at the same time in one store all succeed with the right tree."""
        for number in range(200):
            put(repo, f"new/{number}.py", f"{number}\n")
        context = multiprocessing.get_context("fork")
        with context.Pool(8) as pool:
            trees = pool.map(_snapshot_of, [str(repo)] * 24)
        git(repo, "add", "-A", "--", ".", ":!.zeroin")
        assert set(trees) == {git(repo, "write-tree")}

    def test_kill_at_any_moment(self, repo):
        """After a kill -9 at any moment the next snapshot is right and leaves nothing behind."""
        for number in range(300):
            put(repo, f"new/{number}.py", f"{number}\n")
        for attempt in range(25):
            write(repo, a=f"a = {attempt} again\n")
            child = os.fork()
            if not child:
                os.setsid()
                with contextlib.suppress(BaseException):
                    shadow_of(repo).snapshot()
                os._exit(0)
            with contextlib.suppress(ChildProcessError, ProcessLookupError):
                time.sleep(attempt * 0.004)  # the moment, not a wait for anything
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                os.killpg(child, signal.SIGKILL)
            shadow = shadow_of(repo)
            tree = shadow.snapshot().tree
            assert shadow.read(tree, "a.py") == f"a = {attempt} again\n".encode()
            assert len(shadow.files(tree)) == 303

    def test_leftovers_go(self, repo, monkeypatch):
        """What a killed snapshot left is cleared away once it can't have an owner any more."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        put(Path(shadow.folder), "work.1.abc")
        shadow.gc()
        assert (Path(shadow.folder) / "work.1.abc").exists()
        monkeypatch.setattr(code.files, "_STALE", -1.0)
        shadow.gc()
        assert not (Path(shadow.folder) / "work.1.abc").exists()

    def test_full_disk(self, tmp_path):
        """A full disk is an error that says so, at once; when there is room all is well again."""
        script = put(tmp_path, "full.py", FULL_DISK)
        command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, str(script)]
        if subprocess.run([*command[:4], "true"], check=False, capture_output=True).returncode:
            pytest.skip("user namespaces are closed here")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [*command, str(tmp_path)], capture_output=True, text=True, check=False, env=env
        )
        assert done.stdout.splitlines()[-2:] == ["refused: True after 2", "then: 3"], done

    def test_a_store_that_cannot_be_written(self):
        """Not root: a store closed to us is an error, not a snapshot with everything left out."""
        with _unprivileged() as (root, call):
            write(root, a="a = 1\n", b="b = 1\n")

            def take() -> object:
                shadow = shadow_of(root)
                shadow.snapshot()
                write(root, a="a = 2\n", b="b = 2\n")
                for path in [*Path(shadow.folder, "objects").rglob("*")]:
                    path.chmod(path.stat().st_mode & ~0o222)
                Path(shadow.folder, "objects").chmod(0o555)
                try:
                    return str(shadow.snapshot())
                except CodeError as error:
                    return "permission for adding an object" in str(error)

            assert call(take) is True

    def test_unreadable_and_read_only(self):
        """Not root: an unreadable file is left out by name; a read-only repository is no hindrance."""
        with _unprivileged() as (root, call):
            git(root, "init", "-q")
            write(root, a="a = 1\n", b="b = 1\n", secret="s\n")
            put(root, "closed/in.py")
            put(root, "tracked.py")
            git(root, "add", "-A")
            git(root, "commit", "-qm", "m")
            (root / "secret.py").chmod(0)
            os.utime(root / "secret.py")
            (root / "closed").chmod(0)
            for path in (root / ".git").rglob("*"):
                path.chmod(path.stat().st_mode & ~0o222)

            def take() -> object:
                shadow = shadow_of(root)
                write(root, a="a = 2\n")
                taken = shadow.snapshot()
                return shadow.files(taken.tree), sorted(taken.left_out)

            files, left_out = call(take)
        assert files == ["a.py", "b.py", "tracked.py"]
        assert left_out == ["closed/in.py (Permission denied)", "secret.py (not readable)"]


FULL_DISK = """
import os, subprocess, sys
from zeroin.record.code import Shadow, CodeError
base = sys.argv[1] + "/disk"
root = sys.argv[1] + "/project"
os.makedirs(base), os.makedirs(root)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", base], check=True)
for name in "abc":
    with open(f"{root}/{name}", "wb") as file:
        file.write(os.urandom(400_000))
real, calls = subprocess.run, []
subprocess.run = lambda *args, **options: calls.append(args) or real(*args, **options)
try:
    Shadow(base, root).snapshot()
except (CodeError, OSError) as error:
    print("refused:", "No space left" in str(error), "after", len(calls))
subprocess.run(["mount", "-o", "remount,size=4m", base], check=True)
shadow = Shadow(base, root)
print("then:", len(shadow.files(shadow.snapshot().tree)))
"""


def _snapshot_of(root: str) -> str:
    return shadow_of(Path(root)).snapshot(timeout=60).tree


@contextlib.contextmanager
def _unprivileged():
    """Give a project folder and a way to call a function on it as a user who isn't root."""
    base = Path(tempfile.mkdtemp())
    root = base / "project"
    root.mkdir()

    def call(function):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                if os.getuid() == 0:
                    for found in [base, *base.rglob("*")]:
                        os.chown(found, 65534, 65534, follow_symlinks=False)
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                os.environ["HOME"] = str(base)
                os.write(writer, repr(function()).encode())
            except BaseException as error:
                os.write(writer, repr(f"{error!r}").encode())
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as said:
            answer = said.read()
        os.waitpid(child, 0)
        return eval(answer)

    try:
        yield root, call
    finally:
        for found in [base, *base.rglob("*")]:
            if found.is_dir():
                found.chmod(0o700)
        shutil.rmtree(base)

"""A snapshot leaves no trace in the user's own repository."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from shadows import contents, everything_in, git, put, shadow_of, write

from zeroin.record.code import Change, Shadow

SETUPS = {
    "plain": [],
    "split index": ["update-index --split-index"],
    "untracked cache": [
        "config core.untrackedCache true",
        "update-index --untracked-cache",
        "status",
    ],
    "fsmonitor": ["config core.fsmonitor .git/spy", "config core.fsmonitorHookVersion 2"],
    "hooks": ["config core.hooksPath .git"],
    "lfs": ["config filter.lfs.clean .git/spy", "config filter.lfs.process .git/spy"],
    "autocrlf": ["config core.autocrlf true"],
    "index v4": ["update-index --index-version 4"],
    "packed": ["gc -q"],
    "external diff": ["config diff.external .git/spy", "config core.pager .git/spy"],
}


class TestTheUsersRepository:
    @pytest.mark.parametrize("setup", SETUPS)
    def test_stays_as_it_was(self, repo, setup, tmp_path):
        """No byte, mode or time in .git changes, and nothing configured there is run."""
        put(repo, ".gitattributes", "*.bin filter=lfs\n")
        git(repo, "add", "-A")
        for command in SETUPS[setup]:
            git(repo, *command.split())
        spy = f"#!/bin/sh\ntouch {tmp_path}/ran\n"
        for name in ("spy", "post-index-change", "reference-transaction", "pre-auto-gc"):
            put(repo, f".git/{name}", spy).chmod(0o755)
        (tmp_path / "ran").unlink(missing_ok=True)
        before = everything_in(repo / ".git")
        shadow = shadow_of(repo)
        first = shadow.snapshot().tree
        os.utime(repo / "a.py")  # known content: git would freshen the object it finds
        write(repo, b="new\n")
        put(repo, "m.bin", "bin\n")
        second = shadow.snapshot().tree
        put(repo, "sub/c.py", "c = 2\n")
        put(repo, "sub/c.py", "c = 1\n")
        shadow.snapshot()
        shadow.keep("1", first)
        assert [c.path for c in shadow.changes(first, second)] == ["b.py", "m.bin"]
        shadow.patch(first, second, binary=True)
        shadow.checkout(second, str(tmp_path / "out"))
        shadow.ignored()
        shadow.base_commit()
        shadow.gc()
        assert everything_in(repo / ".git") == before
        assert not (tmp_path / "ran").exists()

    def test_the_shells_git_variables_are_not_heard(self, repo, tmp_path, monkeypatch):
        """GIT_DIR, GIT_INDEX_FILE and the like of a hook's environment lead nowhere else."""
        expected = shadow_of(repo).snapshot().tree
        decoy = tmp_path / "decoy"
        decoy.mkdir()
        git(decoy, "init", "-q")
        for name in ("DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "COMMON_DIR"):
            monkeypatch.setenv(f"GIT_{name}", str(decoy / ".git"))
        before = everything_in(decoy)
        shadow = Shadow(str(tmp_path / "store"), str(repo))
        assert shadow.snapshot().tree == expected
        assert shadow.base_commit() == git(repo, "rev-parse", "HEAD")
        assert everything_in(decoy) == before

    def test_a_folder_inside_it(self, repo):
        """A root below the top of the repository: its own files alone, the rules from above."""
        put(repo, ".gitignore", "*.log\n/sub/private\n")
        put(repo, "sub/x.log")
        put(repo, "sub/private")
        put(repo, "sub/new.py", "n\n")
        before = everything_in(repo / ".git")
        shadow = shadow_of(repo / "sub")
        one = shadow.snapshot()
        assert contents(shadow, one.tree) == {"c.py": b"c = 1\n", "new.py": b"n\n"}
        put(repo, "sub/c.py", "c = 2\n")
        write(repo, a="not ours\n")
        changes = shadow.changes(one.tree, shadow.snapshot().tree)
        assert changes == [Change("c.py", 1, 1, "M")]
        assert set(shadow.ignored()) == {"private", "x.log", ".zeroin/"}
        assert everything_in(repo / ".git") == before

    def test_a_linked_worktree(self, repo, tmp_path):
        """In a linked worktree the common objects are borrowed and its own index is used."""
        git(repo, "branch", "other")
        git(repo, "worktree", "add", "-q", str(tmp_path / "wt"), "other")
        write(tmp_path / "wt", a="a = 9\n")
        before = everything_in(repo / ".git")
        shadow = shadow_of(tmp_path / "wt")
        taken = shadow.snapshot()
        found = contents(shadow, taken.tree)
        assert found == {"a.py": b"a = 9\n", "b.py": b"b = 1\n", "sub/c.py": b"c = 1\n"}
        blob = git(repo, "rev-parse", "HEAD:b.py")
        assert not (Path(shadow.folder) / "objects" / blob[:2] / blob[2:]).exists()
        assert everything_in(repo / ".git") == before

    def test_one_git_call_when_nothing_changed(self, repo, tmp_path, monkeypatch):
        """Nothing changed: one call of git; one file changed: three."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        real = shutil.which("git")
        put(
            tmp_path, "bin/git", f'#!/bin/sh\necho x >> {tmp_path}/calls\nexec {real} "$@"\n'
        ).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
        shadow_of(repo).snapshot()
        assert (tmp_path / "calls").read_text().count("x") == 1
        write(repo, a="a = 5\n")
        shadow_of(repo).snapshot()
        assert (tmp_path / "calls").read_text().count("x") == 4

    def test_a_split_index(self, repo):
        """Both halves of a split index are used, and the user's half is not needed afterwards."""
        git(repo, "update-index", "--split-index")
        assert list((repo / ".git").glob("sharedindex.*"))
        shadow = shadow_of(repo)
        expected = shadow.snapshot()
        blob = git(repo, "rev-parse", "HEAD:a.py")
        assert not (Path(shadow.folder) / "objects" / blob[:2] / blob[2:]).exists()
        for half in Path(shadow.folder).glob("sharedindex.*"):
            half.unlink()
        for index in Path(shadow.folder).glob("index.*[!.tree]"):
            assert b"sharedindex" not in index.read_bytes()
            assert b"link\0" not in index.read_bytes()
        assert shadow.snapshot() == expected

    def test_base_commit(self, repo, tmp_path):
        """The commit checked out: on a branch, detached, packed; None before one or without git."""
        shadow = shadow_of(repo)
        head = git(repo, "rev-parse", "HEAD")
        assert shadow.base_commit() == head
        git(repo, "pack-refs", "--all")
        assert shadow.base_commit() == head
        git(repo, "checkout", "-q", "--detach")
        assert shadow_of(repo / "sub").base_commit() == head
        bare = tmp_path / "none"
        bare.mkdir()
        assert shadow_of(bare).base_commit() is None
        git(bare, "init", "-q")
        assert shadow_of(bare).base_commit() is None

    def test_ignored(self, repo):
        """Ignored entries are named once, folders as a whole, also next to tracked files."""
        put(repo, ".gitignore", "data/\n*.log\n")
        put(repo, "data/x/y.bin")
        put(repo, "sub/c.log")
        put(repo, ".venv/lib/x.py")
        assert set(shadow_of(repo).ignored()) == {"data/", "sub/c.log", ".venv/", ".zeroin/"}

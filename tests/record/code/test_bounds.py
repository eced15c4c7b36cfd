"""What is too big or too much for a snapshot is left out, and said."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest
from shadows import git, put, shadow_of, write

from zeroin.record import code
from zeroin.record.code import TookTooLongError


class TestBounds:
    def test_large_files(self, repo):
        """A file over the bound is left out with its size, and back when it is small again."""
        shadow = shadow_of(repo, max_file=1_000)
        write(repo, a="a" * 2_100)
        put(repo, "data/big.bin", b"b" * 210_000)
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == ["b.py", "sub/c.py"]
        assert sorted(taken.left_out) == [
            "a.py (2 KB: over 1 KB)",
            "data/big.bin (210 KB: over 1 KB)",
        ]
        assert shadow.snapshot() == taken
        write(repo, a="a = 3\n")
        assert shadow.read(shadow.snapshot().tree, "a.py") == b"a = 3\n"

    def test_large_files_of_the_user_cost_nothing(self, repo):
        """A large file that the user's git has unchanged stays in: it is borrowed, not copied."""
        put(repo, "big.bin", os.urandom(300_000))
        git(repo, "add", "-A")
        shadow = shadow_of(repo, max_file=1_000)
        taken = shadow.snapshot()
        assert "big.bin" in shadow.files(taken.tree)
        assert shadow.read(taken.tree, "big.bin") == (repo / "big.bin").read_bytes()
        kept = sum(p.stat().st_size for p in Path(shadow.folder).rglob("*") if p.is_file())
        assert kept < 50_000

    def test_too_many_files(self, repo):
        """Too many files of one kind are left out together, always; scripts still get in."""
        for number in range(300):
            put(repo, f"images/{number}.txt")
        put(repo, "images/labels.py")
        put(repo, "x/y.py")
        shadow = shadow_of(repo, max_files=50)
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == [
            "a.py",
            "b.py",
            "images/labels.py",
            "sub/c.py",
            "x/y.py",
        ]
        assert taken.left_out == ["images/*.txt (300 files: over 50 in all)"]
        assert shadow.snapshot() == taken
        write(repo, script="s\n")
        assert "script.py" in shadow.files(shadow.snapshot().tree)

    def test_files_that_pile_up(self, plain):
        """The bound is on all untracked files, not on those of one snapshot."""
        shadow = shadow_of(plain, max_files=50)
        for batch in range(5):
            for number in range(20):
                put(plain, f"out{batch}/{number}.txt")
            taken = shadow.snapshot()
        assert len(shadow.files(taken.tree)) == 40
        assert len(taken.left_out) == 3

    def test_too_many_bytes(self, plain):
        """Over the bound for all bytes the largest files are left out, the same ones each time."""
        for number in range(1, 9):
            put(plain, f"{number}.txt", b"x" * 100 * number)
        shadow = shadow_of(plain, max_total=1_000)
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == ["1.txt", "2.txt", "3.txt", "4.txt"]
        assert taken.left_out[0] == "5.txt (500 B: over 1 KB in all)"
        assert shadow.snapshot() == taken

    @pytest.mark.slow
    def test_a_hundred_thousand_files(self, plain):
        """100,000 untracked files in many folders are bounded within the time-out."""
        for folder in range(100):
            (plain / f"d{folder}").mkdir()
            for number in range(1_000):
                os.close(os.open(plain / f"d{folder}/{number}", os.O_CREAT | os.O_WRONLY))
        write(plain, code="c\n")
        shadow = shadow_of(plain)
        taken = shadow.snapshot(timeout=60)
        found = shadow.files(taken.tree)
        assert "code.py" in found
        assert len(found) <= 20_000
        assert len(taken.left_out) == 81

    def test_time_out(self, plain):
        """A snapshot ends at its time-out, and the next one goes on where it stopped."""
        for number in range(3 * code.taking._CHUNK):
            put(plain, f"{number % 50}/{number}.py", f"{number}\n")
        shadow = shadow_of(plain)
        started, tries, tree, timeout = time.monotonic(), 0, "", 0.15
        with pytest.raises(TookTooLongError, match="in time"):
            shadow.snapshot(timeout=0.02)
        assert time.monotonic() - started < 2
        while not tree:
            tries += 1
            with contextlib.suppress(TookTooLongError):
                tree = shadow.snapshot(timeout=timeout).tree
            timeout *= 1.3
        assert len(shadow.files(tree)) == 3 * code.taking._CHUNK
        assert not [name for name in os.listdir(shadow.folder) if name.startswith("work.")]

    def test_progress_survives_a_time_out(self, plain, monkeypatch):
        """The files hashed before the time was up are in the index that the next one starts from."""
        for number in range(30):
            write(plain, **{f"m{number}": f"{number}\n"})
        monkeypatch.setattr(code.taking, "_CHUNK", 10)
        real, calls = code.taking.Taking._add, []

        def stop_at_third(self, paths):
            calls.append(paths)
            if len(calls) == 3:
                self.deadline = 0.0
            real(self, paths)

        monkeypatch.setattr(code.taking.Taking, "_add", stop_at_third)
        with pytest.raises(TookTooLongError):
            shadow_of(plain).snapshot()
        taken = shadow_of(plain).snapshot()
        assert sum(len(paths) for paths in calls[3:]) == 10
        assert len(shadow_of(plain).files(taken.tree)) == 30

    def test_a_time_out_leaves_no_false_tree(self, repo, monkeypatch):
        """Cut short after the index was changed, a snapshot does not pass the old tree off as new."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        write(repo, a="a = 2\n")
        real = code.taking.Taking._write_tree
        monkeypatch.setattr(
            code.taking.Taking,
            "_write_tree",
            lambda self: setattr(self, "deadline", 0) or real(self),
        )
        with pytest.raises(TookTooLongError):
            shadow.snapshot()
        monkeypatch.undo()
        assert shadow.read(shadow.snapshot().tree, "a.py") == b"a = 2\n"

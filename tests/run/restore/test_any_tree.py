"""`--restore PATH` on random trees, and killed at any moment."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest
from trees import OLD, put, random_trees, state, without_privileges

from zeroin.run.restore import (
    put_back,
    save,
)

if TYPE_CHECKING:
    from pathlib import Path


class TestAnyTree:
    @pytest.mark.slow
    def test_random_trees(self):
        """Random trees and random mutations: what comes back is exactly the first state."""
        random_trees()

    @pytest.mark.slow
    def test_random_trees_without_privileges(self):
        """The same for a user whom modes can lock out of his own folders."""
        assert without_privileges(lambda _: random_trees()) == "None"


STEPS = "open unlink mkdir link symlink fchmod utime copy_file_range replace rename rmdir ftruncate"


def killed_at(step: int, function, *args: str) -> bool:
    """Call a function in a child that is killed by SIGKILL before its n-th step; say if it was."""
    child = os.fork()
    if not child:
        left = [step]

        def fatal(real):
            def call(*args, **options):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **options)

            return call

        for name in STEPS.split():
            setattr(os, name, fatal(getattr(os, name)))
        with contextlib.suppress(BaseException):
            function(*args)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def spoil(tree: Path) -> None:
    """Change a bit of everything."""
    (tree / "a.txt").write_text("longer than before")
    (tree / "one").write_text("TWIN")
    (tree / "ro").chmod(0o755)
    (tree / "ro/c.txt").unlink()
    shutil.rmtree(tree / "deep/er", ignore_errors=True)
    put(tree / "junk/x")
    (tree / "link").unlink(missing_ok=True)
    (tree / "link").mkdir()


class TestKills:
    def test_put_back_killed_at_every_step(self, tree, baseline):
        """Killed -9 before any of its steps, the next call makes everything right."""
        before = state(tree)
        save(str(tree), baseline)
        for step in range(1_000):
            spoil(tree)
            if not killed_at(step, put_back, str(tree), baseline):
                break
            put_back(str(tree), baseline)
            assert state(tree) == before, step
        assert 30 < step < 1_000

    def test_save_killed_at_every_step(self, tree, baseline):
        """Killed -9 before any of its steps, a save leaves all or nothing, and no litter for long."""
        before = state(tree)
        for step in range(1_000):
            killed = killed_at(step, save, str(tree), baseline)
            if os.path.exists(baseline):
                spoil(tree)
                put_back(str(tree), baseline)
                assert state(tree) == before
                shutil.rmtree(baseline)
            if not killed:
                break
        assert 20 < step < 1_000
        save(str(tree), baseline)
        assert os.listdir(os.path.dirname(baseline)) == ["key"]

    @pytest.mark.slow
    def test_put_back_killed_at_random_moments(self, tree, baseline):
        """The same with kills from outside at random moments, twice in a row, in a larger tree."""
        for number in range(150):
            put(tree / f"many/{number}", os.urandom(2_000))
        os.utime(tree / "many", ns=(OLD, OLD))
        os.utime(tree, ns=(OLD, OLD))
        before, chance = state(tree), random.Random(7)
        save(str(tree), baseline)
        for _ in range(60):
            spoil(tree)
            for number in range(0, 150, 3):
                (tree / f"many/{number}").unlink(missing_ok=True)
            for _ in range(2):
                child = os.fork()
                if not child:
                    with contextlib.suppress(BaseException):
                        put_back(str(tree), baseline)
                    os._exit(0)
                time.sleep(chance.random() * 0.03)  # the moment, not a wait for anything
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            put_back(str(tree), baseline)
            assert state(tree) == before

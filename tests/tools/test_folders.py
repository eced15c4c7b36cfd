"""Folders of ours in the temporary folder: they go with us, and never while somebody is at work."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zeroin.tools.folders import OwnFolder

MAKE = """
import os, sys
from zeroin.tools.folders import OwnFolder
if sys.argv[2:]:
    os.getpid = lambda: int(sys.argv[2])
made = OwnFolder("x-", sys.argv[1])
if sys.argv[3:] and not os.fork():
    os.read(int(sys.argv[3]), 1)  # a worker, which ends later
    os._exit(0)
print(made.path, made._guard.pid, flush=True)
sys.stdin.read()
"""
NOBODY = str(1 << 22)  # one more than the kernel ever gives


@pytest.fixture
def made():
    """Make a folder, and close it in the end."""
    with contextlib.ExitStack() as left:

        def make(base):
            one = OwnFolder("x-", str(base))
            left.callback(one.close)
            return Path(one.path)

        yield make


def _owner(*words, **more):
    """A process that makes a folder, its path, and the end of its guard."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    owner = subprocess.Popen([sys.executable, "-c", MAKE, *words], text=True, **pipes, **more)
    path, guard = owner.stdout.readline().split()
    return owner, Path(path), int(guard)


def test_it_goes_when_its_owner_is_killed(tmp_path: Path) -> None:
    """At once, and nobody has to come by."""
    owner, path, guard = _owner(str(tmp_path))
    (path / "below").mkdir()
    end = os.pidfd_open(guard)
    with owner:
        owner.kill()
    assert select.select([end], [], [], 20)[0]
    os.close(end)
    assert list(tmp_path.iterdir()) == []


def test_it_stays_until_the_workers_have_ended(tmp_path: Path) -> None:
    """They may write into it; the last one that ends leaves nothing."""
    waits, tell = os.pipe()
    owner, path, guard = _owner(str(tmp_path), str(os.getpid()), str(waits), pass_fds=[waits])
    end = os.pidfd_open(guard)
    with owner:
        owner.kill()
    os.close(waits)
    assert not select.select([end], [], [], 0.3)[0]
    assert path.exists()
    os.write(tell, b".")
    os.close(tell)
    assert select.select([end], [], [], 20)[0]
    os.close(end)
    assert not path.exists()


def test_what_a_killed_guard_left_goes(tmp_path: Path, made) -> None:
    """With the next one that is made."""
    owner, path, guard = _owner(str(tmp_path))
    end = os.pidfd_open(guard)
    with owner:
        os.kill(guard, signal.SIGKILL)
        owner.kill()
    assert select.select([end], [], [], 20)[0]  # until then it may hold the folder
    os.close(end)
    assert path.exists()
    mine = made(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]


def test_an_owner_that_can_not_be_seen_keeps_it(tmp_path: Path, made) -> None:
    """In another container its process has a number that is nobody's here."""
    owner, kept, guard = _owner(str(tmp_path), NOBODY)
    with owner:
        made(tmp_path)
        assert kept.exists()
        os.kill(guard, signal.SIGKILL)
        owner.kill()
    made(tmp_path)
    assert not kept.exists()

"""A tree that is looked at often is walked only when a process was made."""

import os
import subprocess
import sys
import time

import pytest

from zeroin.run import glance, tree

# Makes a child at each line it is given; the child holds as many megabytes.
PARENT = """
import os, sys
for line in sys.stdin:
    if not os.fork():
        held = bytes(int(line) * 1_000_000).replace(b"\\0", b"x")
        print(os.getpid(), flush=True)
        sys.stdin.close()
        os.read(int(sys.argv[1]), 1)
        os._exit(0)
"""


@pytest.fixture
def parent():
    """A process that makes children when it is told to, until all are to end."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(reading)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=[reading],
    )
    os.close(reading)

    def make(megabytes):
        process.stdin.write(f"{megabytes}\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield make, process
    os.close(writing)
    process.communicate()


def settle(eye):
    """Look until the tree need not be walked any more."""
    end = time.monotonic() + 4 * glance.SETTLED
    while time.monotonic() < end:
        eye.members()
        time.sleep(0.002)


def test_children_are_seen_as_soon_as_they_are_there(parent):
    """Also after a long time in which nobody came."""
    make, process = parent
    eye = glance.Glance(process.pid)
    assert eye.members() == []
    made = []
    for _ in range(5):
        settle(eye)
        made.append(make(1))
        assert sorted(eye.members()) == sorted(made)


def test_memory_is_what_the_process_has(parent):
    """As much as a plain look tells, each time, and nothing once it has ended."""
    make, process = parent
    eye = glance.Glance(process.pid)
    child = make(30)
    eye.members()
    assert eye.memory(child) == tree.memory(child) > 30_000_000
    os.kill(child, 9)
    while not tree.is_zombie(child):
        pass
    assert eye.memory(child) == 0
    assert eye.memory(process.pid) == tree.memory(process.pid)


def test_the_tree_is_walked_only_when_a_process_was_made(parent):
    """Nothing but one small file is read otherwise; where it tells nothing, each look walks."""
    _, process = parent
    walks = []

    def walk(pid):
        walks.append(pid)
        return tree.descendants(pid)

    eye = glance.Glance(process.pid, walk)
    eye._last_given_out = lambda: b"4711"
    settle(eye)
    before = len(walks)
    for _ in range(100):
        eye.members()
    assert len(walks) == before
    eye._last_given_out = lambda: b""
    for _ in range(3):
        eye.members()
    assert len(walks) == before + 3

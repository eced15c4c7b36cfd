"""Folders of ours in the temporary folder: they go with us, and never while somebody is at work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from zeroin.tools.folders import own_folder

MAKE = """
import os, sys
from zeroin.tools.folders import own_folder
if sys.argv[2:]:
    os.getpid = lambda: int(sys.argv[2])
print(own_folder("x-", sys.argv[1]), flush=True)
sys.stdin.read()
"""
NOBODY = str(1 << 22)  # one more than the kernel ever gives


def test_what_a_killed_owner_left_goes(tmp_path: Path) -> None:
    """With the next one that is made."""
    words = [sys.executable, "-c", MAKE, str(tmp_path)]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert list(tmp_path.iterdir()) == [Path(done.stdout.strip())]
    mine = own_folder("x-", str(tmp_path))
    assert list(tmp_path.iterdir()) == [Path(mine)]


def test_an_owner_that_can_not_be_seen_keeps_it(tmp_path: Path) -> None:
    """In another container its process has a number that is nobody's here."""
    words = [sys.executable, "-c", MAKE, str(tmp_path), NOBODY]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as owner:
        kept = Path(owner.stdout.readline().strip())
        own_folder("x-", str(tmp_path))
        assert kept.exists()
        owner.kill()
    own_folder("x-", str(tmp_path))
    assert not kept.exists()

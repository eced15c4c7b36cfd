"""A folder with a bit of everything."""

from __future__ import annotations

import os

import pytest
from trees import OLD, put


@pytest.fixture
def tree(tmp_path):
    """Make a folder with a bit of everything."""
    root = tmp_path / "data"
    put(root / "a.txt", "alpha")
    put(root / "b.sh", "beta", 0o755)
    put(root / "ro" / "c.txt", "gamma", 0o444)
    put(root / "deep/er/d.bin", os.urandom(3_000))
    (root / "empty").mkdir()
    (root / "link").symlink_to("a.txt")
    (root / "dangling").symlink_to("nothing")
    put(root / "one", "twin")
    os.link(root / "one", root / "deep/two")
    (root / "ro").chmod(0o555)
    for folder in ("deep/er", "deep", "ro", "empty", "."):
        os.utime(root / folder, ns=(OLD, OLD))
    return root


@pytest.fixture
def baseline(tmp_path):
    return str(tmp_path / "store" / "restore" / "key")


@pytest.fixture
def outside(tmp_path):
    """Make a folder that no putting back may touch."""
    put(tmp_path / "outside" / "precious", "precious")
    return tmp_path / "outside"

"""Projects with git and without."""

from __future__ import annotations

import pytest
from shadows import git, put


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def plain(tmp_path):
    """Make a project without git."""
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def repo(plain):
    """Make a project with git: one commit of a.py, b.py and sub/c.py, older than this second."""
    git(plain, "init", "-q", "-b", "main")
    put(plain, "a.py", "a = 1\n", old=True)
    put(plain, "b.py", "b = 1\n", old=True)
    put(plain, "sub/c.py", "c = 1\n", old=True)
    git(plain, "add", "-A")
    git(plain, "commit", "-q", "-m", "first")
    return plain

"""A stranger's repository: whatever verb visits its clone, nothing around it is touched."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import attacks
import support
from zeroin.fronts.cli import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Visit = Callable[..., subprocess.CompletedProcess[str]]

TRAIN = ("--", "python3", "train.py")
FAILS = ("--", "python3", "fails.py", "data.txt")
VISITS = [
    ("run", "--", "true"),
    ("run", *TRAIN),
    ("run", "--log", "--restore", "data.txt", *FAILS),
    ("limit", "files=64", *TRAIN),
    ("loop", "--once", *TRAIN),
    ("log",),
    ("log", "--json"),
    ("show",),
    ("show", "2", "--json"),
    ("show", "--oneliner", "2"),
    ("diff", "1", "2"),
    ("again", "2"),
    ("again", "2", "--code"),
    ("why",),
    ("files", *TRAIN),
    ("stacks", *TRAIN),
    ("watch", "--once", "attempt"),
    ("which", "train.py"),
    ("shapes", "train.py"),
    ("nan", *TRAIN),
    ("leak", "--repeat", "2", "--quick", *TRAIN),
    ("shrink", "data.txt", *FAILS),
    ("bisect", "commits", "HEAD~1", "HEAD", *TRAIN),
    ("bisect", "attempts", "1", "2"),
    ("tiny", "data", "data.txt", "-n", "3"),
    ("fake", "id:int"),
    ("gc", "--to", "1k"),
    ("doctor",),
    ("completion", "bash"),
    ("trust",),
    ("run", "--", "true"),
    ("log", "--json"),
    ("gc",),
]


def test_every_verb_visits() -> None:
    """No verb is left out, also none that comes later."""
    assert {visit[0] for visit in VISITS} == set(VERBS)


@pytest.mark.limit(600)
def test_a_clone_harms_nobody(tmp_path: Path, zeroin: support.Zeroin) -> None:
    """As whoever runs the tests, which is root in a container."""
    victim = attacks.clone_attacks(tmp_path / "victim", zeroin.env)
    homes = [tmp_path / "home"]
    _visit(victim, lambda *args: zeroin(*args, cwd=victim.clone, timeout=120), homes)


@pytest.mark.limit(600)
def test_a_clone_harms_no_plain_user(plain: support.PlainUser, zeroin: support.Zeroin) -> None:
    """As a user who may only change what is his own."""
    victim = attacks.clone_attacks(plain.base / "victim", zeroin.env)
    plain.project = victim.clone
    for path in (plain.base, *plain.base.rglob("*")):
        if os.geteuid() == 0:
            os.chown(path, support.NOBODY, support.NOBODY, follow_symlinks=False)
    _visit(victim, plain, [plain.base / ".local", plain.base / ".cache"])


def _visit(victim: attacks.Victim, visit: Visit, homes: list[Path]) -> None:
    """Call each verb in the clone, and look at everything else after each of them."""
    before, notes = victim.state(), []
    inside = _tracked(victim)
    for args in VISITS:
        done = visit(*args)
        assert victim.state() == before, args
        # The Python that a plain user may run has only the standard library.
        assert done.returncode != 3 or "No module named" in done.stderr, done.stderr
        notes += [line for line in done.stderr.splitlines() if "came with the repository" in line]
    assert _tracked(victim) == inside
    assert len(notes) > 10  # each that opens the record says where it is
    # The program's own output may have it, if it follows a link of its own.
    assert attacks.PRIVATE.encode() not in attacks.texts_below(*homes)


def _tracked(victim: attacks.Victim) -> dict[str, bytes]:
    """What came with the clone, and stays as it was."""
    paths = [path for path in (victim.clone / ".zeroin").rglob("*") if not path.is_symlink()]
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def test_the_attacks_are_attacks(tmp_path: Path, zeroin: support.Zeroin) -> None:
    """The clone's settings of git do run commands, for whoever believes them."""
    victim = attacks.clone_attacks(tmp_path / "victim", zeroin.env)
    args = ["--git-dir", str(victim.clone / ".zeroin/code.git"), "cat-file", "-e", attacks.MISSING]
    subprocess.run(["git", *args], env=zeroin.env, check=False, capture_output=True)
    assert (victim.traces / "executed-uploadpack").exists()

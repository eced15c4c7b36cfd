"""A run says what it left out, and where its time went."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import left_out
import run_size
import support

VICTIM = """
import pytest
from left_out import heavy, some_rows

@heavy("torch")
def test_heavy(): pass

@pytest.mark.parametrize("version", ["3.9", "3.11", "3.12", "3.13"])
def test_versions(version): pass

@pytest.mark.parametrize("row", some_rows("abcd", "the alphabet"))
def test_rows(row): pass

def test_plain(): pass
"""


def run_victim(folder, text, *options, **env):
    """Run a test file of its own under our conftest; there are four Pythons, and no libraries."""
    (folder / "test_victim.py").write_text(text)
    pythons = dict.fromkeys(["3.9", "3.11", "3.12", "3.13"], sys.executable)
    found = {
        "CI": "false",
        "PYTHONPATH": str(support.ROOT / "tests"),
        "ZEROIN_TEST_ACCEPTANCE": "",
        "ZEROIN_TEST_FULL": "",
        "ZEROIN_TEST_FOUND_LIBS": json.dumps("none"),
        "ZEROIN_TEST_FOUND_PYTHONS": json.dumps(pythons),
    }
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "conftest", "-v", *options]
    return subprocess.run(
        [*command, folder],
        cwd=folder,
        env={**os.environ, **found, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_left_out_is_named(tmp_path, workers):
    """The reasons, how many tests each, and the command that runs them; with and without xdist."""
    own = f"3.{sys.version_info[1]}"
    done = run_victim(tmp_path, VICTIM, "-n", workers)
    others = [v for v in ("3.11", "3.12") if v != own]
    lines = done.stdout.splitlines()
    assert f"left out of this run: {3 + len(others)} tests, run by: make test FULL=1" in lines
    assert "      1 with torch" in lines
    assert "      2 more rows of the alphabet" in lines
    assert all(f"      1 on Python {version}" in lines for version in others)
    assert f"{7 - len(others)} passed" in done.stdout
    assert "make test ACCEPTANCE=1" in done.stdout


@pytest.mark.parametrize("variable", ["ZEROIN_TEST_FULL", "ZEROIN_TEST_ACCEPTANCE"])
def test_a_full_run_leaves_nothing_out(tmp_path, variable):
    """All tests run; only the whole acceptance is named, unless it was asked for, too."""
    done = run_victim(tmp_path, VICTIM, **{variable: "1"})
    assert "10 passed" in done.stdout
    assert "FULL=1" not in done.stdout
    assert ("ACCEPTANCE=1" in done.stdout) == (variable == "ZEROIN_TEST_FULL")


def test_what_a_full_run_installs_is_marked():
    """Each heavy library of the list is one that tests can be marked with."""
    lines = (support.ROOT / "scripts" / "heavy-libs.txt").read_text().splitlines()
    names = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert {name.removesuffix("-python-headless") for name in names} == left_out.HEAVY


def test_the_versions_of_a_run(monkeypatch):
    """A full run takes all interpreters, another one the oldest, our own and the newest."""
    own = f"3.{sys.version_info[1]}"
    found = sorted({"3.9", "3.10", "3.12", own, "3.13"}, key=support.as_numbers)
    monkeypatch.setattr(support, "interpreters", lambda: dict.fromkeys(found, ""))
    monkeypatch.setattr(run_size, "FULL", True)
    assert support.chosen_versions() == found
    monkeypatch.setattr(run_size, "FULL", False)
    assert set(support.chosen_versions()) == {"3.9", own, "3.13"}


TIMES = """
import subprocess, sys

def test_program():
    code = "import time\\nwhile time.process_time() < 0.6: pass"
    subprocess.run([sys.executable, "-c", code], check=True)

def test_waiting():
    subprocess.run(["sleep", "3"], check=True)

def test_itself():
    import time
    until = time.process_time() + 0.5
    while time.process_time() < until: pass

def test_without_a_mark():
    code = "import time\\nwhile time.process_time() < 0.6: pass"
    subprocess.run(["sh", "-c", "exec \\"$@\\"", "sh", sys.executable, "-c", code], env={})
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_where_time_goes(tmp_path, workers):
    """A program that computes, one that waits, the test itself: each is told apart."""
    times = tmp_path / "times.json"
    options = ("--where-time-goes", "-n", workers)
    done = run_victim(tmp_path, TIMES, *options, ZEROIN_TEST_TIMES=str(times))
    assert done.returncode == 0, done.stdout
    told = {
        node.partition("::")[2]: causes for node, causes in json.loads(times.read_text()).items()
    }
    assert {name: max(causes, key=causes.get) for name, causes in told.items()} == {
        "test_program": "programs",
        "test_waiting": "waiting",
        "test_itself": "test",
        "test_without_a_mark": "programs",
    }
    assert "test_victim.py" in done.stdout.partition("where the time goes")[2]

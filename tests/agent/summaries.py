"""Running the victims of the summariser's tests, and what every call of it must keep to."""

from __future__ import annotations

import functools
import json
import subprocess

from support import ROOT

PROGRAMS = ROOT / "tests" / "programs"
AGENT = ROOT / "src" / "zeroin" / "agent"
MEMORY = 20  # MB that a call may take, in the process itself
LIMIT = 4  # seconds, when up to two are given: the machine may be busy


@functools.cache
def run(python: str, program: str, *args: str) -> dict:
    """Run a victim once for all tests; it prints only its results, whatever its objects do."""
    # From 3.12 on, Python warns of forks in programs with threads: nobody must see that.
    warn = "always::DeprecationWarning"
    command = [python, "-W", warn, PROGRAMS / f"{program}.py", *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def texts(answer: dict) -> dict[str, str]:
    """What was told of each value that was told alone."""
    results = answer["results"]
    return {name: one["told"][0] for name, one in results.items() if len(one["told"]) == 1}


def assert_cheap(answer: dict) -> None:
    """Each call was quick and small."""
    for name, one in answer["results"].items():
        assert one["seconds"] < LIMIT, name
        assert one["grown"] < MEMORY, name

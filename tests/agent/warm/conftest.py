"""Runs a program, freezes it half-way, and lets it go on again, without the rest of the engine."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import IO

AGENT = ROOT / "src" / "zeroin" / "agent"

# Loads the agent the way `boot` does. `snapshot()` returns "first" in the program as it runs on,
# and "again" in the one that is made from the snapshot once the test says so.
HARNESS = """
import os, sys
package = type(sys)("_zeroin_agent")
package.__path__ = [os.environ["WARM_AGENT"]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.fork import carry, gate

carry.begin()
order, out, err, told, ready = map(int, os.environ["WARM_LINES"].split())


def tell(text):
    os.write(told, text.encode() + b"\\n")


def snapshot():
    print("---", flush=True)
    why = gate.check()
    if why is not None:
        tell("gate: " + why)
        return "first"
    state = carry.capture()
    pid = 0 if state.reason else os.fork()
    if pid or state.reason:
        gate.our_children.add(pid)
        carry.settle(state)
        if state.reason:
            tell("reason: " + state.reason)
        return "first"
    carry.freeze(state)
    with open("snapshot.pid", "w") as file:
        file.write(str(os.getpid()))
    os.write(ready, b"x")
    while os.read(order, 1):
        runner = os.fork()
        if not runner:
            why = carry.thaw(state, out, err)
            if why is None:
                return "again"
            tell("thaw: " + why)
            os._exit(0)
        tell("exit: %d" % os.waitstatus_to_exitcode(os.waitpid(runner, 0)[1]))
    os._exit(0)
"""


@dataclass
class Ran:
    """What one run of the program printed, and how it ended."""

    out: str
    err: str
    code: int | None


@dataclass
class Story:
    """The first run, the one that was resumed, and what the snapshot said."""

    first: Ran
    again: Ran
    told: list[str]

    @property
    def rest(self) -> str:
        """What the first run printed after the snapshot."""
        return self.first.out.partition("---\n")[2]

    def goes_on(self) -> bool:
        """Whether the resumed program did what the first one did after the snapshot."""
        return self.told == ["exit: 0"] and (self.again.out, self.again.err) == (self.rest, "")


@pytest.fixture
def freeze(tmp_path: Path) -> Callable[..., Story]:
    """Run a program to its end, do something meanwhile, then resume it from its snapshot."""

    def run(
        python: str,
        program: str,
        *,
        between: Callable[[], object] = int,
        times: int = 1,
        stdin: Path | str | int = os.devnull,
    ) -> Story:
        with open(stdin) as given:
            return _run(tmp_path, python, program, between, times, given)

    return run


def _run(
    folder: Path,
    python: str,
    program: str,
    between: Callable[[], object],
    times: int,
    stdin: IO[str],
) -> Story:
    (folder / "harness.py").write_text(HARNESS)
    (folder / "program.py").write_text(program)
    pipes = [os.pipe() for _ in range(5)]
    order, out, err, told, ready = pipes
    theirs = (order[0], out[1], err[1], told[1], ready[1])
    env = {**os.environ, "WARM_AGENT": str(AGENT), "WARM_LINES": " ".join(map(str, theirs))}
    env.pop("PYTHONUNBUFFERED", None)  # there would be no buffers to carry
    process = subprocess.Popen(
        [python, "-W", "ignore", "program.py"],
        cwd=folder,
        env=env,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=theirs,
    )
    try:
        first = process.communicate(timeout=120)  # ends though the snapshot lives
        for fd in theirs[1:]:
            os.close(fd)
        os.read(ready[0], 1)  # the snapshot waits, or its end: there is none
        between()
        try:
            os.write(order[1], b"x" * times)
        except BrokenPipeError:
            pass
        os.close(order[0])
        os.close(order[1])
        printed = [_read(fd) for fd in (out[0], err[0], told[0])]
    finally:
        process.kill()
        process.wait()
        os.close(ready[0])
    lines = printed[2].splitlines()
    codes = [int(line[6:]) for line in lines if line.startswith("exit: ")]
    again = Ran(printed[0], printed[1], codes[-1] if codes else None)
    return Story(Ran(*first, process.returncode), again, lines)


def _read(fd: int) -> str:
    with os.fdopen(fd, "rb") as file:
        return file.read().decode()

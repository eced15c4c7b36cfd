"""`which NAME -- COMMAND`: proven by running it, up to the place that was asked about."""

from __future__ import annotations

import os

from zeroin.cycle import Cycle
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.run.witness import Until
from zeroin.tools.run import Options, run
from zeroin.tools.which import question, which
from zeroin.tools.which.report import Reached, Which

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper

INSIDE = ("class", "method", "function", "property")
WITHOUT_LINES = ("extension", "namespace", "value", "builtin", "frozen")


class Running(NamedTuple):
    """How to run it."""

    command: tuple[str, ...]
    stop: bool
    timeout: float | None


def proven(
    text: str, cwd: str, environ: Mapping[str, str], running: Running, *, python: str | None
) -> Which:
    """First what the command's interpreter says; then what the command does."""
    found = which(text, cwd, environ, python=python, command=running.command)
    watch = WhichWitness(found, running)
    cycle = Cycle(running.command, cwd, timeout=running.timeout)
    options = Options(record=False, brief=True, targets=(2, 2))
    report = run(cycle, options, environ, witnesses=[watch])
    if report.outcome.kind.value == "hang" and not watch.reached:
        raise UntestableError(
            f"the command did not get to {text} within {running.timeout:g} s",
            hint="give it more time with --timeout",
        )
    if report.interrupted and not watch.reached:
        raise KeyboardInterrupt
    code = None if watch.stopped else os.waitstatus_to_exitcode(report.status)
    return _judged(found, watch.told(code))


class WhichWitness(Until):
    """Lets the agents watch for the place, and ends the run there if it is to stop."""

    def __init__(self, found: Which, running: Running) -> None:
        super().__init__(self._is_final, grace=0.0)
        self.found = found
        self.running = running
        self.messages: list[dict[str, Any]] = []
        self.stopped = False

    def _is_final(self, message: Mapping[str, Any]) -> bool:
        return self.running.stop and message["kind"] == "reached"

    @property
    def reached(self) -> list[dict[str, Any]]:
        """What the agents told that got to the place."""
        return [one for one in self.messages if one["kind"] == "reached"]

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:  # noqa: ARG002
        """See `Witness`."""
        return order._replace(which=self._place())

    def take_stacks(self) -> tuple[list[Any], str]:
        """See `Witness`: where it stands at a time-out is not the question."""
        return [], ""

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        self.messages = list(inbox.messages)
        self.stopped = ended.stopped

    def _place(self) -> dict[str, Any]:
        """The same place in every copy: which of them is loaded is the question."""
        found = self.found
        files = [one for one in (found.file, found.asked) if one]
        files += [one.file for one in found.others if one.file.endswith(".py")]
        name = found.defined or found.name.replace(":", ".")
        inside = name.removeprefix(f"{found.module}.") if found.kind in INSIDE else found.inside
        return {
            "files": [os.path.realpath(one) for one in dict.fromkeys(files)],
            "module": found.module,
            "name": inside,
            "line": (found.at or found.line) if not inside else 0,
            "stop": self.running.stop,
        }

    def told(self, code: int | None) -> Reached:
        """What the agents said, in short."""
        ends = [one["which"] for one in self.messages if one["kind"] == "exit" and "which" in one]
        loaded = [file for one in ends for file in one["loaded"]]
        first: dict[str, Any] = (
            self.reached[0] if self.reached else {"file": "", "line": 0, "stack": []}
        )
        times = sum(one["reached"] for one in ends)
        return Reached(
            list(dict.fromkeys(loaded)),
            bool(self.reached),
            first["file"],
            first["line"],
            first["stack"],
            max(times, len(self.reached)),
            code,
            bool(self.messages),
            any(one["before"] for one in ends),
            next((one["refused"] for one in ends if one["refused"]), ""),
            [
                {"file": file, "line": line, "times": times}
                for one in ends
                for file, line, times in one["lines"]
            ],
        )


def _judged(found: Which, reached: Reached) -> Which:
    """The command's word counts for more than the interpreter's."""
    asked = found.asked or found.file
    plain = found._replace(reached=reached, mend="", verdict="no", asked=asked)
    yes = "" if found.how == "frozen" else "yes"  # edits of its source are not run
    if reached.reached and _same(reached.file, asked):
        line = found.line or found.at or (reached.line if found.kind in INSIDE else 0)
        return _of_several(plain._replace(verdict=yes, why="", file=asked, line=line))
    if reached.reached:
        return plain._replace(why="other-reached", mend=found.mend, file=reached.file)
    if not reached.heard:
        return plain._replace(why="not-heard")
    if not reached.loaded:
        return plain._replace(why="not-loaded")
    others = [one for one in reached.loaded if not _same(one, asked)]
    if asked and len(others) == len(reached.loaded):
        return plain._replace(why="other-loaded", mend=found.mend, file=others[0])
    if found.stale is not None:
        return plain._replace(why="stale")
    if reached.refused or (found.kind in INSIDE and not asked):
        return plain._replace(verdict="", why="not-watched")
    # Where no line of Python's could be watched, that it was loaded by the program is all.
    is_whole = found.kind in WITHOUT_LINES and not reached.before
    return plain._replace(verdict=yes if is_whole else "no", why="" if is_whole else "not-reached")


def _of_several(found: Which) -> Which:
    """Of several definitions, the one that was reached first, and how often each was."""
    reached = found.reached
    name = found.inside or (found.defined or found.name.replace(":", ".")).removeprefix(
        f"{found.module}."
    )
    if reached is None or not (found.inside or found.kind in INSIDE):
        return found
    several = question.definitions(found.file, name)
    if len(several) < 2:
        return found
    own = [one for one in reached.lines if _same(one["file"], found.file)]
    first = {"line": reached.line, "times": 1}
    lines = [
        {
            "line": one.line,
            "times": sum(
                seen["times"] for seen in own or [first] if one.first <= seen["line"] <= one.last
            ),
        }
        for one in several
    ]
    line = next(one.line for one in several if one.first <= reached.line <= one.last)
    return found._replace(line=line, definitions=lines)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)

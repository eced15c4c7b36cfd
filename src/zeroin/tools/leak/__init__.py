"""`leak`: does it grow with each repetition, by what, and who holds it?

The first run only measures, so that it is nearly as quick as without; a second one looks at the
place that grows, for a few repetitions, and is ended then.
"""

from __future__ import annotations

import os

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run.witness import Until
from zeroin.tools.leak import command as commands
from zeroin.tools.leak import samples
from zeroin.tools.leak.report import Leak
from zeroin.tools.run import Options, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.observe.trend import Trend
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended, Run
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.tools.leak.samples import Series

MATTERS = ("in_use", "fds", "threads", "children", "gpu")  # what leaks by itself; RSS does not
LOOKS = 10  # repetitions that the second run compares
IN_CYCLES = 0.7  # of what was traced: then the collector is the answer
AFTER = 3  # repetitions of warm-up before them
PATIENCE = 120.0  # seconds without a word from a process that looks for who holds it


class Asked(NamedTuple):
    """What is to be repeated."""

    repeat: int | None = None
    func: str | None = None
    look: Callable[[int], None] | None = None  # told before a second run finds who holds it
    progress: Callable[[int, int], None] | None = None  # told how many of its searches are done
    patience: float = PATIENCE


def leak(cycle: Cycle, asked: Asked, options: Options, environ: Mapping[str, str]) -> Leak:
    """Measure; and if it grows, look closer."""
    order = _order(cycle, asked, environ)
    words = tuple(cycle.command)
    if asked.repeat and not asked.func and not commands.is_pytest(words):
        words = tuple(commands.repeated(words, asked.repeat))
    cycle = cycle._replace(command=words)
    watch = LeakWitness({**order, "mode": "find"}, asked)
    report = run(cycle, options, environ, witnesses=[watch])
    chosen = _worst(watch.series)
    if chosen is None:
        reason = _why_nothing(watch.series, asked)
        return Leak("unknown", None, {}, [], None, report, 0, reason)
    trends = chosen.trends()
    grown = [key for key in MATTERS if key in trends and trends[key].verdict == "grows"]
    verdict = _verdict(trends, grown)
    found = Leak(verdict, chosen.place, trends, grown, None, report, chosen.pid)
    if verdict in ("leaks", "fills") and asked.look is not None:
        # The end of the last run is seen as well.
        asked.look(_until(chosen) - (chosen.place.kind == "run"))
        found = _looked(found, chosen, cycle, order, asked, options, environ)
    return found


def _order(cycle: Cycle, asked: Asked, environ: Mapping[str, str]) -> dict[str, Any]:
    """What the agent is told: whether the whole is the repetition, or one function."""
    order: dict[str, Any] = {"repeat": 0}
    if asked.func:
        from zeroin.tools.which import question, which

        named = question.read(asked.func, cycle.cwd)
        if named.file and named.line:
            return {
                "repeat": 0,
                "files": [os.path.realpath(named.file)],
                "only": ["function", named.line],
            }
        try:
            found = which(asked.func, cycle.cwd, environ, command=cycle.command)
        except UsageError as error:
            ours = "" if "--python" in error.hint else error.hint
            hint = ours.replace("zeroin which ", "--func ") or "zeroin which NAME -- COMMAND"
            raise UsageError(f"--func {error.message}", hint=hint) from None
        if found.kind not in ("function", "method", "property") or not found.file:
            raise UsageError(
                f"--func {asked.func}: that is a {found.kind}, not a function of Python's",
                hint="zeroin leak --func package.module:function -- COMMAND",
            )
        order["files"] = [os.path.realpath(found.file)]
        order["only"] = ["function", found.line]
    elif asked.repeat and commands.is_pytest(cycle.command):
        order |= {"pytest": asked.repeat, "repeat": asked.repeat}
    elif asked.repeat:
        order["repeat"] = asked.repeat
    return order


def _worst(found: list[Series]) -> Series | None:
    """Of all processes the one that leaks the most; else the one that was started first."""
    by_pid: dict[int, list[Series]] = {}
    for one in found:
        by_pid.setdefault(one.pid, []).append(one)
    chosen = [one for one in map(samples.choose, by_pid.values()) if one is not None]

    def grows(one: Series) -> float:
        trends = one.trends()
        ups = [key for key in MATTERS if key in trends and trends[key].verdict == "grows"]
        return trends["in_use"].total if "in_use" in ups else float(bool(ups))

    return max(chosen, key=grows) if chosen else None


def _why_nothing(found: list[Series], asked: Asked) -> str:
    if found:
        return "few"
    return "never" if asked.func else "nothing"


def _verdict(trends: dict[str, Trend], grown: list[str]) -> str:
    if grown:
        return "leaks"
    if any(trends[key].verdict == "fills" for key in MATTERS if key in trends):
        return "fills"
    if all(trend.verdict == "few" for trend in trends.values()):
        return "unknown"
    return "steady"


def _until(chosen: Series) -> int:
    """The repetition at which the second run has seen enough."""
    return min(min(AFTER, max(1, chosen.place.times // 3)) + LOOKS, chosen.place.times)


def _looked(
    found: Leak,
    chosen: Series,
    cycle: Cycle,
    order: dict[str, Any],
    asked: Asked,
    options: Options,
    environ: Mapping[str, str],
) -> Leak:
    """Who it is: by a second run, up to some repetitions."""
    place, last = chosen.place, _until(chosen)
    first = min(AFTER, max(1, place.times // 3))
    closer = {**order, "mode": "who", "from": first, "to": last}
    if place.kind != "run":
        closer |= {"files": [os.path.realpath(place.file)], "only": [place.kind, place.line]}
    # What it prints, it has printed in the first run.
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        watch = LeakWitness(closer, asked)
        run(cycle, options._replace(targets=(nowhere, nowhere)), environ, witnesses=[watch])
    finally:
        os.close(nowhere)
    told = [one for one in watch.messages if one["kind"] == "leak"]
    if not told:
        return found._replace(reason="silent" if watch.is_silent else "")
    who = told[0]
    in_cycles = who["cycles"] and who["left"] < (1 - IN_CYCLES) * who["traced"]
    if in_cycles and who["gc"] and set(found.grown) <= {"in_use"}:
        return found._replace(verdict="cycles", who=who)
    return found._replace(who=who)


class LeakWitness(Until):
    """Gives the agent its order, and ends the run with its answer.

    An agent that looks for who holds things tells how far it is; one that falls silent meanwhile
    is given up.
    """

    def __init__(self, order: dict[str, Any], asked: Asked) -> None:
        super().__init__(_is_answer, grace=0.0)
        self._order = order
        self._asked = asked
        self.is_silent = False
        self.series: list[Series] = []
        self.messages: list[dict[str, Any]] = []
        self._busy_since: float | None = None
        self._running: Run | None = None

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:
        """See `Witness`."""
        # All of Python's memory in the allocator's own account.
        env.setdefault("PYTHONMALLOC", "malloc")
        return order._replace(leak=self._order)

    def begin(self, process: Run) -> None:
        """See `Witness`."""
        super().begin(process)
        self._running = process

    def hear(self, message: Mapping[str, Any]) -> None:
        """See `Witness`."""
        super().hear(message)
        if message["kind"] == "leak_progress" and self._running is not None:
            done, of = message["done"], message["of"]
            goes_on = done == of and of > 0
            self._busy_since = None if goes_on else self._running.now()
            if self._asked.progress is not None and not goes_on:
                self._asked.progress(done, of)

    def turn(self, now: float) -> None:
        """See `Witness`."""
        super().turn(now)
        process, since = self._running, self._busy_since
        if process is None or since is None or process.stopped:
            return
        if now - since > self._asked.patience:
            self.is_silent = True
            process.stop(0.0)

    def take_stacks(self) -> tuple[list[Any], str]:
        """See `Witness`: where it stands at a time-out is not the question."""
        return [], ""

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        self.messages = list(inbox.messages)
        self.series = samples.read(inbox.folder)


def _is_answer(message: Mapping[str, Any]) -> bool:
    return bool(message["kind"] == "leak")

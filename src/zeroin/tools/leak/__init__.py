"""`leak`: does it grow with each repetition, by what, and who holds it?

The first run only measures, so that it is nearly as quick as without; a second one looks at the
place that grows, for a few repetitions, and is ended then.
"""

from __future__ import annotations

import json
import os

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run.until import Until
from zeroin.tools.leak import command as commands
from zeroin.tools.leak import samples
from zeroin.tools.leak.report import Leak
from zeroin.tools.run import Options, run, start_and_wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.observe.trend import Trend
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.tools.leak.samples import Series

MATTERS = ("in_use", "fds", "threads", "children", "gpu")  # what leaks by itself; RSS does not
LOOKS = 10  # repetitions that the second run compares
IN_CYCLES = 0.7  # of what was traced: then the collector is the answer
AFTER = 3  # repetitions of warm-up before them


class Asked(NamedTuple):
    """What is to be repeated."""

    repeat: int | None = None
    func: str | None = None
    look: Callable[[int], None] | None = None  # told before a second run finds who holds it


def leak(cycle: Cycle, asked: Asked, options: Options, environ: Mapping[str, str]) -> Leak:
    """Measure; and if it grows, look closer."""
    order = _order(cycle, asked, environ)
    words = tuple(cycle.command)
    if asked.repeat and not asked.func and not commands.is_pytest(words):
        words = tuple(commands.repeated(words, asked.repeat))
    cycle = cycle._replace(command=words)
    watch = _Watch(cycle, {**order, "mode": "find"}, options)
    report = run(cycle, options._replace(conduct=watch.conduct), environ)
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
        found = _looked(found, chosen, cycle, order, options, environ)
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
        options = options._replace(targets=(nowhere, nowhere))
        watch = _Watch(cycle, closer, options)
        run(cycle, options._replace(conduct=watch.conduct), environ)
    finally:
        os.close(nowhere)
    told = [one for one in watch.messages if one["kind"] == "leak"]
    if not told:
        return found
    who = told[0]
    in_cycles = who["cycles"] and who["left"] < (1 - IN_CYCLES) * who["traced"]
    if in_cycles and who["gc"] and set(found.grown) <= {"in_use"}:
        return found._replace(verdict="cycles", who=who)
    return found._replace(who=who)


class _Watch:
    """Runs the command with the agent's order, and takes what it left before the folder goes."""

    def __init__(self, cycle: Cycle, order: dict[str, Any], options: Options) -> None:
        self.cycle = cycle
        self.order = order
        self.options = options
        self.series: list[Series] = []
        self.messages: list[dict[str, Any]] = []

    def conduct(self, keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
        """See `Conduct`."""
        is_final = lambda one: one["kind"] == "leak"  # noqa: E731 - said once
        process = Until(keeper, inbox, self.cycle.timeout, is_final, grace=0)
        # All of Python's memory in the allocator's own account.
        env = {"PYTHONMALLOC": "malloc", **env, "ZEROIN_LEAK": json.dumps(self.order)}
        ended = start_and_wait(process, self.cycle, env, targets=self.options.targets)
        if inbox is not None:
            inbox.drain()
            self.messages = list(inbox.messages)
            self.series = samples.read(inbox.folder)
        return ended

"""How often each probe was reached, over all processes; and when never, why."""

from __future__ import annotations

import os

from zeroin.agent.probes import tally
from zeroin.named import NamedTuple
from zeroin.regular import read_regular
from zeroin.tools.probes import Probed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 3  # things that are named


class Counts(NamedTuple):
    """The numbers of one probe in all processes, and in how many of them it was reached."""

    reached: int = 0
    acted: int = 0
    raised: int = 0
    called: int = 0
    processes: int = 0
    lost: bool = False  # a process was killed before it had written all of them down

    def plus(self, own: list[int], *, written: bool) -> Counts:
        """With those of one more process."""
        return Counts(
            self.reached + own[0],
            self.acted + own[1],
            self.raised + own[2],
            self.called + own[3],
            self.processes + bool(own[0]),
            self.lost or not written,
        )


class How(NamedTuple):
    """All that is known of a probe after a run."""

    asked: dict[str, Any]
    events: list[dict[str, Any]]
    counts: Counts
    is_python: bool  # any that we were let into
    status: int

    def of(self, event: str) -> list[dict[str, Any]]:
        """The messages of one kind."""
        return [one for one in self.events if one["event"] == event]


def counts(folder: str, probes: int) -> list[Counts]:
    """Add up what the processes of a run have counted."""
    found = [Counts() for _ in range(probes)]
    for name in sorted(os.listdir(folder)):
        if not name.startswith(tally.PREFIX):
            continue
        try:
            data = read_regular(os.path.join(folder, name), tally.size(probes) + 1)
        except OSError:
            continue
        if len(data) != tally.size(probes):
            continue
        numbers = memoryview(data).cast("Q").tolist()
        for at, old in enumerate(found):
            first = 1 + at * len(tally.KINDS)
            own = numbers[first : first + len(tally.KINDS)]
            found[at] = old.plus(own, written=bool(numbers[0]))
    return found


def probed(text: str, how: How) -> Probed:
    """Put together what is told of one probe."""
    stood = (how.of("reached") or how.of("placed") or [{}])[0]
    number = how.counts
    place = text.partition(" ")[0].strip("'")
    return Probed(
        text,
        place,
        number.reached,
        number.acted,
        number.raised,
        number.processes,
        stood.get("file", ""),
        stood.get("line", 0),
        stood.get("function", ""),
        "" if number.reached else _why(how),
        tuple(_notes(how)),
        number.lost and _is_only_counted(how),
    )


def _is_only_counted(how: How) -> bool:
    """Behind a condition, or with all done that was asked for, it counts where no one is told."""
    done = 0 < how.asked.get("times", 0) <= how.counts.acted
    return how.counts.reached > 0 and (done or "if" in how.asked)


def _notes(how: How) -> list[str]:
    notes = [
        f"{one['text']} raised {one['error']}{_too_early(how, one)}" for one in how.of("raised")
    ]
    defines = [one["defines"] for one in how.of("placed") if one.get("defines")]
    if defines:
        where = os.path.basename(how.asked.get("file") or how.asked.get("module", ""))
        notes.append(
            f"this line only defines {defines[0]}; for its calls: --at {where}:{defines[0]}"
        )
    return list(dict.fromkeys(notes))[:MOST]


def _too_early(how: How, raised: dict[str, Any]) -> str:
    """A probe comes before its line: what the line itself gives a value is there after it."""
    kind, _, words = raised["error"].partition(": ")
    stood = (how.of("reached") or how.of("placed") or [{}])[0]
    if kind not in ("NameError", "UnboundLocalError") or not how.asked.get("line") or not stood:
        return ""
    import ast

    from zeroin.agent.probes import places

    try:
        with open(stood["file"], "rb") as file:
            text = file.read()
        spot = places.at_line(ast.parse(text), text.decode().splitlines(), stood["line"])
    except (OSError, SyntaxError, ValueError):
        return ""
    name = words.partition("'")[2].partition("'")[0]
    given = spot is not None and any(
        isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id == name
        for one in ast.walk(spot.statement)
    )
    if spot is None or not given:
        return ""
    inside = getattr(spot.statement, "body", [])  # of a loop, say
    after = inside[:1] or spot.block[spot.index + 1 : spot.index + 2]
    there = str(after[0].lineno) if after else f"{spot.qualname}:return" if spot.function else ""
    where = f": --at {os.path.basename(stood['file'])}:{there}" if there else ""
    return f"; line {stood['line']} gives it its value, and the probe comes before it{where}"


def _why(how: How) -> str:
    if not how.is_python:
        return (
            "zeroin was let into no Python of this command: it runs none, one with -I, -E or -S, "
            "or one older than 3.9"
        )
    placed = how.of("placed")
    if placed:
        return _not_reached(how, placed[0])
    for event, tell in (
        ("refused", _refused),
        ("no-code", _no_code),
        ("no-function", _no_function),
    ):
        found = how.of(event)
        if found:
            return tell(how, found[0])
    others = list(dict.fromkeys(one["file"] for one in how.of("other")))
    name = how.asked.get("file") or how.asked.get("module")
    if others:
        more = f" and {len(others) - MOST} more" if len(others) > MOST else ""
        named = ", ".join(others[:MOST])
        return f"{name} was never loaded; another of that name was: {named}{more}"
    unseen = "; a program from standard input can't be probed" if how.of("no-file") else ""
    return f"{name} was never loaded, nor anything of that name{unseen or _ended(how)}"


def _not_reached(how: How, placed: dict[str, Any]) -> str:
    where = f"{os.path.basename(placed['file'])} was loaded"
    if how.asked.get("function"):
        verb = "returned from" if how.asked.get("return") else "called"
        return f"{where}, but {how.asked['function']} was never {verb}{_ended(how)}"
    function = placed.get("function")
    if not function:
        return f"{where}, but line {placed['line']} was never reached{_ended(how)}"
    calls = how.counts.called
    times = f"was called {_times(calls)}" if calls else "was never called"
    if how.counts.lost and not calls:
        times = "may have been called in a process that was killed"
    return f"{where}, but line {placed['line']} was never reached: {function} {times}{_ended(how)}"


def _ended(how: How) -> str:
    return "; the program failed before it could come there" if how.status else ""


def _refused(how: How, event: dict[str, Any]) -> str:
    name = how.asked.get("function") or event.get("file") or ""
    return f"{name}: {event['reason']}"


def _no_code(how: How, event: dict[str, Any]) -> str:
    line, count = how.asked["line"], event["lines"]
    short = f", which has only {count} lines," if line > count else ""
    near = "; ".join(f"{at}: {text}" for at, text in event["near"])
    return f"line {line} of {event['file']}{short} holds no code; the nearest are {near or 'none'}"


def _no_function(how: How, event: dict[str, Any]) -> str:
    owner = event["file"] or how.asked.get("module")
    near = ", ".join(event["near"])
    return f"{owner} has no function {how.asked['function']}" + (f"; near: {near}" if near else "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"

"""What to say of a trace: the failures that matter, the likeliest first."""

from __future__ import annotations

import errno
import os

from zeroin.named import NamedTuple
from zeroin.observe.calls.noise import is_look, is_noise
from zeroin.observe.calls.parse import Call, Exit, Signal
from zeroin.observe.calls.reason import reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zeroin.observe.calls.history import Done, History, Process, Times, Tried

    # Of what was tried and when: where in a Python program that was, if it is known.
    Place = Callable[[Tried, float], str]

    # Of a path, an error and what was wanted: what is in the way.
    Reason = Callable[[str, str, str], str]

SEARCHED = 3  # folders that were tried for one name: a search along a path


class Failure(NamedTuple):
    """One thing that failed. `place` is the Python line, `train.py:3 in load`."""

    path: str
    operation: str
    call: str
    error: str
    words: str
    reason: str
    program: str
    pid: int
    place: str
    times: int
    before_end: float  # seconds
    mentioned: bool  # in what the program printed


class Used(NamedTuple):
    """What was done to a file, and how often."""

    path: str
    operation: str
    times: int


def nowhere(*_: object) -> str:
    """The place, where no agent tells."""
    return ""


def failures(
    history: History,
    *,
    everything: bool = False,
    place: Place = nowhere,
    output: str = "",
    own: tuple[str, ...] = (),
    why: Reason = reason,
) -> tuple[list[Failure], int]:
    """The failures, the likeliest first, and how many were left out as noise."""
    failed = history.failed.items()
    rows = [(tried, times, history.process(tried.thread)) for tried, times in failed]
    kept = [row for row in rows if everything or not is_noise(row[0], row[1].last, row[2], own=own)]
    end = max((record.time for record in history.last), default=0.0)
    merged = _merge_searches(kept, everything=everything)
    found = [_failure(row, names, end, place, output, why) for row, names in merged]
    found.sort(key=_order)
    return [failure for _, failure in found], len(rows) - len(kept)


Row = tuple["Tried", "Times", "Process"]


def _merge_searches(rows: list[Row], *, everything: bool) -> Iterable[tuple[Row, list[str]]]:
    """One name that was looked for in many folders in vain is one failure."""
    groups: dict[tuple[int, str, str, str], list[Row]] = {}
    for row in rows:
        tried = row[0]
        name = os.path.basename(tried.path)
        searched = tried.error == "ENOENT" and name and not everything
        what = name if searched else f"{tried.operation}:{tried.path}"
        groups.setdefault((row[2].pid, tried.program, tried.error, what), []).append(row)
    for group in groups.values():
        folders = list(dict.fromkeys(os.path.dirname(row[0].path) for row in group))
        if len(folders) >= SEARCHED:
            yield group[-1], folders
        elif group[0][0].error == "ENOENT":  # looked at, then opened: the last says it
            by_path = {row[0].path: row for row in group}
            yield from ((row, []) for row in by_path.values())
        else:
            yield from ((row, []) for row in group)


def _failure(
    row: Row, folders: list[str], end: float, place: Place, output: str, why: Reason
) -> tuple[tuple[int, float], Failure]:
    tried, times, process = row
    name = os.path.basename(tried.path)
    mentioned = bool(name) and len(name) > 2 and name in output
    # A program that went on as another one (exec) had all it wanted.
    ended_badly = bool(process.ended) and process.program == tried.program
    weight = 4 * mentioned + 2 * ended_badly + (not is_look(tried))
    path = name if folders else tried.path
    because = (
        f"not in any of these {len(folders)}: {', '.join(folders[:8])}"
        + (" …" if len(folders) > 8 else "")
        if folders
        else why(tried.path, tried.error, tried.operation)
    )
    failure = Failure(
        path,
        tried.operation,
        tried.name,
        tried.error,
        words_of(tried.error),
        because,
        tried.program,
        process.pid,
        place(tried, times.last),
        times.count,
        max(0.0, end - times.last),
        mentioned,
    )
    return (-weight, -times.last), failure


def words_of(error: str) -> str:
    """`ENOENT` → no such file or directory."""
    number = getattr(errno, error, 0)
    return os.strerror(number).lower() if number else error


def name_of(number: int) -> str:
    """2 → `ENOENT`."""
    return errno.errorcode.get(number, "")


def line(record: Call | Signal | Exit) -> str:
    """A record in one line, nearly as strace shows it."""
    if isinstance(record, Call):
        return f"{record.pid} {record.name}({', '.join(record.args)}) = {record.result}"
    if isinstance(record, Signal):
        return f"{record.pid} --- {record.name} {record.about} ---"
    how = f"killed by {record.signal}" if record.signal else f"exited with {record.code}"
    return f"{record.pid} +++ {how} +++"


def _order(found: tuple[tuple[int, float], Failure]) -> tuple[int, float]:
    return found[0]


def used(kept: dict[Done, Times], own: tuple[str, ...] = ()) -> list[Used]:
    """In the order of the last use, the last first; without what is ours."""
    return [
        Used(done.path, done.operation, times.count)
        for done, times in reversed(kept.items())
        if not (own and done.path.startswith(own))
    ]

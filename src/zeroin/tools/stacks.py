"""`stacks`: where running programs stand."""

from __future__ import annotations

import os

from zeroin.common import secrets
from zeroin.errors import UsageError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.observe.stacks import proc, tree
from zeroin.observe.stacks.look import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.observe.stacks import Stack
    from zeroin.observe.stacks.judge import Look

SHOWN = 12  # candidates
BUSY = 0.05  # of a processor


class Wanted(NamedTuple):
    """What to look at: the topmost processes of each program, and what was meant."""

    programs: list[list[int]]
    said: str  # "attempt 7", "process 1234", "train.py", "the newest Python"


class Candidate(NamedTuple):
    """A tree that may have been meant."""

    pid: int
    processes: int
    seconds: float  # since its start
    command: str


class AmbiguousError(ZeroinError):
    """Several trees may have been meant."""

    exit_code = 2


def find(name: str, cwd: str, environ: Mapping[str, str]) -> Wanted:
    """What a user means by a number, a name, or nothing."""
    if name.isascii() and name.isdecimal():
        pid = int(name)
        if proc.read(pid) is None:
            raise ZeroinError(
                f"there is no process {name}", hint=f"what is left of it: zeroin why -p {name}"
            )
        pid = proc.of_thread(pid)
        return Wanted([tree.belonging(pid)], f"process {pid}")
    table = proc.table()
    if name:
        found = tree.programs(tree.named(name, table), table)
        if not found:
            raise ZeroinError(
                f"no Python runs with {name!r} in its command", hint="all that run: ps -ef"
            )
        return Wanted(found, name)
    return _attempt(cwd, environ, table) or _only(table)


def _attempt(cwd: str, environ: Mapping[str, str], table: tree.Table) -> Wanted | None:
    """The newest attempt of this project that still runs."""
    from zeroin.errors import StoreError
    from zeroin.tools.reading import is_running, open_record

    try:
        reading = open_record(cwd, environ)
    except StoreError:
        return None
    with reading:
        running = [one for one in reading.store.attempts(limit=20) if is_running(one)]
    for attempt in running:
        driver = int(attempt.driver.partition(":")[0])
        if driver == os.getpid():
            continue
        below = [pid for pid in tree.below(driver, table)[1:] if table[pid].parent == driver]
        if below:
            return Wanted([below], f"attempt {attempt.id}")
    return None


def _only(table: tree.Table) -> Wanted:
    found = tree.programs(tree.pythons(table), table)
    if not found:
        raise ZeroinError(
            "no Python of yours runs here", hint="start one: zeroin stacks -- python train.py"
        )
    if len(found) > 1:
        listed = candidates(found, table)
        newest = listed[0].pid
        raise AmbiguousError(
            f"{len(found)} Python programs run here; which one?\n"
            + "\n".join(f"  {one.pid:>8}  {_words(one)}" for one in listed[:SHOWN]),
            hint=f"the newest: zeroin stacks {newest}",
        )
    return Wanted(found, f"process {found[0][0]}")


def _words(one: Candidate) -> str:
    count = f", {one.processes} processes" if one.processes > 1 else ""
    return f"{one.command[:80]} ({int(one.seconds)} s{count})"


def candidates(programs: Sequence[Sequence[int]], table: tree.Table) -> list[Candidate]:
    """Programs, the newest first."""
    import time

    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    found = [
        Candidate(
            tops[0],
            sum(len(tree.below(pid, table)) for pid in tops),
            now - table[tops[0]].started / proc.TICK,
            " ".join(proc.command(tops[0])),
        )
        for tops in programs
    ]
    return sorted(found, key=lambda one: one.seconds)


class StacksReport(NamedTuple):
    """A look at what was meant, and what moved since the look before."""

    wanted: Wanted
    look: Look
    moved: dict[tuple[int, int, str], bool] | None = None  # thread → whether it stands elsewhere


def stacks(wanted: Wanted, *, values: bool = False, native: bool = False) -> list[StacksReport]:
    """Look once; trees that have nothing to do with one another are told one by one."""
    found = [
        StacksReport(one, _masked(seen))
        for one, seen in zip(_each(wanted), _looks(wanted.programs, values, native), strict=True)
        if seen.processes
    ]
    if not found:
        raise ZeroinError(f"{wanted.said} has ended", hint="see: zeroin log")
    return found


def _masked(seen: Look) -> Look:
    """Without secrets: what is seen of a program may be pasted anywhere."""
    if any(stack.locals for stack in seen.stacks):
        groups = [
            group._replace(
                threads=[one._replace(stack=_hidden(one.stack)) for one in group.threads]
            )
            for group in seen.groups
        ]
        seen = seen._replace(groups=groups, stacks=[_hidden(one) for one in seen.stacks])
    known = secrets.of_environment(os.environ)
    return seen._replace(
        processes=[one._replace(command=secrets.mask(one.command, known)) for one in seen.processes]
    )


def _hidden(stack: Stack) -> Stack:
    """Without the values of variables that are called like secrets."""

    def hide(values: dict[str, str]) -> dict[str, str]:
        return {
            name: secrets.MASK
            if text[:1] in "'\"b" and secrets.is_secret(name, text.strip("b'\""))
            else secrets.mask_found(text)
            for name, text in values.items()
        }

    return stack._replace(locals=[hide(found) for found in stack.locals])


def _each(wanted: Wanted) -> list[Wanted]:
    if len(wanted.programs) == 1:
        return [wanted]
    return [Wanted([tops], f"process {tops[0]}") for tops in wanted.programs]


def _looks(programs: Sequence[list[int]], values: bool, native: bool) -> list[Look]:
    """All at the same time: each waits for other processes only."""
    if len(programs) == 1:
        return [look(programs[0], values=values, native=native)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(8, len(programs))) as pool:
        return list(pool.map(lambda tops: look(tops, values=values, native=native), programs))


def since_all(before: Sequence[StacksReport], now: Sequence[StacksReport]) -> list[StacksReport]:
    """What moved in each tree."""
    old = {one.wanted.programs[0][0]: one for one in before}
    return [
        since(old[one.wanted.programs[0][0]], one) if one.wanted.programs[0][0] in old else one
        for one in now
    ]


def since(before: StacksReport, now: StacksReport) -> StacksReport:
    """What moved: a thread that stands at another line, or is new."""
    old, new = _places(before), _places(now)
    return now._replace(moved={key: old.get(key) != place for key, place in new.items()})


def is_stuck(before: StacksReport, now: StacksReport) -> bool:
    """Nothing moves: the same stacks, and nobody computes."""
    moved = since(before, now).moved or {}
    looked_at = (*before.look.processes, *now.look.processes)
    # A program whose agent was asked has worked for us.
    busy = any(one.busy > BUSY for one in looked_at if one.means.source != "agent")
    return bool(moved) and not busy and not any(moved.values())


def _places(report: StacksReport) -> dict[tuple[int, int, str], object]:
    return {
        (one.stack.pid, one.stack.tid, one.stack.thread): tuple(one.stack.frames)
        for group in report.look.groups
        for one in group.threads
    }


def check_seconds(value: float, option: str) -> float:
    """A time to wait, that is one."""
    if value <= 0:
        raise UsageError(f"{option} takes a time above 0")
    return value

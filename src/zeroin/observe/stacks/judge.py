"""What one look means: processes named, waits followed, threads grouped, a verdict.

Apart from looking itself, so that all this is loaded while others look.
"""

from __future__ import annotations

import os

from zeroin.common import secrets
from zeroin.named import NamedTuple
from zeroin.observe.death.process import STATES
from zeroin.observe.stacks import denied, proc, ranks, tree, waits
from zeroin.observe.stacks.merge import NO_WAIT, Group, Thread, grouped
from zeroin.observe.stacks.stack import Stack
from zeroin.observe.stacks.take import Means
from zeroin.observe.stacks.verdict import Case, Dead, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.observe.stacks.denied import Denied
    from zeroin.observe.stacks.proc import Process
    from zeroin.observe.stacks.ranks import Facts, Name
    from zeroin.observe.stacks.take import Taken

NOTHING = Means("", {})


class Seen(NamedTuple):
    """One process, and how it was looked at."""

    pid: int
    parent: int
    name: Name
    command: str
    state: str  # a letter, as ps(1) has it
    words: str  # what that means
    means: Means
    denied: Denied | None  # why there is no stack, where there should be one
    busy: float  # of a processor, while we looked
    orphan: bool  # a worker whose parent has ended


class Look(NamedTuple):
    """All that was seen at one moment."""

    processes: list[Seen]
    groups: list[Group]
    verdict: str
    stacks: list[Stack]  # all of them, as they came
    seconds: float = 0.0  # that looking took


def judged(
    facts: Sequence[Facts],
    table: dict[int, Process],
    taken: Taken,
    shares: dict[int, dict[int, float]],
) -> Look:
    """Name the processes, follow their waits, and say what it means."""
    names = ranks.names(facts)
    scene = waits.Scene(table, lambda pid: names[pid].label if pid in names else f"pid {pid}")
    groups = grouped(
        (
            thread
            for one in facts
            if one.pid in shares
            for thread in _threads(one.pid, one.stacks, names[one.pid], scene, shares[one.pid])
        ),
        _line,
    )
    seen = [
        _seen(
            table[one.pid],
            names[one.pid],
            taken.means.get(one.pid, NOTHING),
            one.stacks,
            shares.get(one.pid),
        )
        for one in facts
    ]
    case = Case(
        groups,
        [Dead(p.pid, p.parent, names[p.pid], how(p.pid)) for p in facts if p.state == "Z"],
        ranks.missing(facts, names),
        ranks.world_of(facts),
        [one.name for one in seen if one.denied is not None],
        {one.pid: one.parent for one in facts},
    )
    return Look(seen, groups, verdict(case), taken.stacks)


def _threads(
    pid: int, stacks: Sequence[Stack], name: Name, scene: waits.Scene, shares: dict[int, float]
) -> list[Thread]:
    """Each stack with its wait; a process without any still waits for something."""
    inner = _inner_numbers(pid)
    found = []
    for one in stacks or [Stack(pid, "", [], "", (), pid)]:
        tid = inner.get(one.tid, one.tid)
        stack = one._replace(tid=tid)
        has_thread = tid and stack.source != "asyncio"
        wait = waits.of(pid, tid, scene) if has_thread else NO_WAIT
        found.append(Thread(stack, name, wait, shares.get(tid, 0.0)))
    threads = [one for one in found if one.stack.source != "asyncio"]
    tasks = [one for one in found if one.stack.source == "asyncio"]
    return [one._replace(wait=_fitting(one, threads)) for one in threads] + tasks


def _fitting(one: Thread, threads: Sequence[Thread]) -> waits.Wait:
    """What it waits for, if that is where it was seen: the frames were read a moment before."""
    if _waits_for_turn(one, threads):
        return waits.TURN
    if one.wait.kind in ("runs", NO_WAIT.kind):
        return one.wait
    has_moved = one.stack.has_moved(proc.busy_of(one.stack.pid, one.stack.tid))
    return NO_WAIT if has_moved else one.wait


def _waits_for_turn(one: Thread, threads: Sequence[Thread]) -> bool:
    """Who has the interpreter was seen a moment before who waits: they may have swapped since."""
    others = [other for other in threads if other is not one]
    if one.stack.gil:
        has_another = any(other.wait.kind == "runs" for other in others)
    else:
        has_another = any(other.stack.gil for other in others)
    return one.wait.kind == "timed" and has_another


def _inner_numbers(pid: int) -> dict[int, int]:
    """In a container threads have other numbers: the inner one → ours."""
    found = {}
    row = next((x for x in proc.text(pid, "status").splitlines() if x.startswith("NSpid:")), "")
    if len(row.split()) < 3:
        return {}
    for name in map(str, proc.busy(pid)):
        for line in proc.text(pid, f"task/{name}/status").splitlines():
            if line.startswith("NSpid:"):
                found[int(line.split()[-1])] = int(name)
    return found


def _seen(
    row: Process,
    name: Name,
    means: Means,
    stacks: Sequence[Stack],
    shares: dict[int, float] | None,
) -> Seen:
    refused = None
    if means.failed and not stacks:
        refused = denied.why(row.pid, means.failed.get("py-spy", ""))
    words = STATES.get(row.state, row.state)
    if row.state == "Z":
        words = f"has {how(row.pid)}; its parent {row.parent} has not asked how"
    return Seen(
        row.pid,
        row.parent,
        name,
        " ".join(secrets.mask_words(proc.command(row.pid))) or f"[{row.name}]",
        row.state,
        words,
        means,
        refused,
        sum((shares or {}).values()),
        bool(stacks) and tree.is_orphan(row),
    )


def how(pid: int) -> str:
    """How a process that nobody has waited for yet has ended."""
    fields = proc.text(pid, "stat").rpartition(")")[2].split()
    status = int(fields[49]) if len(fields) > 49 else 0
    if not status:
        return "ended"
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended with exit code {code}"
    import signal

    try:
        return f"been ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"been ended by signal {-code}"


def _line(file: str, line: int) -> str:
    import linecache

    return linecache.getline(file, line).strip()

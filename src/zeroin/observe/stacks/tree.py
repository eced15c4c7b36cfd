"""Which processes belong together: the tree below one of them, the trees that a name means."""

from __future__ import annotations

import os

from zeroin.observe.spies import is_python
from zeroin.observe.stacks import proc, ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.observe.stacks.proc import Process

    Table = Mapping[int, Process]


def below(pid: int, table: Table) -> list[int]:
    """The process and all below it, parents before children."""
    children: dict[int, list[int]] = {}
    for one in table.values():
        children.setdefault(one.parent, []).append(one.pid)
    found = [pid] if pid in table else []
    for parent in found:
        found += sorted(children.get(parent, ()), key=lambda child: (table[child].started, child))
    return found


def above(pid: int, table: Table) -> list[int]:
    """Its parent, the parent's parent, and so on."""
    found: list[int] = []
    while (row := table.get(pid)) is not None and row.parent not in (0, *found):
        pid = row.parent
        found.append(pid)
    return found


def tops(pids: set[int], table: Table) -> list[int]:
    """Those that are below none of the others, the oldest first."""
    found = [pid for pid in pids if not pids.intersection(above(pid, table))]
    return sorted(found, key=lambda pid: (table[pid].started, pid))


def named(name: str, table: Table) -> list[int]:
    """The tops of the trees with a Python in them that a name, or a part of a command, means."""
    not_meant = {os.getpid(), *above(os.getpid(), table)}  # our own words have the name in them
    exact, partly = set(), set()
    for pid in table.keys() - not_meant:
        words = proc.command(pid)
        if name == table[pid].name or any(os.path.basename(word) == name for word in words):
            exact.add(pid)
        elif name in " ".join(words):
            partly.add(pid)
    return with_python(tops(exact, table) or tops(partly, table), table)


def pythons(table: Table) -> list[int]:
    """The tops of this user's Python trees, the oldest first."""
    not_meant = {os.getpid(), *above(os.getpid(), table)}
    mine = {
        pid
        for pid in table.keys() - not_meant
        if table[pid].state != "Z" and _is_mine(pid) and is_python(pid)
    }
    return tops(mine, table)


def programs(pids: list[int], table: Table) -> list[list[int]]:
    """Trees that belong together: ranks of one job; workers whose parent has ended."""
    found: dict[object, list[int]] = {}
    runs: dict[object, int] = {}
    for pid in pids:
        row = table[pid]
        key: object = (row.parent, row.group) if is_orphan(row) else pid
        if job := ranks.job_of(pid):
            # A second process of the same rank is of another run: an earlier one that hangs, say.
            seen = runs[job, ranks.rank_of(pid)] = runs.get((job, ranks.rank_of(pid)), 0) + 1
            key = (job, seen)
        found.setdefault(key, []).append(pid)
    return list(found.values())


def belonging(pid: int) -> list[int]:
    """A process, the other ranks of its job, or the others that its parent left behind."""
    row = proc.read(pid)
    job = ranks.job_of(pid) if row is not None else None
    if row is None or not (job or is_orphan(row)):
        return [pid]
    table = proc.table()
    if job:
        mates = tops({one for one in table if ranks.job_of(one) == job}, table)
        return next((one for one in programs(mates, table) if pid in one), [pid])
    others = [one for one in table.values() if (one.parent, one.group) == (row.parent, row.group)]
    left = sorted(others, key=lambda one: (one.started, one.pid))
    return [one.pid for one in left if one.pid == pid or is_orphan(one)]


def is_orphan(row: Process) -> bool:
    """Started by multiprocessing, which would have ended it, but below no Python any more."""
    line = " ".join(proc.command(row.pid))
    return "multiprocessing" in line and not is_python(row.parent)


def with_python(pids: list[int], table: Table) -> list[int]:
    """Only trees in which there is a Python: an editor has the name in its command as well."""
    return [pid for pid in pids if any(map(is_python, below(pid, table)))]


def _is_mine(pid: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()
    except OSError:
        return False

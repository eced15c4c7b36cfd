"""One look at whole trees: every process and its threads at one moment."""

from __future__ import annotations

import os
import time

from zeroin.observe import spies
from zeroin.observe.stacks import faults as agents
from zeroin.observe.stacks import proc, tree
from zeroin.observe.stacks.take import take_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.observe.stacks.judge import Look
    from zeroin.observe.stacks.proc import Process
    from zeroin.observe.stacks.stack import Stack
    from zeroin.observe.stacks.take import ReaderOf


def look(
    tops: Sequence[int],
    *,
    values: bool = False,
    native: bool = False,
    gdb: bool = True,
    reader_of: ReaderOf | None = agents.reader_of,
) -> Look:
    """Look at the trees below these processes, all of it at once."""
    began = time.monotonic()
    table = proc.family(tops)
    pids = _members(tops, table)
    alive = [pid for pid in pids if table[pid].state not in "ZX" and not _is_ours(pid)]
    before = {pid: proc.busy(pid) for pid in alive}
    counted = time.monotonic()
    about: dict[int, tuple[list[str], dict[str, str]]] = {}

    def meanwhile() -> None:
        from zeroin.observe.stacks import judge as judge  # noqa: PLC0414 - while there is time

        about.update({pid: (proc.command(pid), proc.environ(pid)) for pid in pids})

    taken = take_all(alive, reader_of, values=values, native=native, gdb=gdb, meanwhile=meanwhile)
    spies.drop()
    if not about:
        meanwhile()
    passed = max(1e-9, time.monotonic() - counted)
    shares = {pid: _shares(pid, before[pid], passed) for pid in alive}
    stacks: dict[int, list[Stack]] = {pid: [] for pid in pids}
    for one in taken.stacks:
        stacks[one.pid].append(one)
    from zeroin.observe.stacks.judge import judged
    from zeroin.observe.stacks.ranks import Facts

    facts = [
        Facts(pid, table[pid].parent, *about[pid], stacks[pid], table[pid].state) for pid in pids
    ]
    return judged(facts, table, taken, shares)._replace(seconds=time.monotonic() - began)


def _members(tops: Sequence[int], table: dict[int, Process]) -> list[int]:
    """All of the trees; of one that we are in, such as that of a shell, without us."""
    pids = list(dict.fromkeys(pid for top in tops for pid in tree.below(top, table)))
    if os.getpid() in pids:
        us = tree.below(os.getpid(), table)
        pids = [pid for pid in pids if pid not in us]
    return pids


def _is_ours(pid: int) -> bool:
    """Zeroin itself stands around programs, and is none that anybody asked about."""
    return proc.is_zeroin(proc.command(pid))


def _shares(pid: int, before: dict[int, int], passed: float) -> dict[int, float]:
    after = proc.busy(pid)
    return {tid: (after[tid] - before[tid]) / passed / 1e9 for tid in after if tid in before}

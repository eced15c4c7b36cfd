"""`memory=SIZE` for a tree of processes; with `memory-error=SIZE` allocations fail instead."""

from __future__ import annotations

import os
import resource

from zeroin.cycle.printed import owner_of
from zeroin.emulate import memory_watch, values
from zeroin.emulate.grouped import SCOPE, V1, V2, Grouped
from zeroin.emulate.part import Backend, Effect, Kind, Part
from zeroin.errors import UsageError
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Limit, Scene
    from zeroin.emulate.watch import Watch

LEAST = 1_000_000  # no program starts with less
NEARLY = 0.9  # of the limit
SAYS_NO_MEMORY = ("MemoryError", "annot allocate memory", "can't allocate memory", "bad_alloc")


class Tree(Part):
    """A limit for all processes together; at the limit the biggest is ended, and told of."""

    def watch(self) -> Watch | None:
        """Without any group: the guard adds up what they have."""
        return memory_watch.ByLooking(self._amount)

    @property
    def _amount(self) -> int:
        return int(self.limits[0].amount)

    def effects(self, ending: Ending) -> list[Effect]:
        """Who reached it, and where."""
        told = ending.told
        notes = [f"the watch over the memory failed: {told['error']}"] if "error" in told else []
        hits = told.get("hits") or []
        text = self.limits[0].text
        if not hits:
            peak, most = (told.get(name) or 0 for name in ("peak", "most"))
            # A file in memory that would go over the limit is refused: nobody is ended.
            said = ending.failed and any(words in ending.said for words in SAYS_NO_MEMORY)
            reached = said and most >= NEARLY * self._amount
            detail = f"{size(most if reached else peak)} of {size(self._amount)}"
            return [Effect(text, self.backend, reached, detail, tuple(notes))]
        first = hits[0]
        who = f" in {first['who']}" if first["who"] else ""
        detail = f"{size(first['used'])} of {size(self._amount)} in {_processes(first['count'])}"
        if told.get("growth", 0) > 0:
            detail += f", growing by {size(told['growth'])} a second"
        if told.get("hung"):
            notes.append("what was left only waited for the process that is gone: ended as well")
        elif len(hits) > 1:
            notes.append(f"{len(hits)} processes were ended one after the other")
        stacks = [stack for hit in hits for stack in hit["stacks"]]
        own = [stack for stack in first["stacks"] if stack["pid"] == first["pid"]]
        where = tuple((file, line, name) for file, line, name in own[0]["frames"]) if own else ()
        if not ending.failed:  # then no headline says so
            notes.insert(0, f"a process was ended: {first['who'] or first['pid']}{_at(where)}")
        return [
            Effect(
                text,
                self.backend,
                reached=True,
                detail=detail,
                notes=tuple(notes),
                ended=f"the tree reached {size(first['used'])}{who}",
                where=where,
                stacks=tuple(stacks),
            )
        ]


def _at(where: Sequence[tuple[str, int, str]]) -> str:
    """The innermost line of the user's own, else of all."""
    own = [frame for frame in where if owner_of(frame[0]) == "user"] or where
    return f" at {own[-1][0]}:{own[-1][1]} in {own[-1][2]}" if own else ""


def _processes(count: int) -> str:
    return f"{count} processes" if count != 1 else "1 process"


class _Grouped(Grouped, Tree):
    """In a control group."""

    controller = "memory"


class Group1(_Grouped):
    """Version 1: who asks for too much waits, and can be looked at."""

    way = V1

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> dict[str, object]:
        """It waits at the limit instead of being killed."""
        amount = int(limits[0].amount)
        return {
            "memory.limit_in_bytes": amount,
            "memory.memsw.limit_in_bytes?": amount,
            "memory.oom_control": 1,
        }

    def watch(self) -> Watch | None:
        """Ask the group."""
        return memory_watch.ByGroup1(self._amount, self._group.folder)


class Group2(_Grouped):
    """Version 2: who asks for too much is slowed down, and can be looked at."""

    way = V2

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> dict[str, object]:
        """The kernel kills only if we were too late. No swap: that would only be slow."""
        amount = int(limits[0].amount)
        most = amount + memory_watch.TO_LOOK
        return {"memory.high": amount, "memory.max": most, "memory.swap.max?": 0}

    def watch(self) -> Watch | None:
        """Ask the group."""
        return memory_watch.ByGroup2(self._amount, self._group.folder)


class Scope(Group2):
    """Likewise, made by systemd."""

    way = SCOPE


def _lacks_proc(limits: Sequence[Limit], scene: Scene) -> str:
    del limits, scene
    return "" if os.path.exists("/proc/self/statm") else "there is no /proc"


class Failing(Part):
    """Allocations of each process fail at the limit: MemoryError in Python.

    Only the soft limit is set, so that our agent has memory to tell of the error with.
    """

    memory_error = True

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "RLIMIT_DATA")

    def last(self) -> None:
        """Inherited by all that it starts."""
        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        amount = int(self.limits[0].amount)
        if most == resource.RLIM_INFINITY or amount <= most:
            resource.setrlimit(resource.RLIMIT_DATA, (amount, most))

    def effects(self, ending: Ending) -> list[Effect]:
        """Nobody tells when an allocation fails but the program."""
        reached = ending.failed and any(words in ending.said for words in SAYS_NO_MEMORY)
        detail = "each process by itself"
        return [Effect(self.limits[0].text, self.backend, reached, detail)]


def check(limit: Limit, scene: Scene) -> Limit:
    """That a program could start."""
    del scene
    if limit.amount < LEAST:
        raise UsageError(
            f"--limit {limit.text}: no program fits into {size(limit.amount)}",
            hint="write 500M or 2GiB",
        )
    whole = values.whole_memory()
    if limit.name == "memory" and limit.amount > whole:
        raise UsageError(
            f"--limit {limit.text}: this machine has {size(whole)}, so it is less already",
            hint="take a smaller size",
        )
    return limit


def _always(limits: Sequence[Limit], scene: Scene) -> str:
    del limits, scene
    return ""


KINDS = {
    "memory": Kind(
        "memory",
        "so much memory for the command and all its children together",
        values.read_size,
        (
            Scope.backend_of(),
            Group2.backend_of(),
            Group1.backend_of(),
            Backend("watcher", _lacks_proc, lambda limits, _: Tree(limits, "watcher")),
        ),
        check,
    ),
    "memory-error": Kind(
        "memory-error",
        "allocations of a process over this fail",
        values.read_size,
        (Backend("RLIMIT_DATA", _always, Failing),),
        check,
    ),
}

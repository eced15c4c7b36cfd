"""`memory=SIZE` for a tree of processes; with `memory-error=SIZE` allocations fail instead."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from typing import TYPE_CHECKING

from zeroin.cycle.printed import owner_of
from zeroin.emulate import cgroups, memory_watch, values
from zeroin.emulate.part import Backend, Effect, Kind, Part
from zeroin.errors import UsageError
from zeroin.sizes import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Limit, Scene
    from zeroin.emulate.watch import Watch

LEAST = 1_000_000  # no program starts with less
SECONDS = 5.0  # for systemd to answer
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
            most = f"{size(told.get('peak') or 0)} of {size(self._amount)}"
            return [Effect(text, self.backend, detail=most, notes=tuple(notes))]
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


class _Grouped(Tree):
    """In a control group of its own."""

    version = 0

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, f"cgroup v{self.version}")
        self._group = cgroups.make("memory", self.version, self.settings(limits), scene)

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> dict[str, object]:
        """What is written to the group."""
        raise NotImplementedError

    def before(self) -> None:
        """All that it starts is in the group then."""
        self._group.join()

    def close(self) -> None:
        """The group goes."""
        self._group.remove()

    abandon = close


class Group1(_Grouped):
    """Version 1: who asks for too much waits, and can be looked at."""

    version = 1

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
    """Version 2: the kernel kills at once."""

    version = 2

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> dict[str, object]:
        """No swap: that would only be slow."""
        return {"memory.max": int(limits[0].amount), "memory.swap.max?": 0}

    def watch(self) -> Watch | None:
        """Ask the group."""
        return memory_watch.ByGroup2(self._amount, self._group.folder)


class Scope(Tree):
    """A scope of systemd's, which may make groups where we may not."""

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, "systemd scope")
        unit = f"--unit={cgroups.PREFIX}{scene.name}"
        self.wrap = (*_scope(self._amount), unit, "--")

    def watch(self) -> Watch | None:
        """Ask the group that systemd made."""
        return memory_watch.ByGroup2(self._amount)


def _scope(amount: int) -> tuple[str, ...]:
    whose = () if os.geteuid() == 0 else ("--user",)
    limits = (f"--property=MemoryMax={amount}", "--property=MemorySwapMax=0")
    return ("systemd-run", *whose, "--scope", "--quiet", "--collect", *limits)


def _lacks_scope(limits: Sequence[Limit], scene: Scene) -> str:
    del scene
    if not os.path.isdir("/run/systemd/system"):
        return "systemd is not running"
    if shutil.which("systemd-run") is None:
        return "there is no systemd-run"
    try:
        done = subprocess.run(
            [*_scope(int(limits[0].amount)), "--", "true"],
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "systemd does not answer"
    return done.stderr.decode(errors="replace").strip() if done.returncode else ""


def _lacks_group1(limits: Sequence[Limit], scene: Scene) -> str:
    return cgroups.why_not("memory", 1, Group1.settings(limits), scene)


def _lacks_group2(limits: Sequence[Limit], scene: Scene) -> str:
    return cgroups.why_not("memory", 2, Group2.settings(limits), scene)


def _lacks_proc(limits: Sequence[Limit], scene: Scene) -> str:
    del limits, scene
    return "" if os.path.exists("/proc/self/statm") else "there is no /proc"


class Failing(Part):
    """Allocations of each process fail at the limit: MemoryError in Python."""

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "RLIMIT_DATA")

    def last(self) -> None:
        """Inherited by all that it starts."""
        amount = int(self.limits[0].amount)
        resource.setrlimit(resource.RLIMIT_DATA, (amount, amount))

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
            Backend("systemd scope", _lacks_scope, Scope),
            Backend("cgroup v2", _lacks_group2, Group2),
            Backend("cgroup v1", _lacks_group1, Group1),
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

"""The panel of processes: those whose name or command line holds a word, or a whole tree.

They need not run yet, and those that have ended are remembered with their peaks.
"""

from __future__ import annotations

import os
import re
import time

from zeroin.named import NamedTuple
from zeroin.observe.watch import details
from zeroin.observe.watch.processes import above
from zeroin.tools.watch.member import Member
from zeroin.tools.watch.things import Panel, Peak, Thing, new_curve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zeroin.observe.watch.processes import Process, Table

OURS = re.compile(r"(?:^|[/\s\"'])(?:zeroin|zin)[\"']?\s+[a-z]+(?:\s|$)")
REMEMBERED = 1000  # processes that have ended
PSS_SHARE = 0.1  # of the time may go into counting shared pages


class Choice(NamedTuple):
    """Which processes, and how they are shown."""

    sort: str = "memory"  # or cpu, age, pid
    top: int = 20
    tree: bool = False
    pss: bool = False
    uid: int | None = None


class Processes:
    """Follows the processes of one WHAT."""

    kind = "processes"

    def __init__(
        self, what: str, choice: Choice, *, root: int | None = None, below_only: bool = False
    ) -> None:
        self.what = what
        self.choice = choice
        self.members: dict[int, Member] = {}
        self.ended: list[Member] = []
        self.gone = 0
        self.was_there = False
        self.peak = Peak()
        self.gpu_peak = Peak()
        self.curve, self.cpu_curve = new_curve(), new_curve()
        self._root = root
        self._below_only = below_only  # the tree without its root
        self._word = what.removeprefix("name:").casefold()
        self._all = what == "all"
        self._names: dict[int, str] = {}
        self._above = above(os.getpid())
        self._turn = 0
        self._pss_due = 0.0

    def refresh(self, news: Iterable[Process], table: Table) -> None:
        """Take in those that are new, with their families where trees are asked for."""
        news = list(news)
        whole = self.choice.tree or self._root is not None
        for process in news:
            member = self.members.get(process.pid)
            if member is not None and not whole and self._has_left(member):
                del self.members[process.pid]
        fresh = [p for p in news if p.pid not in self.members and self._is_wanted(p)]
        if whole and not fresh and any(p.parent in self.members for p in news):
            fresh = self._below(table)
        while fresh:
            for process in fresh:
                process.follow()
                self.members[process.pid] = Member(process)
            fresh = self._below(table) if whole else []

    def regroup(self, known: list[Process], table: Table) -> None:
        """Trees are asked for from now on, or not any more."""
        if not self.choice.tree and self._root is None:
            kept = {pid: m for pid, m in self.members.items() if self._is_wanted(m.process)}
            self.members = kept
        for member in self.members.values():
            member.depth = 0
        self.refresh(known, table)

    def _below(self, table: Table) -> list[Process]:
        return [
            p
            for p in table.processes.values()
            if p.pid not in self.members and p.parent in self.members and not self._is_strange(p)
        ]

    def _has_left(self, member: Member) -> bool:
        """A shell's child that runs a program of its own now; not one with another title."""
        if self._is_wanted(member.process):
            return False
        program = member.process.program()
        return program is not None and program != member.program

    def look(
        self, now: float, stamp: float, gpus: dict[int, int], ended: Callable[[Process], None]
    ) -> Panel:
        """One sample of all; closely of those that are shown."""
        self._turn += 1
        self.was_there = self.was_there or bool(self.members)
        for pid, member in list(self.members.items()):
            end = member.look(now, self._turn)
            if end:
                del self.members[pid]
                self._bury(member)
                if end == "gone":
                    ended(member.process)
            elif gpus or member.gpu is not None:
                member.hold(gpus)
        if self.choice.pss:
            self._count_shared(now)
        shown = self._order()[: self.choice.top]
        for member in self.members.values():
            member.shown = False
        for member in shown:
            member.shown = True
            member.look_closely(now, self._turn)
        things = [member.thing(self._user(member)) for member in shown]
        return Panel(
            self.what,
            self.kind,
            things,
            self._total(stamp),
            len(self.members),
            [m.thing(self._user(m), ended=True) for m in self.ended[: self.choice.top]],
            self.gone,
            "" if self.members else self._waiting(),
        )

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self.peak, self.gpu_peak = Peak(), Peak()
        for member in self.members.values():
            member.forget_peaks()

    def lasting(self) -> list[Thing]:
        """All that were seen, for the summary: the largest peaks first."""
        alive = [m.thing(self._user(m)) for m in self.members.values()]
        dead = [m.thing(self._user(m), ended=True) for m in self.ended]
        return sorted(alive + dead, key=lambda thing: -(thing.peak or 0))

    def _is_wanted(self, process: Process) -> bool:
        if self._below_only:
            return process.parent == self._root
        if self._root is not None:
            return process.pid == self._root and not self.gone
        if self._all:
            return not self._is_strange(process)
        found = self._word in process.command.casefold() or self._word in process.name.casefold()
        return found and not self._is_strange(process)

    def _is_strange(self, process: Process) -> bool:
        """Our kind, and whoever started us: the word is in their arguments; other users."""
        if self.choice.uid is not None and process.uid != self.choice.uid:
            return True
        if self._root is not None or self._all or "zeroin" in self._word:
            return False
        return process.pid in self._above or bool(OURS.search(process.command))

    def _order(self) -> list[Member]:
        members = sorted(self.members.values(), key=self._rank)
        if not self.choice.tree:
            return members
        below: dict[int, list[Member]] = {}
        for member in members:
            below.setdefault(member.process.parent, []).append(member)
        tops = [m for m in members if m.process.parent not in self.members]
        found: list[Member] = []
        queue = [(m, 0) for m in reversed(tops)]
        while queue:
            member, member.depth = queue.pop()
            found.append(member)
            children = below.get(member.process.pid, [])
            queue += [(child, member.depth + 1) for child in reversed(children)]
        return found

    def _rank(self, member: Member) -> tuple[float, int]:
        stat, sort = member.stat, self.choice.sort
        if sort == "cpu":
            first = -(member.cpu or 0.0)
        elif sort == "age":
            first = float(-member.process.start)
        elif sort == "pid" or stat is None:
            first = 0.0
        else:
            first = -float(member.pss if self.choice.pss and member.pss else stat.rss)
        return first, member.process.pid

    def _total(self, stamp: float) -> Thing | None:
        memory = threads = gpu = shared = 0
        cpu = 0.0
        for member in self.members.values():
            if member.stat is not None:
                memory += member.stat.rss
                threads += member.stat.threads
                cpu += member.cpu or 0.0
                gpu += member.gpu or 0
                # Of another user's process only the RSS is known: that is too much, not too little.
                shared += member.stat.rss if member.pss is None else member.pss
        pss = shared if self.choice.pss else None
        real = memory if pss is None else pss
        self.peak.take(real, stamp)
        self.gpu_peak.take(gpu, stamp)
        self.curve.append(real)
        self.cpu_curve.append(cpu)
        if not self.members:
            return None
        return Thing(
            self.what,
            cpu=cpu,
            memory=memory,
            pss=pss,
            peak=int(self.peak.value),
            gpu=gpu or None,
            threads=threads,
            curve=self.curve,
            cpu_curve=self.cpu_curve,
        )

    def _count_shared(self, now: float) -> None:
        """Of new ones at once, since a sum needs all; of the others as often as it may cost."""
        due = now >= self._pss_due
        began = time.monotonic()
        for member in self.members.values():
            if due or not member.counted:
                member.counted = True
                member.pss = details.proportional(member.process.path)
        if due:
            self._pss_due = now + (time.monotonic() - began) / PSS_SHARE

    def _bury(self, member: Member) -> None:
        self.gone += 1
        member.age = member.process.age
        member.curve.clear()
        member.cpu_curve.clear()
        self.ended.insert(0, member)
        if len(self.ended) > REMEMBERED:
            self.ended.remove(min(self.ended, key=lambda m: m.peak))

    def _waiting(self) -> str:
        if self._root is not None:
            return "it has ended" if self.gone else f"there is no process {self._root}"
        hidden = "" if os.path.exists("/proc/1") else "; those of others are hidden here (hidepid)"
        return "all have ended" if self.gone else f"waiting for {self.what!r}{hidden}"

    def _user(self, member: Member) -> str:
        uid = member.process.uid
        if uid not in self._names:
            import pwd

            try:
                self._names[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._names[uid] = str(uid)
        return self._names[uid]

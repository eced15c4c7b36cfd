"""Hears what agents say: snapshots and runners that come and go, files used, failures held."""

from __future__ import annotations

import functools

from zeroin.run.aside import Aside
from zeroin.run.warm import leaving, wrapper
from zeroin.run.warm.holder import Holder
from zeroin.run.warm.lines import Listener
from zeroin.run.warm.spool import Spool
from zeroin.run.warm.standby import Standby
from zeroin.run.warm.table import Runner, Snapshot, Table, available

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zeroin.run.warm.lines import Line

SLICE = 0.2  # seconds between two looks whether a debugger shall end
MANY_FAULTS = 8192  # of a resumed run, at a page each,
PARTS = 4  # and no less than one in so many of all its pages
PAGE = 4096
ROOM = 4  # times what a spare copies must be free
DEATHS = 3  # spares of one snapshot that may die before nobody asks for another


class Exchange:
    """All lines, and what became known on them."""

    def __init__(self, folder: str, budget_bytes: int, most: int) -> None:
        self.folder = folder
        self.spool = Spool()
        self.used: set[str] = set()  # the files that the program depends on
        self.gate: tuple[str, str] | None = None  # since where there are no snapshots, and why
        self.retreated: tuple[int | None, str] | None = None  # the last run can't be trusted
        self.failure: Holder | None = None
        self.profile: list[dict[str, Any]] = []  # what each statement took, of the last run
        self.aside = Aside()
        self.aside.busy = self._is_busy
        self.table = Table(budget_bytes, most, self._dropped)
        self.standby: Standby | None = None
        self.faults = 0  # of the last run that was resumed
        self.through = ""  # what waits for the program, if that is not us
        self._below = ""  # why the program is not all of what was started
        self._speaks = 0  # the process of the run that has spoken
        self._first = 0  # the id from which the present program counts its snapshots
        self._preferred: int | None = None
        self._use_anew = True
        self._starting = False  # a program goes on already, but its run has not begun to listen
        self._early: list[tuple[Line, dict[str, Any]]] = []
        self._leaving = leaving.Leaving(self.aside.keep)
        self._roles: dict[Line, Snapshot | Runner | Holder | Standby | None] = {}
        self._listener = Listener(folder)
        self._own = Aside()  # only what agents say, for when nothing else may be heard
        self._own.add(self._listener.fileno(), self._answer)
        self.aside.add(self._own.fileno(), self._own.serve)

    def close(self) -> None:
        """End all that was kept; it is gone when this returns."""
        self.table.remove_after(-1)
        for line in list(self._roles):
            self._hang_up(line)
        self._listener.close()
        self._leaving.empty()
        self.spool.close()
        self._own.close()
        self.aside.close()

    @property
    def snapshots(self) -> list[Snapshot]:
        """Those that can be used, oldest first."""
        return [snapshot for snapshot in self.table if snapshot.pid]

    def _is_busy(self) -> bool:
        """Whether a process of ours has been forked, and not frozen yet."""
        holds = self.failure is not None and not self.failure.pid
        return holds or any(not snapshot.pid for snapshot in self.table)

    # --- what agents say ----------------------------------------------------------------------

    def _answer(self) -> None:
        while (line := self._listener.accept()) is not None:
            self._roles[line] = None
            self._own.add(line.fileno(), functools.partial(self._hear, line))

    def _hear(self, line: Line) -> None:
        for message in line.read():
            if line in self._roles:
                self._take(line, message)
        if line.ended:
            self._hang_up(line)

    def _hang_up(self, line: Line) -> None:
        """A line has ended, from either side: so does the process there, unless it runs."""
        if line not in self._roles:
            return
        role = self._roles.pop(line)
        self._own.remove(line.fileno())
        line.close()
        if isinstance(role, Snapshot):
            self.table.remove(role)
        elif isinstance(role, Holder):
            self.failure = None
        elif isinstance(role, Runner):
            self._lost_runner(role)
        elif isinstance(role, Standby):
            role.line, role.is_lost = None, True
            return  # it is ended, and waited for, by whoever started it
        if role is not None:
            self._leaving.add(role.pid)

    def _lost_runner(self, runner: Runner) -> None:
        snapshot = self.table.get(runner.of)
        if snapshot is not None and snapshot.spare is runner:
            snapshot.spare = None
            snapshot.deaths += 1
            if self.aside.run is None:
                self._ask_for_spares()

    def _dropped(self, snapshot: Snapshot) -> None:
        """It is not in the table any more."""
        spare, snapshot.spare = snapshot.spare, None
        snapshot.asked = False
        self._hang_up(snapshot.line)
        if spare is not None:
            self._hang_up(spare.line)

    def _asker(self) -> int:
        """The process that takes the snapshots now: not always the one that was started."""
        run = self.aside.run
        return (run.ticks or run.pid) if run is not None else 0

    def _take_early(self) -> None:
        """What a resumed program said before its run could hear it."""
        self._starting = False
        early, self._early = self._early, []
        for line, message in early:
            if line in self._roles or message.get("kind") == "retreat":
                self._take(line, message)

    def _take(self, line: Line, message: dict[str, Any]) -> None:
        if self._starting and message.get("kind") in {"snapshot", "retreat"}:
            if self.aside.run is None:
                self._early.append((line, message))
                return
            self._take_early()
        match message.get("kind"):
            case "snapshot":
                self._take_snapshot(line, message)
            case "frozen":
                self._take_frozen(line, message)
            case "runner":
                self._take_runner(line, message)
            case "resumed" | "back":
                runner = self._roles[line]
                if isinstance(runner, Runner | Standby):
                    runner.answer = message
            case "standby" | "parked":
                self._take_standby(line, message)
            case "retreat":
                self._take_retreat(message)
            case "gate":
                at, reason = message.get("at"), message.get("reason")
                reason = self._look_who_speaks(message) or reason
                self.gate = (str(at or ""), str(reason)) if reason else None
            case "used":
                self._take_used(message)
            case "failed":
                self._take_failed(line, message)
            case "profile":
                self.profile = [row for row in message.get("rows") or () if isinstance(row, dict)]
            case "debugged":
                if self.failure is not None and self.failure.line is line:
                    self.failure.is_busy = False

    def _take_snapshot(self, line: Line, message: dict[str, Any]) -> None:
        run = self.aside.run
        refusal = "no run is going on" if run is None or run.stopped else ""
        if run is not None and not refusal:
            run.ticks = int(message.get("pid") or 0)
            run.drain()
            refusal = self.spool.refusal
            if self._look_who_speaks(message):
                refusal = self._below
                self.gate = self.gate or (str(message.get("at") or ""), refusal)
        if refusal:
            line.send({"kind": "refused", "reason": refusal})
            return
        snapshot = Snapshot(line, message, self.spool.size)
        snapshot.spool, snapshot.first = self.spool, self._first
        self._roles[line] = snapshot
        self.table.add(snapshot)
        if not line.send({"kind": "granted"}):
            self._hang_up(line)

    def _look_who_speaks(self, message: dict[str, Any]) -> str:
        """Why the program can't be gone on with, because of what started it; "" if it can."""
        run, pid = self.aside.run, int(message.get("pid") or 0)
        if run is None or not pid or self._below:
            return self._below
        if self._speaks not in (0, pid):
            self._below = "another Python ran before it in the same command"
            self.table.remove_after(-1)
        elif pid not in (self._speaks, run.pid):
            name, self.through = wrapper.between(pid, run.pid)
            self._below = f"{name} started it, and may do more than that" if name else ""
        self._speaks = pid
        return self._below

    def _take_frozen(self, line: Line, message: dict[str, Any]) -> None:
        snapshot = self._roles[line]
        if isinstance(snapshot, Snapshot):
            snapshot.pid = int(message.get("pid") or 0)
            self.aside.keep.add(snapshot.pid)
            self.table.thin(self._asker())
            self._leaving.tidy(self.aside.run.pid if self.aside.run is not None else 0)

    def _take_runner(self, line: Line, message: dict[str, Any]) -> None:
        runner = Runner(line, int(message.get("of") or 0), int(message.get("pid") or 0))
        snapshot = self.table.get(runner.of)
        self._roles[line] = runner
        self.aside.keep.add(runner.pid)
        # Ids are used again after a resume: a late fork of one that was dropped is not this one's.
        if (
            snapshot is None
            or not snapshot.asked
            or not leaving.is_younger(runner.pid, snapshot.pid)
        ):
            self._hang_up(line)
            return
        snapshot.asked, snapshot.spare = False, runner

    def _take_standby(self, line: Line, message: dict[str, Any]) -> None:
        standby = self.standby
        if standby is None or message.get("pid") != standby.pid:
            self._hang_up(line)  # one that was given up
            return
        standby.line = line
        self._roles[line] = standby
        if message.get("kind") == "parked":
            standby.is_parked = True
            standby.at = str(message.get("at") or "")
            standby.seconds = float(message.get("seconds") or 0.0)

    def _take_retreat(self, message: dict[str, Any]) -> None:
        to = message.get("to")
        reason = str(message.get("reason") or "it can't go on soundly")
        self.retreated = (to if isinstance(to, int) else None, reason)
        self.table.remove_after(to if isinstance(to, int) else -1)
        if self.aside.run is not None:
            self.aside.run.stop(grace=0.0)

    def _take_used(self, message: dict[str, Any]) -> None:
        # Until a new program speaks, the old one's files are watched; at its end it says all, and
        # leaves out what it wrote after it had told of it.
        self._look_who_speaks(message)
        if self._use_anew or (message.get("all") and not self._below):
            self.used = set()
            self._use_anew = False
        self.used.update(filter(None, map(str, message.get("files") or ())))

    def _take_failed(self, line: Line, message: dict[str, Any]) -> None:
        """First the program says that one is on its way, then the one itself says who it is."""
        if self.failure is not None and self.failure.line is not line:
            self._hang_up(self.failure.line)
        if self.failure is None:
            self._roles[line] = self.failure = Holder(self, line)
        self.failure.pid = int(message.get("pid") or 0)
        if self.failure.pid:
            self.aside.keep.add(self.failure.pid)

    def wait_for(self, holder: Holder, over: Callable[[], bool]) -> None:
        """Until its debugger has ended, however long a user takes; or until it is to end."""
        while holder.is_busy and holder.line in self._roles:
            self._own.serve(SLICE)
            if over():
                self._hang_up(holder.line)

    # --- spares -------------------------------------------------------------------------------

    def _ask_for_spares(self) -> None:
        newest = self.table.newest()
        wanted = {self._preferred, newest.id if newest is not None else None}
        for snapshot in self.snapshots:
            if snapshot.id in wanted:
                self._ask(snapshot)
            elif snapshot.spare is not None:
                self._hang_up(snapshot.spare.line)

    def _copies(self, snapshot: Snapshot) -> int:
        """How many bytes a spare may copy ahead: where runs copy much, and there is room for it."""
        much = self.faults >= MANY_FAULTS and self.faults * PAGE * PARTS >= snapshot.rss
        if not much or snapshot is not self.table.newest() or available() < ROOM * snapshot.rss:
            return 0
        return 2 * snapshot.rss

    def _ask(self, snapshot: Snapshot) -> None:
        if snapshot.spare is None and not snapshot.asked and snapshot.deaths < DEATHS:
            snapshot.asked = snapshot.line.send({"kind": "fork", "own": self._copies(snapshot)})
            if not snapshot.asked:
                self.table.remove(snapshot)

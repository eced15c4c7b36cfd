"""Keeps a program's snapshots, and starts the next run from the newest one that is valid.

It judges nothing itself: a fork of a snapshot re-reads the files it depends on and says whether
it can go on, or which older one can. Every wait for an agent has a limit; one that does not
answer is given up, and an older one is asked.
"""

from __future__ import annotations

import functools
import os
import signal
import time

from zeroin.named import NamedTuple
from zeroin.run import tree
from zeroin.run.agent_order import WarmOrder
from zeroin.run.aside import Aside
from zeroin.run.inbox import make_private_folder
from zeroin.run.warm import folders, leaving
from zeroin.run.warm.connection import Connection
from zeroin.run.warm.holder import Holder
from zeroin.run.warm.program_facts import ProgramFacts
from zeroin.run.warm.spares import Spares
from zeroin.run.warm.spool import Spool
from zeroin.run.warm.standby import Standby
from zeroin.run.warm.standby_keeper import StandbyKeeper
from zeroin.run.warm.table import Runner, Snapshot, Table, available

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Self

    from zeroin.run.warm.connection import Role
    from zeroin.run.warm.lines import Line
    from zeroin.run.warm.standby import Command, Place
    from zeroin.run.wires import Wire

MOST = 24  # snapshots
FREEZE_LIMIT = 2.0  # seconds for the last snapshot of a program that has ended,
FORK_LIMIT = 10.0  # seconds for a snapshot to fork,
JUDGE_LIMIT = 30.0  # and for a runner to decide
IDLE = 0.2  # seconds after a run until the memory of its snapshots is looked at
SLICE = 0.05  # seconds between two looks for Ctrl-C
DEBUGGER_SLICE = 0.2  # seconds between two looks whether a debugger shall end


class NeedsCold(Exception):  # noqa: N818 - it is an answer
    """No snapshot is valid. Nothing has run, and nothing was shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Came(NamedTuple):
    """How a run came to be."""

    id: int | None  # of the snapshot it went on from; None for a cold start
    at: str  # "train.py:88"
    saved: float  # seconds
    reason: str  # why not from a newer one, or why cold; "" when nothing stood in the way


COLD = Came(None, "", 0.0, "")


class Engine:
    """The snapshots of one program, over many runs. A context manager.

    `connection` hears agents, `table` has the snapshots and `spares` their forks, `facts` what
    the program told, `standby_keeper` a program that runs ahead, `spool` the output to replay.
    """

    def __init__(
        self,
        folder: str | None = None,
        *,
        budget_bytes: int | None = None,
        most: int = MOST,
        profile: bool = False,
    ) -> None:
        self._adopts = tree.adopt_orphans()
        self._lock: int | None = None  # of the folder, if we have made it
        if folder is None:  # beside the inboxes, and as private
            folder, self._lock = make_private_folder()
        self.folder = folder
        self._measures = profile
        self.aside = Aside()
        self.aside.busy = self._is_busy
        self._leaving = leaving.Leaving(self.aside.keep)
        budget = available() // 4 if budget_bytes is None else budget_bytes
        self.table = Table(budget, most, self._drop_snapshot)
        self.facts = ProgramFacts()
        self.spool = Spool()
        self.failure: Holder | None = None
        self._connection = Connection(self.folder, self._take, self._lose)
        self._spares = Spares(self.table, self._connection)
        self._standbys = StandbyKeeper(self.folder, self._connection, self.aside, self._leaving)
        self.aside.add(self._connection.aside.fileno(), self._connection.aside.serve)
        self.came = COLD
        self.came_ahead = False  # whether the last run had been a standby
        self._program: Line | None = None  # the line that a resumed program keeps
        self._first = 0  # the id from which the present program counts its snapshots
        self._handed: list[Wire] = []  # of a standby that has become the program
        self._starting = False  # a program goes on already, but its run has not begun to listen
        self._early: list[tuple[Line, dict[str, Any]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that was kept; it is gone when this returns."""
        self._standbys.close()
        self.table.remove_after(-1)
        self._connection.hang_up_all()
        self._leaving.empty()
        self.spool.close()
        self._connection.aside.close()
        self.aside.close()
        if self._adopts:
            tree.release_orphans()
            self._adopts = False
        if self._lock is not None:
            folders.remove(self.folder)
            os.close(self._lock)
            self._lock = None

    # --- what is known ------------------------------------------------------------------------

    @property
    def snapshots(self) -> list[Snapshot]:
        """Those that can be used, oldest first."""
        return [snapshot for snapshot in self.table if snapshot.pid]

    @property
    def gate(self) -> tuple[str, str] | None:
        """Since where there are no snapshots, and why."""
        return self.facts.gate

    @property
    def used(self) -> set[str]:
        """The files that the program depends on."""
        return self.facts.used

    @property
    def retreated(self) -> tuple[int | None, str] | None:
        """The newest good snapshot, and why, if the last run can't be trusted."""
        return self.facts.retreated

    @property
    def profile(self) -> list[dict[str, Any]]:
        """What each statement took, of the last run."""
        return self.facts.profile

    @property
    def through(self) -> str:
        """What waits for the program, if that is not us."""
        return self.facts.through

    @property
    def standby(self) -> Standby | None:
        """The program that runs ahead in the background."""
        return self._standbys.standby

    def held_bytes(self) -> int:
        """Memory that is free when all snapshots are gone. Takes milliseconds."""
        return self.table.measure(self._asker())

    def _is_busy(self) -> bool:
        """Whether a process of ours has been forked, and not frozen yet."""
        holds = self.failure is not None and not self.failure.pid
        return holds or any(not snapshot.pid for snapshot in self.table)

    def _asker(self) -> int:
        """The process that takes the snapshots now: not always the one that was started."""
        run = self.aside.run
        return run.clocked if run is not None else 0

    def _running(self) -> int:
        """The process of the run that goes on; 0 if there is none."""
        return self.aside.run.pid if self.aside.run is not None else 0

    # --- one run ------------------------------------------------------------------------------

    def order(self) -> WarmOrder:
        """How a program that is started cold is stepped."""
        return WarmOrder(self.folder, profiled=self._measures)

    def begin_cold(self, reason: str = "") -> None:
        """Forget everything about earlier runs."""
        self.end_standby()
        self._forget_the_last()
        self._first = 0
        self.table.remove_after(-1)
        self.table.origin = None
        self.facts.begin_cold()
        self.spool.cut(0)
        self.came = COLD._replace(reason=reason)

    def starter(
        self,
        agent: str,
        *,
        strict: bool = False,
        lenient: bool = False,
        environ: Mapping[str, str] | None = None,
        every: float | None = None,
    ) -> Starter:
        """What `Run.execute` takes as `start`, to go on from a snapshot."""
        order = {
            "kind": "go",
            "agent": agent,
            "warm": self.folder,
            "strict": strict,
            "lenient": lenient,
            "environ": dict(environ) if environ is not None else None,
            "every": every,  # seconds between further snapshots, if not as it pleases
        }
        return Starter(self, order)

    def look(self, *, strict: bool = False, lenient: bool = False) -> None:
        """Let the spare of the newest look at an edit already: it will be told to go soon."""
        newest = self.table.newest()
        if newest is not None and newest.spare is not None and self.standby is None:
            newest.spare.line.send({"kind": "look", "strict": strict, "lenient": lenient})

    def tap(self, stream: str, data: bytes) -> bool:
        """What `Run.execute` takes as `tap`: the output, to be replayed."""
        return self.spool.add(stream, data)

    def note_faults(self, faults: int) -> None:
        """Learn from a resumed run how much of a snapshot's memory is written to."""
        self._spares.note_faults(faults)

    def rest(self) -> None:
        """Hear what is left of a run that has ended, tidy up, ask for spares."""
        self._take_early()
        self._wait(
            lambda: not self._connection.aside.serve() and not self.aside.busy(), FREEZE_LIMIT
        )
        if self._program is not None:  # its snapshots have a copy of the line
            self._connection.hang_up(self._program)
        for snapshot in self.table:
            if not snapshot.pid:
                self.table.remove(snapshot)
        self._leaving.tidy()
        self._spares.ask_for_all()
        self.aside.later(IDLE, self._thin)

    def _thin(self) -> None:
        """Keep to the budget while nobody waits for us: looking takes milliseconds for each."""
        if self.aside.run is None and self.table.thin(at_once=True):
            self.aside.later(IDLE, self._thin)
        self._leaving.tidy(self._running())

    # --- between runs -------------------------------------------------------------------------

    def prefer(self, id_: int | None) -> None:
        """Where the next edit is expected: a spare waits there, and one at the newest."""
        self._spares.prefer(id_)
        if self.aside.run is None:
            self._spares.ask_for_all()

    def keep_only(self, id_: int | None) -> None:
        """All others are of no use, or all if it is None."""
        for snapshot in self.table:
            if snapshot.id != id_:
                self.table.remove(snapshot)

    def stand_by(self, command: Command, place: Place, peak_bytes: int) -> bool:
        """Run ahead to a place; False if it won't do, or if there is no room for it."""
        self.end_standby()
        if self.facts.below or self.through:  # it would be asked, and can't answer for the others
            return False
        return self._standbys.start(command, place, peak_bytes)

    def end_standby(self) -> None:
        """No process of the program is left in the background when this returns."""
        self._standbys.end()

    def wait_for_debugger(self, holder: Holder, over: Callable[[], bool]) -> None:
        """Until its debugger has ended, however long a user takes; or until it is to end."""
        while holder.is_busy and self._connection.is_open(holder.line):
            self._connection.aside.serve(DEBUGGER_SLICE)
            if over():
                self._connection.hang_up(holder.line)

    # --- going on from a snapshot -------------------------------------------------------------

    def resume(self, order: dict[str, Any], ends: tuple[int, int]) -> int:
        """Ask the newest, follow it back to older ones; the pid of what is now the program."""
        # A run that went back in its midst says more than the snapshot it went back to.
        reason = self.retreated[1] if self.retreated is not None else ""
        self._forget_the_last()
        while self._connection.aside.serve():
            pass
        standby = self._standbys.ask(order, self.table.newest(), self._wait)
        reason = reason or standby.reason
        self._starting = True
        self.aside.later(0.0, self._take_early)  # by then there is a run
        if standby.standby is not None:
            return self._became_standby(standby.standby, standby.first)
        snapshot = self.table.newest()
        while snapshot is not None:
            runner = self._go(snapshot, order, ends)
            answer = runner.answer if runner is not None else None
            if runner is None or answer is None:
                reason = reason or f"the snapshot before {snapshot.at} is gone"
                self.table.remove(snapshot)
                snapshot = self.table.newest(snapshot.id - 1)
            elif answer["kind"] == "resumed":
                return self._became(snapshot, runner, answer, reason)
            else:
                self._connection.hang_up(runner.line)
                reason = reason or str(answer.get("reason") or "")
                to = answer.get("to")
                older = min(to, snapshot.id - 1) if isinstance(to, int) else snapshot.first - 1
                snapshot = self.table.newest(older)
        raise NeedsCold(reason or "there is no snapshot")

    def _go(
        self, snapshot: Snapshot, order: dict[str, Any], ends: tuple[int, int]
    ) -> Runner | None:
        """Tell a fork of it to go; that fork with its answer, None when there is none."""
        snapshot.deaths = 0
        for _ in range(2):  # a spare may have died while nobody looked
            self._spares.ask_for_one(snapshot)
            self._wait(lambda: snapshot.spare is not None or not snapshot.asked, FORK_LIMIT)
            runner, snapshot.spare = snapshot.spare, None
            if runner is None:
                return None
            if runner.line.send(order, ends):
                self._wait(functools.partial(self._is_decided, runner), JUDGE_LIMIT)
                if runner.answer is not None and leaving.is_ours(runner.pid):
                    return runner
            self._connection.hang_up(runner.line)
            leaving.end(runner.pid)
        return None

    def _is_decided(self, runner: Runner) -> bool:
        return runner.answer is not None or not self._connection.is_open(runner.line)

    def _wait(self, done: Callable[[], object], limit: float) -> None:
        until = time.monotonic() + limit
        while not done() and time.monotonic() < until:
            if signal.SIGINT in signal.sigpending():  # `Run` has it blocked; it comes right after
                raise NeedsCold("interrupted")
            self._connection.aside.serve(SLICE)

    def _became(
        self, snapshot: Snapshot, runner: Runner, answer: dict[str, Any], reason: str
    ) -> int:
        self.aside.keep.discard(runner.pid)
        self.table.remove_after(snapshot.id)
        self.table.origin = snapshot.id
        self.spool, self._first = snapshot.spool, snapshot.first
        self.spool.cut(snapshot.cut)
        self._program = runner.line
        self._connection.assign_role(runner.line, None)
        at = str(answer.get("at") or snapshot.at)
        self.came = Came(snapshot.id, at, float(answer.get("seconds") or 0.0), reason)
        return runner.pid

    def _became_standby(self, standby: Standby, first: int) -> int:
        self._handed = standby.hand_over()
        self.spool = standby.spool
        self._first = first
        self.table.origin = None
        answer = standby.answer or {}
        at = str(answer.get("at") or standby.at)
        self._program = standby.line
        self.came = Came(None, at, float(answer.get("seconds") or 0.0), "")
        self.came_ahead = True
        return standby.pid

    def handed_over(self) -> list[Wire]:
        """What `Run.execute` takes as `also`."""
        handed, self._handed = self._handed, []
        return handed

    def _forget_the_last(self) -> None:
        """What belongs to the run before."""
        self.facts.forget_run()
        self._spares.prefer(None)
        self.came_ahead = False
        self._starting = False
        self._early.clear()
        for line in (self._program, self.failure.line if self.failure is not None else None):
            if line is not None:
                self._connection.hang_up(line)
        self._program = None

    # --- what agents say ----------------------------------------------------------------------

    def _take_early(self) -> None:
        """What a resumed program said before its run could hear it."""
        self._starting = False
        early, self._early = self._early, []
        for line, message in early:
            if self._connection.is_open(line) or message.get("kind") == "retreat":
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
                runner = self._connection.role_of(line)
                if isinstance(runner, Runner | Standby):
                    runner.answer = message
            case "standby" | "parked":
                self._standbys.take_message(line, message)
            case "retreat":
                self.table.remove_after(self.facts.note_retreat(message))
                if self.aside.run is not None:
                    self.aside.run.stop(grace=0.0)
            case "gate":
                self._note_speaker(message)
                self.facts.note_gate(message)
            case "used":
                self._note_speaker(message)
                self.facts.note_used(message)
            case "failed":
                self._take_failed(line, message)
            case "profile":
                self.facts.note_profile(message)
            case "debugged":
                if self.failure is not None and self.failure.line is line:
                    self.failure.is_busy = False

    def _take_snapshot(self, line: Line, message: dict[str, Any]) -> None:
        run = self.aside.run
        refusal = "no run is going on" if run is None or run.stopped else ""
        if run is not None and not refusal:
            run.send_clock_to(int(message.get("pid") or 0))
            run.drain()
            refusal = self.spool.refusal
            self._note_speaker(message)
            if self.facts.below:
                refusal = self.facts.below
                if self.gate is None:
                    self.facts.note_gate(message)
        if refusal:
            line.send({"kind": "refused", "reason": refusal})
            return
        snapshot = Snapshot(line, message, self.spool.size, self.spool, self._first)
        self._connection.assign_role(line, snapshot)
        self.table.add(snapshot)
        if not line.send({"kind": "granted"}):
            self._connection.hang_up(line)

    def _note_speaker(self, message: dict[str, Any]) -> None:
        if self.facts.note_speaker(message, self._running()):
            self.table.remove_after(-1)

    def _take_frozen(self, line: Line, message: dict[str, Any]) -> None:
        snapshot = self._connection.role_of(line)
        if isinstance(snapshot, Snapshot):
            snapshot.pid = int(message.get("pid") or 0)
            self.aside.keep.add(snapshot.pid)
            self.table.thin(self._asker())
            self._leaving.tidy(self._running())

    def _take_runner(self, line: Line, message: dict[str, Any]) -> None:
        runner = Runner(line, int(message.get("of") or 0), int(message.get("pid") or 0))
        snapshot = self.table.get(runner.of)
        self._connection.assign_role(line, runner)
        self.aside.keep.add(runner.pid)
        # Ids are used again after a resume: a late fork of one that was dropped is not this one's.
        if (
            snapshot is None
            or not snapshot.asked
            or not leaving.is_younger(runner.pid, snapshot.pid)
        ):
            self._connection.hang_up(line)
            return
        snapshot.asked, snapshot.spare = False, runner

    def _take_failed(self, line: Line, message: dict[str, Any]) -> None:
        """First the program says that one is on its way, then the one itself says who it is."""
        if self.failure is not None and self.failure.line is not line:
            self._connection.hang_up(self.failure.line)
        if self.failure is None:
            self.failure = Holder(self, line)
            self._connection.assign_role(line, self.failure)
        self.failure.pid = int(message.get("pid") or 0)
        if self.failure.pid:
            self.aside.keep.add(self.failure.pid)

    def _lose(self, role: Role) -> None:
        """Take notice that whoever was at the end of a line is leaving."""
        if isinstance(role, Standby):
            role.line, role.is_lost = None, True
            return  # it is ended, and waited for, by whoever started it
        if isinstance(role, Snapshot):
            self.table.remove(role)
        elif isinstance(role, Holder):
            self.failure = None
        elif isinstance(role, Runner) and self._spares.note_loss(role) and self.aside.run is None:
            self._spares.ask_for_all()
        if role is not None:
            self._leaving.add(role.pid)

    def _drop_snapshot(self, snapshot: Snapshot) -> None:
        """End a snapshot and its spare: it is not in the table any more."""
        spare, snapshot.spare = snapshot.spare, None
        snapshot.asked = False
        self._connection.hang_up(snapshot.line)
        if spare is not None:
            self._connection.hang_up(spare.line)


class Starter:
    """Starts a program from a snapshot: `start` and `prologue` of `Run.execute`."""

    def __init__(self, engine: Engine, order: dict[str, Any]) -> None:
        self._engine = engine
        self._order = order

    def __call__(self, out: int, err: int) -> int:
        """Give the program its ends of the wires; its pid, or NeedsCold."""
        return self._engine.resume(self._order, (out, err))

    def wires(self) -> list[Wire]:
        """What the program writes to already: `also` of `Run.execute`."""
        return self._engine.handed_over()

    @property
    def prologue(self) -> Iterator[tuple[str, bytes]]:
        """What was written up to the snapshot; looked up when it is first asked for."""
        yield from self._engine.spool.pieces()

"""Keeps a program's snapshots, and starts the next run from the newest one that is valid.

It judges nothing itself: a fork of a snapshot re-reads the files it depends on and says whether
it can go on, or which older one can. Every wait for an agent has a limit; one that does not
answer is given up, and an older one is asked.
"""

from __future__ import annotations

import functools
import signal
import time

from zeroin.named import NamedTuple
from zeroin.run import tree
from zeroin.run.warm import folders, leaving
from zeroin.run.warm.ahead import Ahead
from zeroin.run.warm.table import available

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Self

    from zeroin.run.warm.lines import Line
    from zeroin.run.warm.standby import Standby
    from zeroin.run.warm.table import Runner, Snapshot
    from zeroin.run.wires import Wire

MOST = 24  # snapshots
FREEZE_LIMIT = 2.0  # seconds for the last snapshot of a program that has ended,
FORK_LIMIT = 10.0  # seconds for a snapshot to fork,
JUDGE_LIMIT = 30.0  # and for a runner to decide
IDLE = 0.2  # seconds after a run until the memory of its snapshots is looked at
SLICE = 0.05  # seconds between two looks for Ctrl-C


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


class Engine(Ahead):
    """The snapshots of one program, over many runs. A context manager."""

    def __init__(
        self,
        folder: str | None = None,
        *,
        budget_bytes: int | None = None,
        most: int = MOST,
        profile: bool = False,
    ) -> None:
        tree.adopt_orphans()
        self._made = folder is None
        budget = available() // 4 if budget_bytes is None else budget_bytes
        super().__init__(folder or folders.make(), budget, most)
        self.came = COLD
        self.came_ahead = False  # whether the last run had been a standby
        self._measures = profile
        self._program: Line | None = None  # the line that a resumed program keeps

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that was kept; it is gone when this returns."""
        super().close()
        if self._made:
            folders.remove(self.folder)

    # --- one run ------------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """What a cold start has in its environment beside the rest."""
        measures = {"ZEROIN_WARM_PROFILE": "1"} if self._measures else {}
        return {"ZEROIN_WARM": self.folder, **measures}

    def begin_cold(self, reason: str = "") -> None:
        """Forget everything about earlier runs."""
        self.end_standby()
        self._forget_the_last()
        self._first = 0
        self.table.remove_after(-1)
        self.table.origin = None
        self.through = ""
        self.spool.cut(0)
        self._use_anew = True
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

    def rest(self) -> None:
        """A run has ended: hear what is left of it, tidy up, ask for spares."""
        self._take_early()
        self._wait(lambda: not self._own.serve() and not self.aside.busy(), FREEZE_LIMIT)
        if self._program is not None:  # its snapshots have a copy of the line
            self._hang_up(self._program)
        for snapshot in self.table:
            if not snapshot.pid:
                self.table.remove(snapshot)
        self._leaving.tidy()
        self._ask_for_spares()
        self.aside.later(IDLE, self._thin)

    def _thin(self) -> None:
        """Keep to the budget while nobody waits for us: looking takes milliseconds for each."""
        if self.aside.run is None and self.table.thin(at_once=True):
            self.aside.later(IDLE, self._thin)
        self._leaving.tidy(self.aside.run.pid if self.aside.run is not None else 0)

    # --- between runs -------------------------------------------------------------------------

    def held_bytes(self) -> int:
        """Memory that is free when all snapshots are gone. Takes milliseconds."""
        return self.table.measure(self._asker())

    def prefer(self, id_: int | None) -> None:
        """Where the next edit is expected: a spare waits there, and one at the newest."""
        self._preferred = id_
        if self.aside.run is None:
            self._ask_for_spares()

    def keep_only(self, id_: int | None) -> None:
        """All others are of no use, or all if it is None."""
        for snapshot in self.table:
            if snapshot.id != id_:
                self.table.remove(snapshot)

    # --- going on from a snapshot -------------------------------------------------------------

    def resume(self, order: dict[str, Any], ends: tuple[int, int]) -> int:
        """Ask the newest, follow it back to older ones; the pid of what is now the program."""
        # A run that went back in its midst says more than the snapshot it went back to.
        reason = self.retreated[1] if self.retreated is not None else ""
        self._forget_the_last()
        while self._own.serve():
            pass
        standby, why = self._ask_standby(order)
        reason = reason or why
        self._starting = True
        self.aside.later(0.0, self._take_early)  # by then there is a run
        if standby is not None:
            return self._became_standby(standby)
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
                self._hang_up(runner.line)
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
            self._ask(snapshot)
            self._wait(lambda: snapshot.spare is not None or not snapshot.asked, FORK_LIMIT)
            runner, snapshot.spare = snapshot.spare, None
            if runner is None:
                return None
            if runner.line.send(order, ends):
                self._wait(functools.partial(self._is_decided, runner), JUDGE_LIMIT)
                if runner.answer is not None and leaving.is_ours(runner.pid):
                    return runner
            self._hang_up(runner.line)
            leaving.end(runner.pid)
        return None

    def _is_decided(self, runner: Runner) -> bool:
        return runner.answer is not None or runner.line not in self._roles

    def _wait(self, done: Callable[[], object], limit: float) -> None:
        until = time.monotonic() + limit
        while not done() and time.monotonic() < until:
            if signal.SIGINT in signal.sigpending():  # `Run` has it blocked; it comes right after
                raise NeedsCold("interrupted")
            self._own.serve(SLICE)

    def _became(
        self, snapshot: Snapshot, runner: Runner, answer: dict[str, Any], reason: str
    ) -> int:
        self.aside.keep.discard(runner.pid)
        self.table.remove_after(snapshot.id)
        self.table.origin = snapshot.id
        self.spool, self._first = snapshot.spool or self.spool, snapshot.first
        self.spool.cut(snapshot.cut)
        self._program = runner.line
        self._roles[runner.line] = None
        at = str(answer.get("at") or snapshot.at)
        self.came = Came(snapshot.id, at, float(answer.get("seconds") or 0.0), reason)
        return runner.pid

    def _became_standby(self, standby: Standby) -> int:
        answer = standby.answer or {}
        at = str(answer.get("at") or standby.at)
        self._program = standby.line
        self.came = Came(None, at, float(answer.get("seconds") or 0.0), "")
        self.came_ahead = True
        return standby.pid

    def _forget_the_last(self) -> None:
        """What belongs to the run before."""
        self.gate = self.retreated = self._preferred = None
        self._below = ""
        self._speaks = 0
        self.came_ahead = False
        self._starting = False
        self._early.clear()
        self.profile = []
        for line in (self._program, self.failure.line if self.failure is not None else None):
            if line is not None:
                self._hang_up(line)
        self._program = None


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

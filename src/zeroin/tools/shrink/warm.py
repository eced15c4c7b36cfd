"""Tries that begin where the program first uses the payload: the rest of it has run already.

The first run of a worker is a whole one. Before the payload is used, the engine takes a snapshot,
and each further try goes on from there. What a try has written is put back before the next one.
"""

from __future__ import annotations

from zeroin.run.apart import Layer, spawn_apart
from zeroin.run.warm import Engine, NeedsCold
from zeroin.tools.shrink.opens import Opens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run
    from zeroin.run.inbox import Inbox
    from zeroin.run.warm.table import Snapshot

NEVER = 1e9  # seconds: no further snapshots
TIMES = 3  # that it may be in vain


class Warm:
    """The engine of one worker.

    Where Python code opens the payload, the snapshot is taken right before that. Where compiled
    code does, as the kernel tells, snapshots are taken by the clock, and the last before that is
    gone on from.
    """

    def __init__(self, view: View) -> None:
        self.engine = Engine()
        self._paths = [path for path, _ in view.instead]
        self._opens = Opens([source for _, source in view.instead])
        self.engine.aside.add(self._opens.fd, self._opens.read)
        self._by_clock = False
        self._before: set[int] = set()  # snapshots that were taken before it was opened
        self.engine.table.on_add = self._taken
        self._layer: Layer | None = None
        self._in_vain = 0
        self.resumed = False
        self.reason = ""  # why not

    def execute(
        self,
        run: Run,
        cycle: Cycle,
        env: dict[str, str],
        inbox: Inbox,
        view: View,
        how: dict[str, Any],
    ) -> Ended:
        """One try."""
        how = how | {"aside": self.engine.aside, "tap": self.engine.tap}
        self.resumed = False
        try:
            if self.engine.snapshots:
                start = self.engine.starter(inbox.folder, every=NEVER)
                on: dict[str, Any] = {
                    "start": start,
                    "prologue": start.prologue,
                    "also": start.wires,
                }
                try:
                    ended = run.execute(cycle.command, cycle.cwd, env, **how, **on)
                except NeedsCold as needed:
                    self.reason = needed.reason
                else:
                    self.resumed = True
                    return ended
            return self._cold(run, cycle, env, view, how)
        finally:
            self.engine.rest()
            self._tidy(view)

    def _cold(
        self, run: Run, cycle: Cycle, env: dict[str, str], view: View, how: dict[str, Any]
    ) -> Ended:
        """From the start, with a snapshot on the way unless that was in vain before."""
        self.engine.begin_cold()
        self._layer = None
        if self._in_vain < TIMES:
            self._in_vain += 1
            env = {**env, **self.engine.environment(), "ZEROIN_WARM_TRY": "1"}
            if not self._by_clock:
                env["ZEROIN_WARM_BEFORE"] = "\n".join(self._paths)
        self._opens.forget()
        self._before.clear()
        start = starting(cycle, env, view)
        ended = run.execute(cycle.command, cycle.cwd, env, start=start, **how)
        self._opens.read()
        if self._by_clock:
            good = [one.id for one in self.engine.snapshots if one.id in self._before]
            self.engine.keep_only(good[-1] if good else None)
        elif not self.engine.snapshots and self.engine.gate is None:
            self._by_clock = self._opens.seen
        return ended

    def _taken(self, snapshot: Snapshot) -> None:
        """Had it been opened before, the kernel would have told by now: it tells at once."""
        self._opens.read()
        if not self._opens.seen:
            self._before.add(snapshot.id)

    def _tidy(self, view: View) -> None:
        """Put back what the try has written; a snapshot for which that can't be is no more."""
        if not self.engine.snapshots:
            if not self.reason:
                self.reason = self._why_none()
            return
        self.reason = ""
        first = self.engine.snapshots[0]
        self.engine.keep_only(first.id)  # what was taken at the end has used the payload
        pid = first.pid
        try:
            if self._layer is None:
                self._layer = Layer(pid, view)
            good = self._layer.put_back()
        except OSError:
            good = False
        if good:
            self._in_vain = 0
        else:
            self.engine.begin_cold()
            self.reason = "files that the program had made before were changed by a try"

    def _why_none(self) -> str:
        gate = self.engine.gate
        if gate is not None:
            return f"{gate[0]}: {gate[1]}"
        if self._by_clock and self._in_vain == 1:
            return ""  # that has not been tried yet
        if self._by_clock:
            return "the payload is opened before there is anything to keep"
        return "the program does not open the payload"


def starting(cycle: Cycle, env: Mapping[str, str], view: View) -> Callable[[int, int], int]:
    """What `Run.execute` takes as `start`: the command in its view."""

    def start(out: int, err: int) -> int:
        return spawn_apart(cycle.command, cycle.cwd, env, out, err, view)

    return start

"""Trials that begin where the program first uses the payload: the rest of it has run already.

The first trial of a worker is a whole one. Before the payload is used, the engine takes a
snapshot, and each further trial goes on from there. What a trial has written is put back before
the next one.
"""

from __future__ import annotations

from zeroin.run.apart import Layer
from zeroin.run.launch.isolated import IsolatedLauncher
from zeroin.run.launch.warm import ResumeWish, WarmLauncher, add_warm_order
from zeroin.run.warm import Engine
from zeroin.tools.shrink.opens import Opens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run, Stage
    from zeroin.run.warm.table import Snapshot

NEVER = 1e9  # seconds: no further snapshots
MOST_IN_VAIN = 3  # cold starts in a row that leave no snapshot, before none is asked for


class PayloadLauncher:
    """Resumes the program of one worker right before it uses the payload."""

    def __init__(self, view: View) -> None:
        self._engine = Engine()
        self.view = view._replace(as_is=(*view.as_is, self._engine.folder))
        self._cold = SnapshottingLauncher(self._engine, self.view)
        self._layer: Layer | None = None  # what trials have written since the snapshot
        self.resumed = False
        self.reason = ""  # why not

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return cycle

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        warm = WarmLauncher(
            self._engine,
            self._cold,
            may_resume=bool(self._engine.snapshots),
            wish=ResumeWish(every=NEVER),
        )
        try:
            return warm.launch(process, cycle, env, stage)
        finally:
            self.resumed = warm.resumed
            if not warm.resumed:
                self._layer = None
                self.reason = warm.reason or self.reason
            self._tidy()

    def _tidy(self) -> None:
        """Put back what the trial has written; a snapshot for which that can't be is no more."""
        engine = self._engine
        if not engine.snapshots:
            self.reason = self.reason or self._cold.describe_lack()
            return
        self.reason = ""
        first = engine.snapshots[0]
        engine.keep_only(first.id)  # what was taken at the end has used the payload
        try:
            if self._layer is None:
                self._layer = Layer(first.pid, self.view)
            good = self._layer.put_back()
        except OSError:
            good = False
        if good:
            self._cold.forget_vain_starts()
        else:
            engine.begin_cold()
            self.reason = "files that the program had made before were changed by a try"

    def close(self) -> None:
        """End the program and its snapshots."""
        self._engine.close()


class SnapshottingLauncher:
    """Starts the program cold, and has a snapshot taken before it uses the payload.

    Where Python code opens the payload, the agent takes the snapshot right before that. Where
    compiled code does, as the kernel tells, snapshots are taken by the clock, and the last one
    before that is kept.
    """

    def __init__(self, engine: Engine, view: View) -> None:
        self._engine = engine
        self._isolated = IsolatedLauncher(view)
        self._paths = [path for path, _ in view.instead]
        self._opens = Opens([source for _, source in view.instead])
        engine.aside.add(self._opens.fd, self._opens.read)
        engine.table.call_on_add(self._note_snapshot)
        self._by_clock = False
        self._before: set[int] = set()  # snapshots that were taken before it was opened
        self._in_vain = 0  # cold starts in a row that left no snapshot

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return cycle

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        if self._in_vain < MOST_IN_VAIN:
            self._in_vain += 1
            before = () if self._by_clock else tuple(self._paths)
            warm = self._engine.order()._replace(is_try=True, before=before)
            stage, env = add_warm_order(stage, warm, process, env)
        self._opens.forget()
        self._before.clear()
        ended = self._isolated.launch(process, cycle, env, stage)
        self._opens.read()
        if self._by_clock:
            good = [one.id for one in self._engine.snapshots if one.id in self._before]
            self._engine.keep_only(good[-1] if good else None)
        elif not self._engine.snapshots and self._engine.gate is None:
            self._by_clock = self._opens.seen
        return ended

    def _note_snapshot(self, snapshot: Snapshot) -> None:
        """Had the payload been opened before, the kernel would have told by now."""
        self._opens.read()
        if not self._opens.seen:
            self._before.add(snapshot.id)

    def forget_vain_starts(self) -> None:
        """Count anew: a snapshot was of use."""
        self._in_vain = 0

    def describe_lack(self) -> str:
        """Why there is no snapshot; "" while that is not known."""
        gate = self._engine.gate
        if gate is not None:
            return f"{gate[0]}: {gate[1]}"
        if self._by_clock and self._in_vain == 1:
            return ""  # by the clock has not been tried yet
        if self._by_clock:
            return "the payload is opened before there is anything to keep"
        return "the program does not open the payload"

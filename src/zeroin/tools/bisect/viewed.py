"""Running the command where it sees other files than everybody else: from the start, or warm."""

from __future__ import annotations

import math
import time

from zeroin.cycle import Kind
from zeroin.run.apart import Layer
from zeroin.run.launch import pick_launcher
from zeroin.run.launch.isolated import IsolatedLauncher
from zeroin.run.launch.warm import WarmLauncher
from zeroin.run.warm import Engine
from zeroin.tools.bisect.warmth import Pace
from zeroin.tools.search.quiet_trial import BRIEF, run_quiet_trial

# Bytes of modules that are watched statement by statement: of a large package that takes longer
# than all else, and most tries go on from before the first module that another commit has changed.
MOST_HOOKS = 50_000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run, Stage
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.trial import Trial


class Viewed:
    """In the process of a worker; the view of one worker stays the same, but for what is in it."""

    def __init__(self) -> None:
        self._warm: ViewLauncher | None = None
        self.pace = Pace(0.0)  # of the last run

    def run(
        self,
        cycle: Cycle,
        environ: Mapping[str, str],
        view: View | None,
        *,
        bound: float | None = None,
        order: AgentOrder = BRIEF,
    ) -> Trial:
        """Run it once. Without a view it sees what everybody sees.

        Given a bound, it goes on from a snapshot or leaves one, unless that takes longer.
        """
        cold = pick_launcher(cycle, view)
        # A resumed run would not run what resets the world.
        if bound is None or view is None or cycle.reset or cycle.limits:
            return self._run_timed(cycle, environ, cold, order)
        limit = cycle.timeout
        bounded = cycle
        if bound < (math.inf if limit is None else limit):
            bounded = cycle._replace(timeout=bound)
        started_with = (view, cycle._replace(timeout=None), dict(environ))
        if self._warm is None or self._warm.started_with != started_with:
            self.close()
            self._warm = ViewLauncher(view, started_with)
        trial = self._run_timed(bounded, environ, self._warm, order)
        if trial.outcome.kind is Kind.HANG and bounded.timeout != limit:
            self.close()
            trial = self._run_timed(cycle, environ, cold, order)
            self.pace = self.pace._replace(warm=True, ended=True)
        return trial

    def _run_timed(
        self, cycle: Cycle, environ: Mapping[str, str], launcher: Launcher, order: AgentOrder
    ) -> Trial:
        began = time.monotonic()
        trial = run_quiet_trial(cycle, launcher, environ, order)
        warm = launcher if isinstance(launcher, ViewLauncher) else None
        resumed = warm is not None and warm.resumed
        seconds, cpu_seconds = time.monotonic() - began, trial.outcome.cpu_seconds
        self.pace = Pace(seconds, cpu_seconds, warm=warm is not None, resumed=resumed)
        return trial

    def close(self) -> None:
        """End what is kept."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None


class ViewLauncher:
    """Resumes the program from the newest snapshot that the files in the view leave valid.

    That is where its imports are done, mostly. `started_with` tells what else it depends on.
    """

    def __init__(self, view: View, started_with: tuple[View, Cycle, dict[str, str]]) -> None:
        self.started_with = started_with
        self._view = view
        self._engine = Engine()
        self._layer: Layer | None = None  # what trials have written of the user's
        self.resumed = False

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return cycle

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        warm = WarmLauncher(
            self._engine,
            IsolatedLauncher(self._view),
            may_resume=bool(self._engine.snapshots),
            order=self._engine.order()._replace(is_try=True, most_hooks=MOST_HOOKS),
        )
        try:
            return warm.launch(process, cycle, env, stage)
        finally:
            self.resumed = warm.resumed
            if not warm.resumed:
                self._layer = None
            self._tidy()

    def _tidy(self) -> None:
        """Put back what the trial has written of the user's; what can't be, is begun anew."""
        engine = self._engine
        if not engine.snapshots or not self._view.mine:
            return
        try:
            if self._layer is None:
                self._layer = Layer(engine.snapshots[0].pid, self._view)
            good = self._layer.put_back()
        except OSError:
            good = False
        if not good:
            engine.begin_cold()

    def close(self) -> None:
        """End the program and its snapshots."""
        self._engine.close()

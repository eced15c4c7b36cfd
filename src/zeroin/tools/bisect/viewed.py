"""Running the command where it sees other files than everybody else: from the start, or warm."""

from __future__ import annotations

from zeroin.run import limited
from zeroin.run.apart import Layer, spawn_apart
from zeroin.run.warm import Engine, NeedsCold
from zeroin.tools.quiet import Quiet, with_resets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run
    from zeroin.run.inbox import Inbox
    from zeroin.tools.run import Seen

WORTH = 0.5  # of a run, that needs not be run again


class Viewed:
    """In the process of a worker; the view of one worker stays the same, but for what is in it."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._seen: Any = None  # what the engine's program was started with
        self._layer: Layer | None = None  # what that has written of the user's

    def run(
        self,
        cycle: Cycle,
        environ: Mapping[str, str],
        view: View | None,
        *,
        cold: bool,
        only: Callable[[Seen], Seen] | None = None,
    ) -> tuple[Outcome, Seen]:
        """How it ends. Without a view it sees what everybody sees."""
        cold = cold or bool(cycle.reset)  # a resumed run would not run what resets the world
        cycle = with_resets(cycle)

        def conduct(run: Run, env: dict[str, str], inbox: Inbox, how: dict[str, Any]) -> Ended:
            if cycle.limits:
                return limited.execute(run, cycle, env, view=view, **how)
            if view is None:
                return run.execute(cycle.command, cycle.cwd, env, **how)
            if cold:
                return _cold(run, cycle, env, view, how)
            seen = (view, cycle._replace(timeout=None), dict(environ))
            return self._warm(run, cycle, env, seen, inbox, how)

        return Quiet(environ).run(cycle, conduct, only)

    @property
    def resumed(self) -> bool:
        """Whether the last run went on from a snapshot."""
        return self._engine is not None and self._engine.came.id is not None

    def is_worth_keeping(self, outcome: Outcome) -> bool:
        """Whether the next try here begins far behind its start."""
        if self._engine is None or not self._engine.snapshots:
            return False
        whole = self._engine.came.saved + outcome.seconds
        return self._engine.snapshots[-1].seconds > WORTH * whole

    def _warm(
        self,
        run: Run,
        cycle: Cycle,
        env: dict[str, str],
        seen: tuple[View, Cycle, dict[str, str]],
        inbox: Inbox,
        how: dict[str, Any],
    ) -> Ended:
        """From the newest snapshot that the other files leave valid: the imports, mostly."""
        if self._engine is None:
            self._engine = Engine()
        engine = self._engine
        how = how | {"aside": engine.aside, "tap": engine.tap}
        try:
            if engine.snapshots and seen == self._seen:
                start = engine.starter(inbox.folder)
                on: dict[str, Any] = {"start": start, "prologue": start.prologue}
                try:
                    return run.execute(cycle.command, cycle.cwd, env, **how, **on, also=start.wires)
                except NeedsCold:
                    pass
            engine.begin_cold()
            self._seen, self._layer = seen, None
            env = {**env, **engine.environment(), "ZEROIN_WARM_TRY": "1"}
            return _cold(run, cycle, env, seen[0], how)
        finally:
            engine.rest()
            self._tidy(engine, seen[0])

    def _tidy(self, engine: Engine, view: View) -> None:
        """Put back what the try has written of the user's; what can't be, is begun anew."""
        if not engine.snapshots or not view.mine:
            return
        try:
            if self._layer is None:
                self._layer = Layer(engine.snapshots[0].pid, view)
            good = self._layer.put_back()
        except OSError:
            good = False
        if not good:
            engine.begin_cold()

    def close(self) -> None:
        """End what is kept."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _cold(run: Run, cycle: Cycle, env: dict[str, str], view: View, how: dict[str, Any]) -> Ended:
    def start(out: int, err: int) -> int:
        return spawn_apart(cycle.command, cycle.cwd, env, out, err, view)

    return run.execute(cycle.command, cycle.cwd, env, start=start, **how)

"""`WarmLauncher`: the program is resumed from a snapshot, or started cold with the reason."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.run.agent_order import hand_order
from zeroin.run.warm import NeedsCold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.agent_order import WarmOrder
    from zeroin.run.execute import Ended, Run, Stage
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.warm import Engine


class ResumeWish(NamedTuple):
    """How to resume: what counts as valid, and how often further snapshots are taken."""

    strict: bool = False
    lenient: bool = False
    every: float | None = None  # seconds between further snapshots, if not as it pleases


class WarmLauncher:
    """Resumes the engine's program if it may; otherwise `cold` starts it, and it is forgotten."""

    def __init__(
        self,
        engine: Engine,
        cold: Launcher,
        *,
        may_resume: bool = True,
        wish: ResumeWish = ResumeWish(),  # noqa: B008 - it does not change
        order: WarmOrder | None = None,
        reason: str = "",
    ) -> None:
        self._engine = engine
        self._cold = cold
        self._may_resume = may_resume
        self._wish = wish
        self._order = order  # how a cold start is stepped; None for not at all
        self.resumed = False
        self.reason = reason  # why it was not resumed

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return self._cold.arrange(cycle)

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        engine = self._engine
        stage = stage._replace(aside=engine.aside, tap=engine.tap)
        try:
            if self._may_resume and process.inbox.folder:
                start = engine.starter(process.inbox.folder, **self._wish._asdict())
                try:
                    ended = process.execute(
                        cycle.command,
                        cycle.cwd,
                        env,
                        stage,
                        start=start,
                        prologue=start.prologue,
                        also=start.wires,
                    )
                except NeedsCold as needed:
                    self.reason = needed.reason
                else:
                    self.resumed = True
                    engine.note_faults(ended.faults)
                    return ended
            engine.begin_cold(self.reason)
            if self._order is not None:
                stage, env = add_warm_order(stage, self._order, process, env)
            return self._cold.launch(process, cycle, env, stage)
        finally:
            engine.rest()


def add_warm_order(
    stage: Stage, warm: WarmOrder, process: Run, env: dict[str, str]
) -> tuple[Stage, dict[str, str]]:
    """Have the program stepped that is started next, if agents are let in at all."""
    if stage.order is None:
        return stage, env
    order = stage.order._replace(warm=warm)
    return stage._replace(order=order), hand_order(order, process.inbox.folder, env)

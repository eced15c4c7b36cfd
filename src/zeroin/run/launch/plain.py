"""`PlainLauncher`: the command is started as a shell would start it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.execute import Ended, Run, Stage


class PlainLauncher:
    """Starts the command as it is."""

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return cycle

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        return process.execute(cycle.command, cycle.cwd, env, stage)

"""`Launcher`: what all launchers have in common. Only type checkers load this module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.execute import Ended, Run, Stage


class Launcher(Protocol):
    """Gets one process going, and waits until it has ended."""

    def arrange(self, cycle: Cycle) -> Cycle:
        """Give the cycle as this launcher runs it: moved into a copy, with resets in the view."""

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """Start the command of an arranged cycle with that environment; give how it ended."""

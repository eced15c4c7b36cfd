"""Launchers: each gets the process of a trial going in its own way, and they compose.

`plain` starts the command as a shell would, `limited` under emulated limits, `isolated` where it
sees other files than everybody else, and `warm` resumes it from a snapshot, or has another
launcher start it cold.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.launch.launcher import Launcher


def pick_launcher(cycle: Cycle, view: View | None = None) -> Launcher:
    """Give the launcher that starts the cycle from its beginning, in a view if there is one."""
    if cycle.limits:
        from zeroin.run.launch.limited import LimitedLauncher

        return LimitedLauncher(view)
    if view is not None:
        from zeroin.run.launch.isolated import IsolatedLauncher

        return IsolatedLauncher(view)
    from zeroin.run.launch.plain import PlainLauncher

    return PlainLauncher()

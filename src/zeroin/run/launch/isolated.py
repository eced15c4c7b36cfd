"""`IsolatedLauncher`: the command sees a view of its own, and nobody sees what it writes there.

Where the kernel has namespaces the view is mounted; otherwise (`View.copied`) the command runs in
a copy of the project.
"""

from __future__ import annotations

from zeroin.run import copies
from zeroin.run.apart import spawn_apart
from zeroin.run.world import wrap_resets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run, Stage


class IsolatedLauncher:
    """Starts the command in a view."""

    def __init__(self, view: View) -> None:
        self.view = view

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return arrange_in_view(cycle, self.view)

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        if self.view.copied:
            return process.execute(cycle.command, cycle.cwd, env, stage)
        view = share_inbox(self.view, process)

        def start(out: int, err: int) -> int:
            return spawn_apart(cycle.command, cycle.cwd, env, out, err, view)

        return process.execute(cycle.command, cycle.cwd, env, stage, start=start)


def arrange_in_view(cycle: Cycle, view: View) -> Cycle:
    """Let resets run where the command does, since they see the same files; copy what must be."""
    cycle = wrap_resets(cycle)
    return copies.made(view, cycle) if view.copied else cycle


def share_inbox(view: View, process: Run) -> View:
    """Let the agents below reach the folder that they deliver into, if the view covers it."""
    folder = process.inbox.folder
    if not folder or view.tree or not folder.startswith(view.root.rstrip("/") + "/"):
        return view
    return view._replace(as_is=(*view.as_is, folder))

"""`LimitedLauncher`: the command runs under the limits of its cycle, in a view if there is one."""

from __future__ import annotations

import os

from zeroin.run.launch.isolated import arrange_in_view, share_inbox
from zeroin.run.limited import Limited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run, Stage
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper


class LimitedLauncher:
    """Starts the command under limits; `Ended.limits` says what each of them did."""

    def __init__(self, view: View | None = None, *, keep: str = "") -> None:
        self._view = view
        self._keep = keep  # where files go that were written below a disk limit

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return cycle if self._view is None else arrange_in_view(cycle, self._view)

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        inbox = process.inbox
        limited = Limited(cycle, env, inbox.folder, stage.order)
        view = self._view
        if view is not None:
            view = None if view.copied else share_inbox(view, process)
        try:
            start = limited.starting(view)
            ended = process.execute(cycle.command, cycle.cwd, env, stage, start=start)
            inbox.drain()
            code = os.waitstatus_to_exitcode(ended.status)
            failed = code != 0 and not ended.interrupted
            said = _collect_complaints(process.keeper, inbox, code)
            effects = limited.finish(failed, said, _list_full_folders(inbox), self._keep)
            return ended._replace(limits=tuple(effects), survivors=0)
        finally:
            limited.close()


def _collect_complaints(keeper: Keeper, inbox: Inbox, code: int) -> str:
    """All text that may tell what the command failed of."""
    recent = [keeper.recent(name) for name in ("err", "tty", "out")]
    crashes = [
        f"{link['type']}: {link['message']}"
        for message in inbox.messages
        if message["kind"] == "crash"
        for link in message["chain"]
    ]
    return "\n".join([*recent, *crashes, inbox.faults(), "SIGBUS" if code == -7 else ""])


def _list_full_folders(inbox: Inbox) -> dict[str, str]:
    """Folders that an agent saw to be full, and where in the program that was first."""
    found: dict[str, str] = {}
    for message in inbox.messages:
        if message["kind"] == "full":
            where = message["where"]
            name = f" at {os.path.basename(where[0])}:{where[1]}" if where else ""
            found.setdefault(message["folder"], name)
    return found

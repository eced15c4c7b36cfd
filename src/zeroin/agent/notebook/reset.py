"""`%zeroin fresh --reset`: all cells in order, in this session, which is emptied first."""

from __future__ import annotations

from . import fresh, running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .session import Session


async def run_all(session: Session, say: Callable[[str], None]) -> None:
    """Empty the session and run all cells in it."""
    cells = fresh.cells_of(session)
    if not cells:
        say("no cell has been run since %load_ext zeroin")
        return
    shell = session.shell
    kept = {
        name: shell.user_ns[name]
        for name in ("__session__", "__vsc_ipynb_file__")
        if name in shell.user_ns
    }
    shell.reset(new_session=False)
    shell.user_ns.update(kept)
    session.forget(cells)
    for done, cell in enumerate(cells, 1):
        result = await session.run_inside(cell["key"], cell["number"], cell["source"])
        if not result.success:
            say(f"cell {_name(cell)} failed: {done} of {len(cells)} cells were run")
            return
    say(f"{len(cells)} cells were run in order, in an empty session")


def at_once(session: Session, say: Callable[[str], None]) -> None:
    """Likewise for code that can't await: a function, a block."""
    shell = session.shell
    waiting = next(
        (one for one in fresh.cells_of(session) if running.awaits(shell, one["source"])), None
    )
    if waiting is None:
        running.at_once(session.run_all())
        return
    say(
        f"cell {_name(waiting)} awaits something: give %zeroin fresh --reset a line of its own, "
        "not indented; nothing was changed"
    )


def _name(cell: dict[str, Any]) -> str:
    return f"[{cell['number']}]" if cell["number"] is not None else "that was not run here"

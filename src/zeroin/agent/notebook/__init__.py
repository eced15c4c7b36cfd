"""`%load_ext zeroin`: what each cell cost, and whether what you see is what a fresh run gives.

`session` hears of the cells and speaks; `flow` reads their code, `history` keeps which value
comes from which run, `document` reads the notebook's file; `fresh` runs all cells anew in a
child process, which is `child`, and `reset` in this one, each as `running` does; `magic` is
`%zeroin`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "_zeroin_session"


def load(shell: Any) -> None:
    """Begin in this session."""
    from . import magic, session

    if getattr(shell, NAME, None) is None:
        one = session.Session(shell)
        setattr(shell, NAME, one)
        one.begin()
        magic.register(shell, one)


def unload(shell: Any) -> None:
    """Be gone."""
    one = getattr(shell, NAME, None)
    if one is not None:
        one.end()
        setattr(shell, NAME, None)
        shell.magics_manager.magics["line"].pop("zeroin", None)

"""`--pdb`: the debugger, in the program itself, at the frame that is the user's."""

from __future__ import annotations

import sys

from . import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def post_mortem(exc: BaseException) -> None:
    """Open the best debugger this environment has, at the failing frame of the user's."""
    if exc.__traceback__ is None or isinstance(exc, (SystemExit, KeyboardInterrupt)):
        return
    if sys.stdin is None or not sys.stdin.isatty():
        return
    debugger = _best()
    plain = debugger.get_stack

    def get_stack(frame: Any, tb: Any) -> Any:
        stack, index = plain(frame, tb)
        return stack, _users(stack, index)

    debugger.get_stack = get_stack
    debugger.reset()
    debugger.interaction(None, exc.__traceback__)


def _best() -> Any:
    """Take ipdb where it is, else pdb; an installed pdb++ answers to the name pdb."""
    try:
        import ipdb  # noqa: F401 - its presence is the wish
        from IPython.terminal.debugger import TerminalPdb

        return TerminalPdb()
    except Exception:
        import pdb

        return pdb.Pdb()


def _users(stack: list[Any], index: int) -> int:
    """The innermost frame of the user's own code, or where pdb would have started."""
    for position in range(index, -1, -1):
        if owner.is_users(stack[position][0].f_code.co_filename):
            return position
    return index

"""`--pdb`: the debugger, in the program itself, at the frame that is the user's."""

from __future__ import annotations

import os
import sys

from . import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_first = (0, False)  # which process this was loaded in, and whether it had a terminal


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


def has_terminal() -> bool:
    """Whether somebody could type: pytest keeps the terminal from the tests, and gives it back."""
    if "_pytest.debugging" in sys.modules and _first == (os.getpid(), True):
        return True
    return _is_terminal()


def remember_terminal() -> None:
    """Note at the start whether there is one."""
    global _first  # noqa: PLW0603 - one start a process
    _first = (os.getpid(), _is_terminal())


def _is_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:
        return False


def at(frame: Any) -> None:
    """Open the debugger at a frame that is running, before it goes on from where it is."""
    debugger = _of_pytest() or _best()
    debugger.reset()
    one = frame
    while one is not None:
        one.f_trace = debugger.trace_dispatch
        debugger.botframe = one
        one = one.f_back
    debugger.set_step()
    # A step from here must not lead through the rest of what we do.
    debugger.skip = {*(debugger.skip or ()), __name__.partition(".")[0] + ".*"}
    debugger.interaction(frame, None)
    if debugger.quitting:
        import bdb

        raise bdb.BdbQuit
    goes_on = debugger.stopframe is debugger.botframe and debugger.stoplineno == -1
    if not goes_on or debugger.breaks:
        sys.settrace(debugger.trace_dispatch)


def _of_pytest() -> Any:
    """Its own debugger gives the terminal back first, and takes it again when the test goes on."""
    module: Any = sys.modules.get("_pytest.debugging")
    try:
        return module.pytestPDB._init_pdb("set_trace") if module is not None else None
    except Exception:  # another release
        return None


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

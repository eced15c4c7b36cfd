"""A fork that the program does not notice: what it has registered to run at forks stays out.

`os.register_at_fork` takes functions and never gives them back: the lists that hold them are
found by one of ours in them. There each stranger gets a *guard*, which calls it at all forks but
ours; so nothing of the program's is run before, after, or in a child that only speaks of objects.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LISTS = 3  # before, after in the parent, after in the child
# Of the standard library these open its own locks again: the child needs them.
NEEDED = frozenset(("threading", "logging", "asyncio.events"))
OURS = __name__.partition(".summary.")[0] + "."  # what we count, a child counts apart
HOLDER, HELD = "concurrent.futures.thread", "_global_shutdown_lock"

_lists: list[list[Any]] = []
_forking: set[int] = set()  # threads that are forking for us


class Guard:
    """Calls a function of the program's, unless the fork is ours."""

    __slots__ = ("hook",)

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def __call__(self) -> None:
        """Called by the interpreter."""
        if get_ident() not in _forking:
            self.hook()

    def __repr__(self) -> str:
        return repr(self.hook)  # Python names it if it raises


def fork() -> int:
    """Fork, as `os.fork` does; RuntimeError where what runs at forks can't be found."""
    if not _lists:
        _lists.extend(_found())
    for hooks in _lists:
        for at, hook in enumerate(hooks):
            if type(hook) is not Guard and not _is_needed(hook):
                hooks[at] = Guard(hook)
    own = get_ident()
    _forking.add(own)
    try:
        return _fork()
    finally:
        _forking.discard(own)


def _found() -> list[list[Any]]:
    """The interpreter's own lists, which hold what we have just registered."""
    mark = Guard(_nothing)  # till it is taken out again, another thread may fork
    os.register_at_fork(before=mark, after_in_parent=mark, after_in_child=mark)
    found = [one for one in gc.get_referrers(mark) if type(one) is list]
    for one in found:
        one.remove(mark)
    if len(found) != LISTS:  # `gc.freeze()` hides them; other Pythons have none
        raise RuntimeError("what runs at forks is not to be found")
    return found


def _nothing() -> None:
    """Be called."""


def _is_needed(hook: Any) -> bool:
    """Whether we, or the standard library itself, have registered it for our own state."""
    holder = getattr(hook, "__self__", None)
    if holder is not None:
        return holder is getattr(sys.modules.get(HOLDER), HELD, hook)
    module = str(getattr(hook, "__module__", ""))
    name = str(getattr(hook, "__name__", ""))
    is_private = name.startswith("_") or name == "on_fork"
    return module.startswith(OURS) or (module in NEEDED and is_private)


def _fork() -> int:
    warnings = sys.modules.get("warnings")
    if warnings is None or sys.version_info < (3, 12):
        return os.fork()
    with warnings.catch_warnings():
        # Python warns when there are threads, whose locks nobody opens in a child. A child of
        # ours that waits for one is killed like any other that takes too long.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()

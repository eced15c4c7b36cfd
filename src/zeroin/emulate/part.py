"""The words of this room.

A *limit* is what the user asks for. A *back-end* is one way to bring it about; it is tried before
it is used. What a back-end adds to a run is a *part*: something done in the command's process
before it starts, something a guard looks at while it runs, something told and tidied at the end.
"""

from __future__ import annotations

import os

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.emulate.folders import LimitFolders
    from zeroin.emulate.watch import Watch


class Limit(NamedTuple):
    """`disk=/data:50M`, read: the name, what it is about, how much, and the text itself."""

    name: str
    text: str
    target: str = ""
    amount: float = 0  # bytes, a count, or a share of one core
    share: bool = False  # the amount is a share of what only this machine or the record knows


class Eyes(NamedTuple):
    """How a guard sees the processes of a run."""

    members: Callable[[], list[int]]
    memory: Callable[[int], int]  # resident bytes
    together: Callable[[Sequence[int]], int]  # of several, what they share counted once
    ticks: Callable[[int], int]  # of CPU time
    stacks: Callable[[Sequence[int]], list[dict[str, Any]]]


class Scene(NamedTuple):
    """What a back-end may know before the command starts."""

    cwd: str
    env: Mapping[str, str]
    name: str  # of this run, unlike all others on this machine
    folders: LimitFolders | None = None  # makes those that are not there, if it is given


class Effect(NamedTuple):
    """What a limit did."""

    limit: str  # as it was asked for
    backend: str
    reached: bool = False
    detail: str = ""  # how far it got
    notes: tuple[str, ...] = ()  # what the user should know about this back-end
    written: tuple[str, ...] = ()  # files that the command wrote, and that are gone,
    kept: str = ""  # but for copies in this folder
    ended: str = ""  # why it was ended by us or by the kernel, if it was
    where: tuple[tuple[str, int, str], ...] = ()  # the stack of who reached it, outermost first
    stacks: tuple[dict[str, Any], ...] = ()


class Ending(NamedTuple):
    """How the command ended, for those who have to tell what their limit did."""

    failed: bool
    said: str  # the end of its output, and what failed
    told: Mapping[str, Any]  # what the part's watch told
    full: Mapping[str, str] = {}  # folders that a Python of it saw to be full → at which line
    keep: str = ""  # where written files are to be put


class Part:
    """What some limits add to a run. A back-end overrides what it needs."""

    spaces = 0  # namespaces that it needs
    order = 0  # of entering: the lowest first
    wrap: tuple[str, ...] = ()  # words before the command
    env: Mapping[str, str] = {}  # beside the command's own
    memory_error = False  # allocations may fail: agents are told to look with more memory
    keeps = False  # it can keep what was written
    covers: tuple[str, ...] = ()  # paths that it lays something over
    fills: tuple[str, ...] = ()  # folders that may be full, which the command may not tell
    helpers: tuple[int, ...] = ()  # processes of ours, which are not the command's
    instead: tuple[str, ...] = ()  # why the back-ends before this one were not taken

    def __init__(self, limits: Sequence[Limit], backend: str) -> None:
        self.limits = tuple(limits)
        self.backend = backend

    def before(self) -> None:
        """In the command's process, before it is in namespaces of its own."""

    def enter(self, *, apart: bool) -> None:
        """In the command's process; `apart`: there is a user namespace with only us in it."""

    def last(self) -> None:
        """In the command's process, right before the command."""

    def started(self, pid: int) -> None:
        """In the driver, before the guard is there: the command's process."""

    def watch(self) -> Watch | None:
        """What the guard is to do."""
        return None

    def effects(self, ending: Ending) -> list[Effect]:
        """What came of it; called once, when all processes have ended."""
        del ending
        return [Effect(limit.text, self.backend) for limit in self.limits]

    def close(self) -> None:
        """Leave nothing."""

    def abandon(self) -> None:
        """Likewise, by the guard, if the driver was killed: all processes have ended by then."""


class Backend(NamedTuple):
    """One way to bring limits about. `lacks` says why it can't here, "" if it can."""

    name: str
    lacks: Callable[[Sequence[Limit], Scene], str]
    make: Callable[[Sequence[Limit], Scene], Part]
    fails_well: bool = False  # it says the same at the start, and need not be tried before


class Kind(NamedTuple):
    """All that is known of limits of one name."""

    name: str
    about: str
    parse: Callable[[str, str], Limit]  # from the name and what follows the =
    backends: tuple[Backend, ...]
    check: Callable[[Limit, Scene], Limit] = lambda limit, _: limit  # against this machine
    joined: Callable[[Limit], str] = lambda limit: limit.text  # limits with one of it are one part


def open_folder(path: str) -> int:
    """To name it later, whatever covers it then."""
    return os.open(path, os.O_PATH | os.O_CLOEXEC)

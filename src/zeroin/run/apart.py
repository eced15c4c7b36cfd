"""Starting a command that sees other files than everybody else, and whose changes nobody sees.

A mount namespace of its own, without root's rights where there is a user namespace: what it writes
below a folder goes to memory and vanishes with it, and some paths hold something else.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import time

from zeroin.emulate import kernel
from zeroin.emulate.kernel import BIND, NEW_MOUNTS, NO_DEVICES, NO_SUID, RECURSIVE
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.run.spawn import become, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Layer", "View", "can_be_apart", "cover", "spawn_apart"]
MARGIN = 0.02  # seconds: how exactly the start of a process and the time of a file are known


class View(NamedTuple):
    """What a command sees."""

    root: str  # what it changes below this is its own
    scratch: str  # an empty folder, to be covered
    instead: tuple[tuple[str, str], ...] = ()  # paths, and what is there for it
    as_is: tuple[str, ...] = ()  # what stays shared, also below the root
    tree: str = ""  # a folder that is there as the root; what is written goes into it,
    mine: tuple[str, ...] = ()  # but for these of the root itself: their changes are its own
    copied: bool = False  # there are no namespaces: see `copies`

    @property
    def covered(self) -> str:
        """Where the root is with a layer over it."""
        return os.path.join(os.path.dirname(self.scratch), "aside") if self.tree else self.root


def can_be_apart(view: View) -> str:
    """Why there can't be such a view here; "" if there can."""
    return kernel.trial(NEW_MOUNTS, lambda apart: cover(view, apart=apart))


def spawn_apart(
    command: Sequence[str], cwd: str, env: Mapping[str, str], out: int, err: int, view: View
) -> int:
    """Start it in the view, with clean signals, our stdin and the given ends of the wires."""

    def enter() -> None:
        kernel.die_with_parent(signal.SIGKILL)
        cover(view, apart=kernel.isolate(NEW_MOUNTS))

    program = find(command[0], cwd, env)
    pid, told = become(program, command, cwd, env, out, err, enter)
    if told:
        raise UntestableError(f"a folder of its own could not be made for the command: {told}")
    return pid


def cover(view: View, *, apart: bool) -> None:
    """Cover what is there. All that is still needed of it is opened before."""
    opened = [(path, os.open(path, os.O_PATH)) for path in view.as_is]
    opened += [(path, os.open(source, os.O_PATH)) for path, source in view.instead]
    if view.tree:
        if view.mine:
            opened += _beside(view, apart=apart)
        kernel.mount(view.tree, view.root, "", BIND | RECURSIVE)
    elif view.root:
        _cover(view, view.root, apart=apart)
    for path, fd in opened:
        kernel.bind(fd, path)
        os.close(fd)


def _cover(view: View, where: str, *, apart: bool) -> None:
    """The root with a layer in memory over it."""
    kernel.mount("tmpfs", view.scratch, "tmpfs", NO_SUID | NO_DEVICES, "mode=0700")
    upper, work = os.path.join(view.scratch, "upper"), os.path.join(view.scratch, "work")
    for path in (upper, work):
        os.mkdir(path)
    folders = f"lowerdir={_quoted(view.root)},upperdir={_quoted(upper)},workdir={_quoted(work)}"
    kernel.mount("overlay", where, "overlay", 0, folders + (",userxattr" if apart else ""))


def _beside(view: View, *, apart: bool) -> list[tuple[str, int]]:
    """What is to be seen of the root where the tree is in its place."""
    os.makedirs(view.covered, exist_ok=True)
    _cover(view, view.covered, apart=apart)
    return [
        (os.path.join(view.root, path), os.open(os.path.join(view.covered, path), os.O_PATH))
        for path in view.mine
    ]


def _start_of(pid: int) -> float:
    """When a process began, as files have it."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    began = ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - began)


def _quoted(path: str) -> str:
    for mark in "\\,:":
        path = path.replace(mark, f"\\{mark}")
    return path


class _Mark(NamedTuple):
    """What tells whether something was changed."""

    is_folder: bool
    size: int
    inode: int
    time: float


class Layer:
    """What processes in a view have written since one of them began; and putting that back."""

    def __init__(self, pid: int, view: View) -> None:
        inside = f"/proc/{pid}/root"
        self._upper = f"{inside}{view.scratch}/upper"
        self._merged = f"{inside}{view.covered}"
        self._lower = view.root
        since = _start_of(pid) - MARGIN
        self._first = {name: mark for name, mark in self._listed().items() if mark.time < since}

    def _listed(self) -> dict[str, _Mark]:
        """All that is other than below."""
        found = {}
        for folder, folders, names in os.walk(self._upper):
            for name in (*names, *folders):
                path = os.path.join(folder, name)
                now = os.lstat(path)
                is_folder = stat.S_ISDIR(now.st_mode)
                mark = _Mark(is_folder, now.st_size, now.st_ino, now.st_ctime)
                found[os.path.relpath(path, self._upper)] = mark
        return found

    def put_back(self) -> bool:
        """As it was when the process began; False if nobody knows how a file was."""
        now = self._listed()
        if any(name not in now for name in self._first):
            return False
        for name in sorted(now, reverse=True):  # what is in a folder before the folder
            first = self._first.get(name)
            if first is None:
                self._restore(name)
            elif first != now[name] and not first.is_folder:
                return False
        return True

    def _restore(self, name: str) -> None:
        """As it is below."""
        here, below = os.path.join(self._merged, name), os.path.join(self._lower, name)
        if os.path.isdir(here) and not os.path.islink(here):
            if not os.path.isdir(below):
                os.rmdir(here)
        else:
            if os.path.lexists(here):
                os.unlink(here)
            if os.path.lexists(below):
                shutil.copy2(below, here, follow_symlinks=False)

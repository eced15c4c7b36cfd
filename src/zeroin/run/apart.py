"""Starting a command that sees other files than everybody else, and whose changes nobody sees.

A mount namespace of its own, without root's rights where there is a user namespace: what it writes
below a folder goes to memory and vanishes with it, and some paths hold something else.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import stat
import time
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from zeroin.errors import UntestableError
from zeroin.run.spawn import find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
NO_SUID, NO_DEVICES = 0x2, 0x4
PARENT_DEATH = 1  # PR_SET_PDEATHSIG
BROKEN = 127
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
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        _tell_and_end(writer, lambda: _enter(view))
    os.close(writer)
    told = _read(reader)
    os.waitpid(pid, 0)
    return told


def spawn_apart(
    command: Sequence[str], cwd: str, env: Mapping[str, str], out: int, err: int, view: View
) -> int:
    """Start it in the view, with clean signals, our stdin and the given ends of the wires."""
    program = find(command[0], cwd, env)
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        _tell_and_end(writer, lambda: _become(program, command, cwd, env, out, err, view))
    os.close(writer)
    told = _read(reader)
    if told:
        os.waitpid(pid, 0)
        raise UntestableError(f"a folder of its own could not be made for the command: {told}")
    return pid


def _read(reader: int) -> str:
    with open(reader, "rb") as file:
        return file.read().decode(errors="replace")


def _tell_and_end(writer: int, do: Callable[[], None]) -> NoReturn:
    """In the child: what goes wrong is the parent's to say."""
    try:
        do()
        os._exit(0)
    except BaseException as error:
        os.write(writer, str(error).encode(errors="replace") or b"?")
    finally:
        os._exit(BROKEN)


def _become(
    program: str,
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    out: int,
    err: int,
    view: View,
) -> None:
    _libc.prctl(PARENT_DEATH, signal.SIGKILL)
    _enter(view)
    os.chdir(cwd)
    os.dup2(out, 1)
    os.dup2(err, 2)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.execve(program, list(command), env)  # noqa: S606 - what this is for
    except OSError as error:
        if error.errno != errno.ENOEXEC:  # a script without #!, what every shell runs
            raise
        os.execve("/bin/sh", ["sh", program, *command[1:]], env)  # noqa: S606


def _enter(view: View) -> None:
    """Cover what is there. All that is still needed of it is opened before."""
    is_root = os.geteuid() == 0
    user, group = os.geteuid(), os.getegid()
    if not is_root or _libc.unshare(NEW_MOUNTS):
        _check(_libc.unshare(NEW_USER | NEW_MOUNTS), "no user namespaces")
        is_root = False
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _mount("none", "/", "", RECURSIVE | PRIVATE)
    opened = [(path, os.open(path, os.O_PATH)) for path in view.as_is]
    opened += [(path, os.open(source, os.O_PATH)) for path, source in view.instead]
    if view.tree:
        if view.mine:
            opened += _beside(view, is_root)
        _mount(view.tree, view.root, "", BIND | RECURSIVE)
    elif view.root:
        _cover(view, view.root, is_root)
    for path, fd in opened:
        _mount(f"/proc/self/fd/{fd}", path, "", BIND | RECURSIVE)
        os.close(fd)


def _cover(view: View, where: str, is_root: bool) -> None:
    """The root with a layer in memory over it."""
    _mount("tmpfs", view.scratch, "tmpfs", NO_SUID | NO_DEVICES, "mode=0700")
    upper, work = os.path.join(view.scratch, "upper"), os.path.join(view.scratch, "work")
    for path in (upper, work):
        os.mkdir(path)
    folders = f"lowerdir={_quoted(view.root)},upperdir={_quoted(upper)},workdir={_quoted(work)}"
    _mount("overlay", where, "overlay", 0, folders + ("" if is_root else ",userxattr"))


def _beside(view: View, is_root: bool) -> list[tuple[str, int]]:
    """What is to be seen of the root where the tree is in its place."""
    os.makedirs(view.covered, exist_ok=True)
    _cover(view, view.covered, is_root)
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


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    words = [os.fsencode(word) if word else None for word in (source, target, kind, data)]
    done = _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    _check(done, f"{kind or 'bind'} on {target}")


def _check(result: int, what: str) -> None:
    if result:
        raise OSError(f"{what}: {os.strerror(ctypes.get_errno()).lower()}")


_libc = ctypes.CDLL(None, use_errno=True)


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

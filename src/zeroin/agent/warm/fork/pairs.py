"""Sockets, pipes and epolls: those whose every end is in this process can be made anew.

An asyncio loop has a pair of sockets to wake itself, and an epoll that watches it;
multiprocessing has pipes before it has children. The resumed program gets fresh ones at the
same numbers. Anything that leads to somebody else, or holds something, forbids the fork.
"""

from __future__ import annotations

import os
import stat

from . import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Ends = list[tuple[int, os.stat_result]]

EPOLL = "anon_inode:[eventpoll]"
WAITING = 0x541B  # FIONREAD: bytes that wait to be read


class Pair:
    """Two ends that lead to one another; an end may have several descriptors."""

    def __init__(self, kind: int, one: list[int], other: list[int]) -> None:
        self.kind = kind  # a socket's type; 0 for a pipe, whose first end is read
        self.one = [Descriptor(fd) for fd in one]
        self.other = [Descriptor(fd) for fd in other]


class Descriptor:
    """A descriptor's number, and how it behaves."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.inheritable = os.get_inheritable(fd)
        self.blocking = os.get_blocking(fd)


class Epoll:
    """What an epoll watches."""

    def __init__(self, fds: list[int]) -> None:
        self.own = [Descriptor(fd) for fd in fds]
        self.watched = _watched(fds[0])


class NotOursError(Exception):
    """Something leads out of this process, or holds what can't be given twice."""


def reason(ends: Ends) -> str | None:
    """Say what leads elsewhere; None if everything leads to ourselves, and is empty."""
    try:
        find(ends)
    except NotOursError as why:
        return str(why)
    except OSError:  # closed meanwhile
        return "a descriptor could not be looked at"
    return None


def find(ends: Ends) -> tuple[list[Pair], list[Epoll]]:
    """Sort the ends into pairs and epolls."""
    sockets: dict[int, list[int]] = {}
    pipes: dict[int, list[int]] = {}
    epolls: dict[str, list[int]] = {}
    for fd, found in ends:
        kind = stat.S_IFMT(found.st_mode)
        if kind == stat.S_IFSOCK:
            sockets.setdefault(found.st_ino, []).append(fd)
        elif kind == stat.S_IFIFO:
            pipes.setdefault(found.st_ino, []).append(fd)
        else:
            name = os.readlink(f"/proc/self/fd/{fd}")
            if name != EPOLL:
                raise NotOursError(f"{_called(name)} is open")
            epolls[str(fd)] = [fd]
    pairs = _pipe_pairs(pipes) + _socket_pairs(sockets)
    return pairs, [Epoll(fds) for fds in epolls.values()]


def _called(name: str) -> str:
    inner = name.partition("[")[2].rstrip("]") or name.rpartition(":")[2]
    article = "an" if inner[:1] in tuple("aeiou") else "a"
    return f"{article} {inner}"


# --- finding --------------------------------------------------------------------------------


def _pipe_pairs(pipes: dict[int, list[int]]) -> list[Pair]:
    found = []
    for fds in pipes.values():
        readers = [fd for fd in fds if _mode(fd) == os.O_RDONLY]
        writers = [fd for fd in fds if _mode(fd) == os.O_WRONLY]
        if len(readers) + len(writers) < len(fds):
            raise NotOursError("a named pipe is open")
        if readers and _waiting(readers[0]):
            raise NotOursError("a pipe is open")
        if not readers or not writers:
            if not _is_over(fds[0]):
                raise NotOursError("a pipe is open")
            continue  # the other side is gone for good: the same for everybody
        found.append(Pair(0, readers, writers))
    return found


def _socket_pairs(sockets: dict[int, list[int]]) -> list[Pair]:
    if not sockets:
        return []
    import _socket  # loaded: somebody opened a socket

    found = []
    left = dict(sockets)
    while left:
        inode, fds = left.popitem()
        peer = _peer(inode)
        if peer not in left:
            raise NotOursError("a socket is open")
        others = left.pop(peer)
        if _waiting(fds[0]) or _waiting(others[0]):
            raise NotOursError("a socket is open, and something waits in it")
        found.append(Pair(_type(_socket, fds[0]), fds, others))
    return found


def _type(module: Any, fd: int) -> int:
    one = module.socket(fileno=os.dup(fd))
    try:
        kind: int = one.getsockopt(module.SOL_SOCKET, module.SO_TYPE)
        return kind
    finally:
        one.close()


def _mode(fd: int) -> int:
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE


def _waiting(fd: int) -> int:
    import fcntl

    answer = fcntl.ioctl(fd, WAITING, b"\0\0\0\0")
    return int.from_bytes(answer, "little")


def _is_over(fd: int) -> bool:
    """Whether the pipe's other side was closed, so that nothing can come or go any more."""
    import select

    poll = select.poll()
    poll.register(fd, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll(0))


def _peer(inode: int) -> int:
    """Ask the kernel which socket is at the other end of a unix socket; 0 if it won't say."""
    import _socket

    netlink_diag, by_family, show_peer, peer = 4, 20, 4, 2
    any_cookie = b"\xff" * 8
    question = bytes([_socket.AF_UNIX, 0, 0, 0]) + b"\xff\xff\xff\xff"
    question += _number(inode) + _number(show_peer) + any_cookie
    head = _number(16 + len(question)) + _number(by_family | 1 << 16) + _number(1) + _number(0)
    try:
        line = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_DGRAM, netlink_diag)
    except OSError:
        return 0
    try:
        line.send(head + question)
        answer = line.recv(4096, _socket.MSG_DONTWAIT)
    except OSError:
        return 0
    finally:
        line.close()
    if int.from_bytes(answer[4:6], "little") != by_family:
        return 0
    place = 32  # after both heads come attributes: length, kind, value
    while place + 8 <= len(answer):
        length = int.from_bytes(answer[place : place + 2], "little")
        kind = int.from_bytes(answer[place + 2 : place + 4], "little")
        if kind == peer:
            return int.from_bytes(answer[place + 4 : place + 8], "little")
        place += max(4, (length + 3) & ~3)
    return 0


def _number(value: int) -> bytes:
    return value.to_bytes(4, "little")


def _watched(fd: int) -> list[tuple[int, int]]:
    found = []
    for line in proc.read(f"/proc/self/fdinfo/{fd}").splitlines():
        fields = line.split()
        if fields and fields[0] == b"tfd:":
            found.append((int(fields[1]), int(fields[3], 16)))
    return found


# --- making anew --------------------------------------------------------------------------------


def renew(pairs: list[Pair], epolls: list[Epoll]) -> None:
    """Give each pair and epoll a successor of our own, at the same numbers."""
    for pair in pairs:
        if pair.kind:
            import _socket

            made = _socket.socketpair(_socket.AF_UNIX, pair.kind)
            one, other = (end.detach() for end in made)
        else:
            one, other = os.pipe()
        _put(one, pair.one)
        _put(other, pair.other)
    for epoll in epolls:
        import select

        fresh = select.epoll()
        for fd, events in epoll.watched:
            fresh.register(fd, events)
        _put(os.dup(fresh.fileno()), epoll.own)
        fresh.close()


def _put(source: int, targets: list[Descriptor]) -> None:
    for target in targets:
        os.dup2(source, target.fd, target.inheritable)
        os.set_blocking(target.fd, target.blocking)
    if source not in [target.fd for target in targets]:
        os.close(source)

"""The other end of a socket: an address, and on this machine the socket there."""

from __future__ import annotations

import socket
import struct

from zeroin.observe.stacks import proc

SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ANY_COOKIE = b"\xff" * 8
UDIAG_SHOW_PEER = 4
UNIX_DIAG_PEER = 2


def peer(pid: int, link: str) -> str:
    """`10.0.0.2:29500`; "" where there is none."""
    row = _row(pid, _inode(link))
    return _address(row[2]) if row and not row[2].endswith(":0000") else ""


def here(pid: int, link: str) -> str:
    """`127.0.0.1:8000`, where it listens."""
    row = _row(pid, _inode(link))
    return _address(row[1]) if row else "a socket"


def other_end(pid: int, link: str) -> int:
    """The number of the socket at the other end, if that is on this machine."""
    inode = _inode(link)
    row = _row(pid, inode)
    if row is None:
        return _unix_peer(inode)
    for other in _rows(pid):
        if other[1] == row[2] and other[2] == row[1]:
            return int(other[9])
    return 0


def _inode(link: str) -> int:
    number = link.removeprefix("socket:[").removesuffix("]")
    return int(number) if number.isdecimal() else 0


def _rows(pid: int) -> list[list[str]]:
    """Those of the process's own network, which may be a container's."""
    found = []
    for name in ("net/tcp", "net/tcp6"):
        rows = [line.split() for line in proc.text(pid, name).splitlines()[1:]]
        found += [row for row in rows if len(row) > 9]
    return found


def _row(pid: int, inode: int) -> list[str] | None:
    return next((row for row in _rows(pid) if row[9] == str(inode)), None) if inode else None


def _address(text: str) -> str:
    """`0100007F:1F90` → `127.0.0.1:8080`; four bytes at a time, the last first."""
    host, _, port = text.partition(":")
    data = bytes.fromhex(host)
    turned = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    if len(turned) == 4:
        return f"{socket.inet_ntop(socket.AF_INET, turned)}:{int(port, 16)}"
    if turned[:12] == bytes(10) + b"\xff\xff":
        return f"{socket.inet_ntop(socket.AF_INET, turned[12:])}:{int(port, 16)}"
    return f"[{socket.inet_ntop(socket.AF_INET6, turned)}]:{int(port, 16)}"


def _unix_peer(inode: int) -> int:
    """Pairs of Unix sockets, as multiprocessing makes: only the kernel's diagnosis knows them."""
    if not inode:
        return 0
    states = 0xFFFFFFFF
    ask = struct.pack("=BBHIII", socket.AF_UNIX, 0, 0, states, inode, UDIAG_SHOW_PEER) + ANY_COOKIE
    head = struct.pack("=IHHII", 16 + len(ask), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as line:
            line.settimeout(0.2)
            line.send(head + ask)
            answer = line.recv(4096)
    except (OSError, AttributeError):  # no such socket, or no such diagnosis in this kernel
        return 0
    at = 16 + 16  # the two heads; attributes follow
    while at + 8 <= len(answer):
        size, kind = struct.unpack_from("=HH", answer, at)
        if kind == UNIX_DIAG_PEER:
            return int(struct.unpack_from("=I", answer, at + 4)[0])
        at += (size + 3) & ~3 or 4
    return 0

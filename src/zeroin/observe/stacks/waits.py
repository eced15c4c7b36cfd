"""What a blocked thread waits for in the kernel, and which process should give it."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple
from zeroin.observe.spies import children
from zeroin.observe.stacks import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zeroin.observe.stacks.proc import Call, Process

READS = ("read", "pread64", "recvfrom", "recvmsg", "readv")
WRITES = ("write", "pwrite64", "writev", "sendto", "sendmsg")
SLEEPS = ("nanosleep", "clock_nanosleep", "pause", "rt_sigtimedwait")
MANY = ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2")
MOST = 64  # files that one call waits for
ALL_CHILDREN = 0xFFFFFFFF


class Wait(NamedTuple):
    """One wait. `kind` is for those who judge, `words` for those who read."""

    kind: str  # read, write, child, sleep, lock, timed, turn, file-lock, terminal, connect, …
    words: str  # "reads a pipe that worker 3 (pid 77) writes to"
    pids: tuple[int, ...] = ()  # who could end it
    fds: tuple[int, ...] = ()
    fd: int = -1


TURN = Wait("turn", "waits for its turn (the GIL)")


class Scene:
    """All that has to be known of the other processes to follow a wait to its end.

    Those of the tree are near, and looked at first.
    """

    def __init__(self, table: Mapping[int, Process], label: Callable[[int], str]) -> None:
        self.near = table
        self.label = label
        self._links: dict[int, dict[int, str]] = {}
        self._far: set[int] | None = None

    def far(self) -> set[int]:
        """All other processes, listed once somebody asks."""
        if self._far is None:
            self._far = {int(n) for n in os.listdir("/proc") if n.isdecimal()} - self.near.keys()
        return self._far

    def links(self, pid: int) -> dict[int, str]:
        """The open files of a process, read once."""
        if pid not in self._links:
            self._links[pid] = proc.links(pid)
        return self._links[pid]

    def holders(self, link: str) -> list[tuple[int, int]]:
        """Who has that pipe or socket open: in the tree, else anywhere on the machine."""
        found: list[tuple[int, int]] = []
        for pids in (self.near.keys, self.far):
            found += [
                (pid, fd)
                for pid in sorted(pids())
                for fd, one in self.links(pid).items()
                if one == link
            ]
            if len({pid for pid, _ in found}) > 1:
                break  # both ends
        return found

    def who(self, pid: int) -> str:
        """`worker 3 (pid 77), a zombie`."""
        label = self.label(pid)
        row = self.near.get(pid) or proc.read(pid)
        if label == f"pid {pid}" and pid not in self.near:
            words = proc.command(pid)
            label = "zeroin" if proc.is_zeroin(words) else " ".join(words)[:40] or label
        shown = label if f"pid {pid}" in label else f"{label} (pid {pid})"
        if row is not None and row.state == "Z":
            return f"{shown}, which has ended"
        if row is not None and row.state in "Tt":
            return f"{shown}, which is stopped"
        return shown


def of(pid: int, tid: int, scene: Scene) -> Wait:
    """What a thread is doing for the kernel, or the kernel for it."""
    state = proc.thread_state(pid, tid)
    if state == "R":
        return Wait("runs", "computes")
    if state in "Tt" and state:
        return Wait("stopped", "is stopped by a debugger" if state == "t" else "is stopped")
    call = proc.call(pid, tid)
    if call is None:
        where = proc.text(pid, f"task/{tid}/wchan").strip("0\n")
        return Wait("hidden", f"sleeps in {where}" if where else "")
    found = _of_call(pid, call, scene)
    if state == "D":
        found = found._replace(words=f"{found.words}, and can't be interrupted", kind="kernel")
    return found


def _of_call(pid: int, call: Call, scene: Scene) -> Wait:
    name, args = call
    if name == "futex":
        # With a time limit: so do threads wait that want the interpreter's lock.
        kind = "timed" if args[3] else "lock"
        return Wait(kind, "waits for a lock or another thread")
    if name in SLEEPS or (name in ("select", "pselect6") and not args[0]):
        return Wait("sleep", "sleeps")
    if name in ("wait4", "waitid"):
        return _child(pid, call)
    if name in ("flock", "fcntl"):
        return _lock_file(pid, args[0], scene)
    if name in MANY:
        fds = tuple(_many(pid, call))
        return Wait("many", _many_words(pid, fds, scene), _givers(pid, fds, scene), fds)
    if name in ("connect", "accept", "accept4") or name in READS or name in WRITES:
        return _one(pid, name, args[0], scene)
    link = scene.links(pid).get(args[0], "") if name in ("fsync", "openat") else ""
    return Wait("call", f"waits in {name} {link}".strip())


def _child(pid: int, call: Call) -> Wait:
    number = call.args[0] if call.name == "wait4" else call.args[1] if call.args[0] == 1 else -1
    row = proc.read(number) if 0 < number < ALL_CHILDREN else None
    if row is None:
        return Wait("child", "waits for its children", tuple(children(pid)))
    command = " ".join(proc.command(number))[:60] or row.name
    return Wait("child", f"waits for its child {number} ({command})", (number,))


def _one(pid: int, name: str, fd: int, scene: Scene) -> Wait:
    from zeroin.observe.stacks import sockets  # brings along a lot

    link = scene.links(pid).get(fd, "")
    if name == "connect":
        return Wait("connect", f"connects to {sockets.peer(pid, link) or 'another machine'}", fd=fd)
    if name.startswith("accept"):
        return Wait("accept", f"waits for somebody to connect to {sockets.here(pid, link)}", fd=fd)
    writing = name in WRITES
    verb = "writes to" if writing else "reads"
    if link.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
        words = "waits for input from the terminal" if not writing else f"writes to {link}"
        return Wait("terminal", words, fd=fd)
    if link.startswith("pipe:"):
        return _pipe(pid, fd, link, scene, writing=writing)
    if link.startswith("socket:"):
        peer, others = sockets.peer(pid, link), _others(pid, link, scene)
        to = f" to {peer}" if peer else ""
        whom = f", where {' and '.join(map(scene.who, others[:3]))} is" if others else ""
        return Wait("write" if writing else "read", f"{verb} a socket{to}{whom}", others, fd=fd)
    return Wait("file", f"{verb} {link or f'file {fd}'}{_file_system(link)}", fd=fd)


def _pipe(pid: int, fd: int, link: str, scene: Scene, *, writing: bool) -> Wait:
    """Who has the other end."""
    ends = [(other, end) for other, end in scene.holders(link) if (other, end) != (pid, fd)]
    givers = {p: None for p, end in ends if proc.writes(p, end) != writing}
    others = tuple(p for p in givers if p != pid)
    whom = " and ".join(map(scene.who, others[:3]))
    if len(others) > 3:
        whom = f"{scene.who(others[0])} and {len(others) - 1} more"
    if writing:
        words = f"writes to a full pipe that {whom or 'nobody else'} could read"
        return Wait("write", words, others, fd=fd)
    if others:
        return Wait("read", f"reads a pipe that {whom} can write to", others, fd=fd)
    only = "nobody but itself can write to" if pid in givers else "nobody can write to"
    return Wait("read", f"reads a pipe that {only}", (), fd=fd)


def _others(pid: int, link: str, scene: Scene) -> tuple[int, ...]:
    from zeroin.observe.stacks import sockets  # brings along a lot

    inode = sockets.other_end(pid, link)
    if not inode:
        return ()
    return tuple(dict.fromkeys(p for p, _ in scene.holders(f"socket:[{inode}]") if p != pid))


def _many(pid: int, call: Call) -> list[int]:
    """The files that poll, select or epoll were asked about."""
    name, args = call
    if name.startswith("epoll"):
        rows = proc.text(pid, f"fdinfo/{args[0]}").splitlines()
        return [int(row.split()[1]) for row in rows if row.startswith("tfd:")][:MOST]
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            if name in ("poll", "ppoll"):
                memory.seek(args[0])
                data = memory.read(8 * min(args[1], MOST))
                rows_of = range(0, len(data), 8)
                return [int.from_bytes(data[at : at + 4], "little") for at in rows_of]
            memory.seek(args[1])
            bits = int.from_bytes(memory.read((min(args[0], 1024) + 7) // 8), "little")
            return [fd for fd in range(min(args[0], 1024)) if bits >> fd & 1][:MOST]
    except (OSError, ValueError, OverflowError):
        return []


def _many_words(pid: int, fds: Sequence[int], scene: Scene) -> str:
    if not fds:
        return "waits for events"
    links = [scene.links(pid).get(fd, f"file {fd}") for fd in fds]
    if len(fds) == 1:
        return f"waits until it can read {_shown(pid, links[0], scene)}"
    return f"waits for any of {len(fds)} files"


def _shown(pid: int, link: str, scene: Scene) -> str:
    from zeroin.observe.stacks import sockets  # brings along a lot

    if link.startswith("pipe:"):
        others = [p for p, fd in scene.holders(link) if p != pid and proc.writes(p, fd)]
        return f"a pipe that {scene.who(others[0])} can write to" if others else "a pipe"
    if link.startswith("socket:"):
        peer = sockets.peer(pid, link)
        return f"a socket to {peer}" if peer else "a socket"
    return link


def _givers(pid: int, fds: Sequence[int], scene: Scene) -> tuple[int, ...]:
    found: dict[int, None] = {}
    for fd in fds:
        link = scene.links(pid).get(fd, "")
        if link.startswith("pipe:"):
            holders = scene.holders(link)
            found |= {p: None for p, end in holders if p != pid and proc.writes(p, end)}
        elif link.startswith("socket:"):
            found |= dict.fromkeys(_others(pid, link, scene))
    return tuple(found)


def _lock_file(pid: int, fd: int, scene: Scene) -> Wait:
    """`/proc/locks`: whoever waits stands with an arrow below who holds."""
    path = scene.links(pid).get(fd, "a file")
    holder = 0
    for line in _text("/proc/locks").splitlines():
        words = line.split()
        if "->" not in words and len(words) > 4:
            holder = int(words[4]) if words[4].isdecimal() else 0
        elif str(pid) in words and holder:
            whose = f"which {scene.who(holder)} holds" if holder != pid else "which it holds itself"
            return Wait("file-lock", f"waits for the lock of {path}, {whose}", (holder,), fd=fd)
    return Wait("file-lock", f"waits for the lock of {path}", fd=fd)


def _file_system(path: str) -> str:
    """Say so where it is another machine's disk."""
    best = ("", "")
    for line in _text("/proc/self/mounts").splitlines():
        _, at, kind, *_ = line.split()
        if (path + "/").startswith(at.rstrip("/") + "/") and len(at) >= len(best[0]):
            best = (at, kind)
    remote = ("nfs", "cifs", "smb", "lustre", "ceph", "fuse", "beegfs", "gpfs", "9p")
    return f" ({best[1]}: another machine's disk)" if best[1].startswith(remote) else ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def mine(pid: int) -> bool:
    """Whether its calls are ours to see."""
    return os.access(f"/proc/{pid}/syscall", os.R_OK)

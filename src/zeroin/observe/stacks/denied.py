"""Why we may not look into a process, and the command that helps: by checks, not by guesses."""

from __future__ import annotations

import os
import sys

from zeroin.named import NamedTuple
from zeroin.observe.stacks import proc

SYS_PTRACE = 19  # the bit of the capability
ENDED = "it has ended while we looked"
YAMA = "/proc/sys/kernel/yama/ptrace_scope"


class Denied(NamedTuple):
    """Why not, and what to type; "" where nothing helps."""

    why: str
    remedy: str


def why(pid: int, said: str) -> Denied:
    """Of a process that gave no stack; `said` are py-spy's own words."""
    if proc.read(pid) is None:
        return Denied(ENDED, "")
    if not _is_forbidden(pid):
        return _unreadable(pid, said)
    from zeroin.observe.machine import fixes

    owner, me = proc.owner(pid), os.geteuid()
    again = fixes.as_root(f"{_zeroin()} stacks {pid}")
    if not _can_trace():
        if owner is not None and owner != me:
            return Denied(f"it is {_user(owner)}'s, and you are {_user(me)}", again)
        return _own(pid, again)
    if _filtered():
        start = "docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined …"
        return Denied("a seccomp filter forbids ptrace", start)
    return Denied(f"the kernel forbids it: {said}", "zeroin doctor")


def _is_forbidden(pid: int) -> bool:
    """The kernel asks the same of who opens this as of a debugger."""
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _own(pid: int, again: str) -> Denied:
    """Our own process, and yet we may not."""
    if os.geteuid() == 0:
        start = "docker run --cap-add SYS_PTRACE …"
        return Denied("root here lacks the capability SYS_PTRACE, as in most containers", start)
    scope = _text(YAMA)
    if scope in ("1", "2"):
        from zeroin.observe.machine import fixes

        allow = fixes.as_root(f"tee {YAMA}")
        which = "only parents may look" if scope == "1" else "only root may look"
        if scope == "2":
            return Denied(f"Yama's ptrace_scope is 2: {which}", again)
        return Denied(f"Yama's ptrace_scope is 1: {which}", f"echo 0 | {allow}")
    if scope == "3":
        return Denied(
            "Yama's ptrace_scope is 3: nobody may look until the machine starts anew",
            "zeroin stacks -- COMMAND",
        )
    if _owner_of_files(pid) not in (None, os.geteuid()):
        return Denied("it has made itself unreadable, as programs with special rights are", again)
    if _status(pid, "CapPrm") & ~_status("self", "CapPrm"):
        return Denied("it has rights that you don't have", again)
    if _filtered():
        start = "docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined …"
        return Denied("a seccomp filter forbids ptrace", start)
    return Denied("the kernel forbids it", again)


def _unreadable(pid: int, said: str) -> Denied:
    """We may look, but py-spy can't read what is there."""
    program = os.path.basename(_link(pid, "exe")) or "it"
    if "pypy" in program:
        return Denied("it is PyPy, and py-spy reads only CPython", f"gdb -p {pid} -ex bt")
    if not said:
        return Denied("it is no Python", "")
    if "find python version" in said or "python process" in said:
        return Denied("it is just starting, or a Python that py-spy does not know", "")
    return Denied(said, "")


def _zeroin() -> str:
    """How root gets the very same zeroin: it is on no path of root's."""
    import shlex

    beside = os.path.join(os.path.dirname(sys.executable), "zeroin")
    if os.access(beside, os.X_OK):
        return shlex.quote(beside)
    path = os.environ.get("PYTHONPATH", "")
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    start = f"env PYTHONPATH={shlex.quote(here)} " if here in path.split(os.pathsep) else ""
    return f"{start}{shlex.quote(sys.executable)} -m zeroin"


def _can_trace() -> bool:
    return bool(_status("self", "CapEff") >> SYS_PTRACE & 1)


def _filtered() -> bool:
    return "Seccomp:\t2" in _text("/proc/self/status")


def _status(pid: int | str, name: str) -> int:
    for line in _text(f"/proc/{pid}/status").splitlines():
        if line.startswith(name):
            return int(line.split()[1], 16)
    return 0


def _owner_of_files(pid: int) -> int | None:
    """Root's, where a process may not be dumped."""
    try:
        return os.stat(f"/proc/{pid}/environ").st_uid
    except OSError:
        return None


def _user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _link(pid: int, name: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError:
        return ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""

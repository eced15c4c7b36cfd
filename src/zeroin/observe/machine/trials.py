"""What the doctor really tries, each trial in a short-lived process of its own.

This file is run as a script, `python -I -S trials.py DEADLINE`, and prints one JSON object:
for each trial an errno for each thing tried, 0 where it worked. What fails, hangs or crashes
here takes nothing with it, and nothing outlives it: children die with their parent, mounts
are in a namespace that ends with the process, files have no name, an alarm ends what hangs.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

Result = dict[str, Any]

PR_SET_PDEATHSIG = 1
PTRACE_SEIZE = 0x4206
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
FICLONE = 0x40049409


def set_alarm() -> None:
    """End this process at the deadline, a time of the machine's monotonic clock."""
    left = float(sys.argv[1]) - time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, max(left, 0.05))


def libc() -> ctypes.CDLL:
    """Load the C library so that its errno can be read."""
    return ctypes.CDLL(None, use_errno=True)


def code(returned: int) -> int:
    """Give the errno of a call that returned -1, else 0."""
    return ctypes.get_errno() if returned == -1 else 0


def code_of(act: Callable[[], object]) -> int:
    """Give the errno that an action fails with, else 0."""
    try:
        act()
    except OSError as error:
        return error.errno or errno.EIO
    return 0


# --- ptrace ----------------------------------------------------------------------


def ptrace() -> Result:
    """Attach to a child of ours, then, as py-spy has to, to a process that is no child."""
    call = libc().ptrace
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    call.restype = ctypes.c_long
    child, sibling = sleeper(), sleeper()
    own = code(call(PTRACE_SEIZE, child, None, None))
    onlooker = os.fork()
    if onlooker == 0:
        os._exit(code(call(PTRACE_SEIZE, sibling, None, None)))
    _, status = os.waitpid(onlooker, 0)
    for pid in (child, sibling):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return {"child": own, "other": os.waitstatus_to_exitcode(status)}


def sleeper() -> int:
    """Fork a process that does nothing and dies with us."""
    pid = os.fork()
    if pid == 0:
        libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        set_alarm()
        sleep_for_ever()
    return pid


def sleep_for_ever() -> NoReturn:
    """Wait for the signal that ends us."""
    while True:
        signal.pause()


# --- namespaces --------------------------------------------------------------------


def namespaces() -> Result:
    """Enter a user and mount namespace (as root a mount namespace will do), try an overlay."""
    found = {"user": enter_user_namespace(), "overlay": errno.EPERM}
    inside = found["user"] == 0
    if not inside and os.geteuid() == 0:
        found["mount"] = code(libc().unshare(CLONE_NEWNS))
        inside = found["mount"] == 0
    if inside:
        found["overlay"] = code_of(overlay)
    return found


def enter_user_namespace() -> int:
    """Unshare and map our own user; Ubuntu lets the first pass and forbids the second."""
    uid, gid = os.getuid(), os.getgid()
    failed = code(libc().unshare(CLONE_NEWUSER | CLONE_NEWNS))
    if failed:
        return failed
    return code_of(lambda: write_maps(uid, gid))


def write_maps(uid: int, gid: int) -> None:
    """Keep our user and group inside the new namespace."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def overlay() -> None:
    """Lay an overlay on a small tmpfs and write through it; /tmp is hidden only from us."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("none", "/tmp", "tmpfs", 0, "size=1m")  # noqa: S108 - our own tmpfs, in our namespace
    os.chdir("/tmp")  # noqa: S108
    for name in ("lower", "upper", "work", "seen"):
        os.mkdir(name)
    layers = "lowerdir=lower,upperdir=upper,workdir=work"
    try:
        mount("overlay", "seen", "overlay", 0, f"{layers},userxattr")
    except OSError:  # the option is for user namespaces of newer kernels
        mount("overlay", "seen", "overlay", 0, layers)
    with open("seen/file", "w", encoding="ascii") as file:
        file.write("written through")
    os.stat("upper/file")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount, raising OSError."""
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    failed = code(libc().mount(*words, ctypes.c_ulong(flags), data.encode()))
    if failed:
        raise OSError(failed, os.strerror(failed), target)


# --- cgroups --------------------------------------------------------------------------


def cgroups() -> Result:
    """Make a group below our own that can limit memory, in each version that is mounted."""
    found: Result = {}
    for version, folder, knob in memory_cgroups():
        below = f"{folder}/zeroin-doctor-{os.getpid()}"
        failed = code_of(lambda below=below: os.mkdir(below))  # type: ignore[misc]
        if not failed:
            try:
                failed = code_of(lambda path=f"{below}/{knob}": write_limit(path))  # type: ignore[misc]
            finally:
                os.rmdir(below)
        found[version] = failed
    return found


def write_limit(path: str) -> None:
    """Set a limit of 64 MiB; without O_CREAT, since a knob that isn't there can't be made."""
    knob = os.open(path, os.O_WRONLY)
    try:
        os.write(knob, b"67108864")
    finally:
        os.close(knob)


def memory_cgroups() -> list[tuple[str, str, str]]:
    """Find our own group in each hierarchy that may limit memory: version, folder, knob."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(":", 2) for line in file]
    ours = {name: path for _, names, path in rows for name in names.split(",")}
    found = []
    with open("/proc/self/mounts", encoding="utf-8") as file:
        for _, at, kind, options, *_ in map(str.split, file):
            if kind == "cgroup2" and "" in ours:
                found.append(("v2", own_group(at, ours[""]), "memory.max"))
            elif kind == "cgroup" and "memory" in options.split(",") and "memory" in ours:
                found.append(("v1", own_group(at, ours["memory"]), "memory.limit_in_bytes"))
    return found


def own_group(at: str, path: str) -> str:
    """Give the folder of a group; in a container the path may be the host's: take the top."""
    folder = at + path.rstrip("/")
    return folder if os.path.isdir(folder) else at


# --- devices, files, text -----------------------------------------------------------------


def cuda() -> Result:
    """Ask the CUDA driver which devices it has; no context is made, no memory taken."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {"loaded": False}
    result = driver.cuInit(0)
    if result:
        return {"loaded": True, "cuInit": result}
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    names = []
    for number in range(count.value):
        device, text = ctypes.c_int(), ctypes.create_string_buffer(256)
        driver.cuDeviceGet(ctypes.byref(device), number)
        driver.cuDeviceGetName(text, 256, device)
        names.append(text.value.decode(errors="replace"))
    return {"loaded": True, "cuInit": 0, "names": names}


def reflink() -> Result:
    """Clone a file without a name in the current folder."""
    import fcntl
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=".") as one, tempfile.TemporaryFile(dir=".") as two:
            one.write(b"x" * 4096)
            one.flush()
            return {"clone": code_of(lambda: fcntl.ioctl(two, FICLONE, one.fileno()))}
    except OSError as error:
        return {"write": error.errno or errno.EIO}


def shm() -> Result:
    """Take a page of shared memory, and see how much there is."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir="/dev/shm") as file:
            os.posix_fallocate(file.fileno(), 0, 4096)
    except OSError as error:
        return {"write": error.errno or errno.EIO}
    size = os.statvfs("/dev/shm")  # noqa: S108
    return {"bytes": size.f_frsize * size.f_blocks, "free": size.f_frsize * size.f_bavail}


def text() -> Result:
    """Take the user's locale and say how it writes text."""
    import locale

    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        return {"known": False}
    return {"known": True, "codeset": locale.nl_langinfo(locale.CODESET)}


TRIALS: tuple[Callable[[], Result], ...] = (ptrace, namespaces, cgroups, cuda, reflink, shm, text)


# --- all of them ---------------------------------------------------------------------------


def start(trial: Callable[[], Result]) -> tuple[int, int]:
    """Fork a process for a trial: its number, and the pipe its answer comes through."""
    answer, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            set_alarm()
            libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.write(end, json.dumps(trial()).encode())
        finally:
            os._exit(0)
    os.close(end)
    return pid, answer


def finish(pid: int, answer: int) -> Result:
    """Wait for a trial: what it answered, or what it died of."""
    with os.fdopen(answer, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    found: Result = json.loads(said) if said else {"died": os.waitstatus_to_exitcode(status)}
    return found


def main() -> None:
    """Try everything at once and print what came of it."""
    started = {trial.__name__: start(trial) for trial in TRIALS}
    print(json.dumps({name: finish(*trial) for name, trial in started.items()}))


if __name__ == "__main__":
    main()

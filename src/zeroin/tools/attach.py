"""`files -p`: the failures of a process that runs already, from now on."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess

from zeroin.errors import UntestableError, UsageError, ZeroinError
from zeroin.observe.calls import report as reporting
from zeroin.run import traced
from zeroin.tools.files import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PARENT_DEATH = 1  # PR_SET_PDEATHSIG


def attach(
    pid: int, seconds: float | None, on_start: Callable[[], None], *, everything: bool = False
) -> Found:
    """Trace until it ends, the time is over, or Ctrl-C; the process goes on."""
    _check(pid)
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read().decode("utf-8", "replace").split("\0")
    trace = traced.Trace(" ".join([os.path.basename(words[0]), *words[1:3]]), _cwd(pid))
    # Ctrl-C ends the tracing and loses nothing, from its very begin on.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        process = _start_strace(trace.of(pid), before)
        trace.begin()
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            on_start()
            _, said = process.communicate(timeout=seconds)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    history = trace.end(pid, patience=0.0)
    if "attach" in said and not history.last:
        because = said.strip().splitlines()[-1].rpartition(": ")[2].lower()
        raise UntestableError(
            f"process {pid} can't be traced: {because}",
            hint="see ptrace in: zeroin doctor",
        )
    failures, hidden = reporting.failures(history, everything=everything)
    opened, written = reporting.used(history.opened), reporting.used(history.written)
    return Found(failures, hidden, opened, written, "strace", history.lost)


def _start_strace(words: Sequence[str], mask: Iterable[int]) -> subprocess.Popen[str]:
    """Start it so that it ends with us, and then lets go of the process that it traces."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(PARENT_DEATH, signal.SIGTERM)  # its way to detach
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is for us alone
        preexec_fn=prepare,  # noqa: PLW1509 - there is no thread yet
    )


def _check(pid: int) -> None:
    if pid == os.getpid():
        raise UsageError(f"process {pid} is zeroin itself")
    if not os.path.isdir(f"/proc/{pid}"):
        raise ZeroinError(
            f"there is no process {pid}", hint=f"what is left of it: zeroin why -p {pid}"
        )
    if not traced.can_trace():
        from zeroin.observe.machine import fixes

        raise UntestableError(
            "strace is not on PATH, and a process that runs can't be watched without",
            hint=f"install it: {fixes.system_package('strace')}",
        )
    user = os.stat(f"/proc/{pid}").st_uid
    if os.geteuid() not in (0, user):
        import pwd

        name = pwd.getpwuid(user).pw_name
        raise ZeroinError(
            f"process {pid} belongs to {name}",
            hint=f"as that user: sudo -u {name} zeroin files -p {pid}",
        )


def _cwd(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return "/"

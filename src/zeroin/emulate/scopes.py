"""A scope of systemd's: a group that a plain user may have, where the machine runs systemd.

A process of ours holds it: it does nothing, and ends when our end of its input closes, however we
ended. The limits are set on a group inside of the scope, which is ours to change (`Delegate=`); so
it can still be read when the last process of the command has ended.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import subprocess

from zeroin.emulate import cgroups

SECONDS = 10.0  # for systemd to answer
OPTIONS = ("--scope", "--quiet", "--collect", "--property=Delegate=yes")
HOLD = "hold"  # the group of the process that holds it: no process may be beside groups
MANAGER = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1")
ATTACH = ("org.freedesktop.systemd1.Manager", "AttachProcessesToUnit", "ssau")


class Scope:
    """Close it in any case."""

    def __init__(self, name: str) -> None:
        reason = lacks()
        if reason:
            raise OSError(errno.ENOSYS, reason)
        self._unit = f"{name}.scope"
        self._holder = subprocess.Popen(
            [*_asked("systemd-run"), *OPTIONS, f"--unit={self._unit}", "--", "cat"],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the command
        )
        self.pid = self._holder.pid
        try:
            self._wait()
            self.folder = cgroups.group_of(self.pid)
            os.mkdir(os.path.join(self.folder, HOLD))
            cgroups.write(os.path.join(self.folder, HOLD), "cgroup.procs", str(self.pid))
        except BaseException:
            self.close()
            raise

    def _wait(self) -> None:
        """Until it says what it is told: then it is no longer systemd-run."""
        to, back, errors = self._holder.stdin, self._holder.stdout, self._holder.stderr
        if to is None or back is None or errors is None:
            raise OSError(errno.EPIPE, "no pipes")
        try:
            os.write(to.fileno(), b".")
        except BrokenPipeError:  # it has ended, and says why
            pass
        if not select.select([back], [], [], SECONDS)[0]:
            raise OSError(errno.ETIMEDOUT, "systemd does not answer")
        if not os.read(back.fileno(), 1):
            said = errors.read().decode(errors="replace").split("\n", 1)[0]
            raise OSError(errno.EACCES, said or "systemd-run failed")

    def enable(self, controller: str) -> None:
        """For groups in it; OSError if systemd was not given that one itself."""
        cgroups.write(self.folder, "cgroup.subtree_control", f"+{controller}")

    def attach(self, pid: int, group: str) -> None:
        """Ask systemd to bring a process into a group in it."""
        words = (*MANAGER, *ATTACH, self._unit, f"/{group}", "1", str(pid))
        try:
            done = subprocess.run(
                [*_asked("busctl"), "call", *words],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise OSError(errno.ETIMEDOUT, "systemd does not answer") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise OSError(errno.EACCES, said or "systemd refuses")

    def close(self) -> None:
        """Without a process in it systemd removes it."""
        for pipe in (self._holder.stdin, self._holder.stdout, self._holder.stderr):
            if pipe is not None:
                pipe.close()
        try:
            self._holder.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()


def lacks() -> str:
    """Why there can be none, as far as that is known without asking systemd."""
    if not os.path.isdir("/run/systemd/system"):
        return "systemd is not running"
    missing = [name for name in ("systemd-run", "busctl") if shutil.which(name) is None]
    return f"there is no {missing[0]}" if missing else ""


def _asked(command: str) -> list[str]:
    return [command] if os.geteuid() == 0 else [command, "--user"]


def _environment() -> dict[str, str]:
    """`su` and `sudo` leave out where the user's own systemd is."""
    place = f"/run/user/{os.geteuid()}"
    return {"XDG_RUNTIME_DIR": place, **os.environ} if os.path.isdir(place) else dict(os.environ)

"""The tasks of programs that zeroin did not start, read by interpreters like theirs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time

from zeroin.observe.stacks.stack import AGENT, Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SECONDS = 10.0
AT_ONCE = 16  # interpreters
_FOLDER = os.path.join(AGENT, "afar")
# All that the interpreter is told to do: make modules of the texts that it is sent.
_LOAD = """\
import sys
from types import ModuleType
for name, file, text in eval(sys.stdin.buffer.read()):
    module = sys.modules[name] = ModuleType(name)
    module.__package__ = "afar"
    exec(compile(text, file, "exec"), module.__dict__)
module.main(int(sys.argv[1]))
"""


class RefusedError(Exception):
    """The interpreter must not be started again; the message says why."""


class Reading:
    """What was found of several processes."""

    def __init__(self) -> None:
        self.tasks: dict[int, list[Stack]] = {}
        self.failed: dict[int, str] = {}  # process → why


def read(pids: Iterable[int]) -> Reading:
    """Read the tasks of all of them, several at once."""
    found = Reading()
    rest = list(pids)
    sent = _texts() if rest else b""
    while rest:
        begun: dict[int, subprocess.Popen[bytes]] = {}
        for pid in rest[:AT_ONCE]:
            try:
                begun[pid] = _begin(pid, sent)
            except RefusedError as error:
                found.failed[pid] = str(error)
            except (OSError, subprocess.SubprocessError) as error:
                found.failed[pid] = f"its interpreter can't be started again: {_said(error)}"
        until = time.monotonic() + SECONDS
        for pid, helper in begun.items():
            try:
                told = _answer(helper, until)
                if "why" in told:
                    found.failed[pid] = str(told["why"])
                found.tasks[pid] = [_stack(pid, *one) for one in told.get("tasks", ())]
            except (ValueError, TypeError, AttributeError):  # it may be anybody's
                found.failed[pid] = "its interpreter, started again, could not tell where they are"
        rest = rest[AT_ONCE:]
    return found


def _texts() -> bytes:
    """The files, as what Python reads back with `eval`: the package first."""
    from zeroin.agent.afar import FILES

    texts = [("afar", "", "__path__ = []")]
    for name in FILES:
        path = os.path.join(_FOLDER, f"{name}.py")
        with open(path, encoding="utf-8") as file:
            texts.append((f"afar.{name}", path, file.read()))
    return repr(texts).encode()


def _stack(pid: int, name: str, frames: list[list[Any]]) -> Stack:
    """One task, as it was told: innermost frame first."""
    found = [(str(file), int(line), str(function)) for file, line, function in reversed(frames)]
    return Stack(pid, f"Task {' '.join(name.split())}", found, "asyncio")  # in one line


def _begin(pid: int, sent: bytes) -> subprocess.Popen[bytes]:
    """Start its own interpreter, as its own user: what another has installed is not run as root."""
    # Held open, the folder is of this process for good: its number may be another's by then.
    folder = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY)
    try:
        name = os.readlink("exe", dir_fd=folder).removesuffix(" (deleted)")
        _refuse(folder, os.path.basename(name))
        status = os.fstat(folder)
        as_user: dict[str, Any] = {}
        if os.geteuid() == 0 and status.st_uid != 0:
            as_user = {"user": status.st_uid, "group": status.st_gid, "extra_groups": []}
        helper = subprocess.Popen(
            # By this name it finds its own library; what is run is the very file of the process.
            [name, "-I", "-S", "-B", "-c", _LOAD, str(pid)],
            executable=f"/proc/self/fd/{folder}/exe",
            pass_fds=[folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_libraries(pid),
            cwd="/",
            start_new_session=True,
            **as_user,
        )
    finally:
        os.close(folder)
    given, helper.stdin = helper.stdin, None  # all of it at once, before any answer is awaited
    # If it has ended, what it says tells why, or that it says nothing.
    with contextlib.suppress(BrokenPipeError), given or open(os.devnull, "wb") as pipe:
        pipe.write(sent)
    return helper


def _refuse(folder: int, name: str) -> None:
    """Raise where to start it again would be more than that.

    A program that has Python in it, frozen or embedded, would be started itself. And what is in
    a container, or in a sandbox, must not get out of it by being looked at.
    """
    if not (name.startswith("python") and set(name[6:]) <= set("0123456789.-dbgtm")):
        raise RefusedError(f"{name} is no interpreter that could be started again to read them")
    for part in ("ns/mnt", "ns/user", "root"):
        if os.readlink(part, dir_fd=folder) != os.readlink(f"/proc/self/{part}"):
            raise RefusedError("it is in a container or a sandbox, and not started outside")


def _libraries(pid: int) -> dict[str, str]:
    """Where its interpreter finds the library that it may be made of."""
    from zeroin.observe.stacks import proc

    return {k: v for k, v in proc.environ(pid).items() if k == "LD_LIBRARY_PATH"}


def _answer(helper: subprocess.Popen[bytes], until: float) -> dict[str, Any]:
    try:
        out, _ = helper.communicate(timeout=max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.communicate()
        return {"why": "its interpreter took too long when it was started again"}
    told: dict[str, Any] = json.loads(out)
    return told


def _said(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error)).lower()

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
            except (OSError, subprocess.SubprocessError) as error:
                found.failed[pid] = f"its interpreter can't be started again: {_said(error)}"
        until = time.monotonic() + SECONDS
        for pid, helper in begun.items():
            told = _answer(helper, until)
            found.tasks[pid] = [
                Stack(pid, f"Task {name}", [tuple(frame) for frame in reversed(frames)], "asyncio")
                for name, frames in told.get("tasks", ())
            ]
            if "why" in told:
                found.failed[pid] = told["why"]
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


def _begin(pid: int, sent: bytes) -> subprocess.Popen[bytes]:
    """Start its own interpreter, as its own user: what another has installed is not run as root."""
    status = os.stat(f"/proc/{pid}")
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0 and status.st_uid != 0:
        as_user = {"user": status.st_uid, "group": status.st_gid, "extra_groups": []}
    helper = subprocess.Popen(
        # By this name it finds its own library; what is run is the very file of the process.
        [_without_mark(os.readlink(f"/proc/{pid}/exe")), "-I", "-S", "-B", "-c", _LOAD, str(pid)],
        executable=f"/proc/{pid}/exe",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_libraries(pid),
        cwd="/",
        start_new_session=True,
        **as_user,
    )
    given, helper.stdin = helper.stdin, None  # all of it at once, before any answer is awaited
    # If it has ended, what it says tells why, or that it says nothing.
    with contextlib.suppress(BrokenPipeError), given or open(os.devnull, "wb") as pipe:
        pipe.write(sent)
    return helper


def _without_mark(path: str) -> str:
    return path.removesuffix(" (deleted)")


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
    try:
        told: dict[str, Any] = json.loads(out)
    except ValueError:
        return {"why": "its interpreter, started again, could not tell where they are"}
    return told


def _said(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error)).lower()

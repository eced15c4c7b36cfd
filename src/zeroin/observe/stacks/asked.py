"""The agent's own thread, asked: only inside the program can a tensor's shape be told."""

from __future__ import annotations

import json
import os
import socket

from zeroin.observe.stacks.faults import FAULT_FD
from zeroin.observe.stacks.stack import Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECONDS = 0.3  # while the interpreter's lock is held it can't answer: then py-spy looks
BIGGEST = 16 << 20


def stacks(pid: int) -> list[Stack]:
    """All threads with summarised locals; [] where no thread of ours is, or it can't answer."""
    try:
        folder = os.path.dirname(os.readlink(f"/proc/{pid}/fd/{FAULT_FD}"))
    except OSError:
        return []
    path = os.path.join(folder, f"ask-{pid}")
    if not os.path.exists(path):
        return []
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(SECONDS)
            line.connect(path)
            data = bytearray()
            while part := line.recv(1 << 16):
                data += part
                if len(data) > BIGGEST:
                    return []
        found = json.loads(data)
    except (OSError, ValueError):
        return []
    return [_stack(pid, one) for one in found["threads"]]


def _stack(pid: int, one: dict[str, Any]) -> Stack:
    frames = [(file, line, name) for file, line, name, _ in one["frames"]]
    values = [values for _, _, _, values in one["frames"]]
    return Stack(pid, one["thread"], frames, "agent", values, one["tid"])

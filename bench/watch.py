"""What `zeroin watch` takes of a processor, twice a second, with 500 processes beside it.

On a terminal of 160 × 50, of which everything that is painted is read. Once none of the 500
is asked for, once all are, once everything of the machine. Beside it top, in a terminal and
as text, htop where it is, and watch(1) with ps: of what they start, the processor time counts
as well.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
from typing import TYPE_CHECKING

from bench.report import Row, at_most

if TYPE_CHECKING:
    from bench.scene import Scene

PROCESSES = 500
SETTLE = 2.0  # seconds after the start
SECONDS = 10.0
TARGET = 2.0  # percent of one processor
HERTZ = os.sysconf("SC_CLK_TCK")


def measure(scene: Scene) -> list[Row]:
    """Each in turn, on its own."""
    zeroin = [scene.zeroin, "watch"]
    cases = {
        "zeroin watch, none of them asked for": [*zeroin, "no-such-program"],
        "zeroin watch, all of them asked for": [*zeroin, "sleep"],
        "zeroin watch, memory, cpu and all": zeroin,
        "zeroin watch, as lines in a pipe": [*zeroin, "sleep", "--plain"],
        "top": ["top", "-d", "0.5"],
        "top -b": ["top", "-b", "-d", "0.5"],
        "htop": ["htop", "-d", "5"],
        "watch ps aux": ["watch", "-n", "0.5", "ps", "aux"],
    }
    seconds = 3.0 if scene.quick else SECONDS
    sleepers = [subprocess.Popen(["sleep", "100000"]) for _ in range(PROCESSES)]
    rows = []
    try:
        for name, words in cases.items():
            if shutil.which(words[0]) is None:
                rows.append(Row(f"{name}: not installed"))
                continue
            share = 100 * _share(words, scene, seconds)
            goals = (at_most(share, TARGET, "%"),) if words[0] == scene.zeroin else ()
            figure = f"{share:.2f} % of a processor"
            rows.append(Row(name, figure, "", goals, {"percent": share}))
    finally:
        for sleeper in sleepers:
            sleeper.kill()
        for sleeper in sleepers:
            sleeper.wait()
    return rows


def _share(words: list[str], scene: Scene, seconds: float) -> float:
    outer, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("hhhh", 50, 160, 0, 0))
    process = subprocess.Popen(
        words,
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**scene.env, "TERM": "xterm-256color"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread yet
    )
    reader = threading.Thread(target=_read, args=(outer,), daemon=True)
    reader.start()
    try:
        time.sleep(SETTLE)
        before, started = _spent(process.pid), time.monotonic()
        time.sleep(seconds)
        return (_spent(process.pid) - before) / (time.monotonic() - started)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        os.close(inner)
        reader.join()
        os.close(outer)


def _read(fd: int) -> None:
    try:
        while os.read(fd, 1 << 16):
            pass
    except OSError:  # its other end is closed
        pass


def _spent(pid: int) -> float:
    """Processor seconds of a process, with the children that it has waited for."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return sum(map(int, file.read().rpartition(b")")[2].split()[11:15])) / HERTZ

"""A terminal whose screen can be looked at."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from typing import TYPE_CHECKING

import pyte
import pytest

if TYPE_CHECKING:
    import support

SMI = """\
#!{python} -S
import sys
asked = sys.argv[1]
if asked.startswith("--query-gpu="):
    print("0, GPU-aaaa, Imaginary 9000, 12345, 24576, 87, 61, 250.50")
    print("1, GPU-bbbb, Imaginary 9000, 10, 24576, [N/A], 35, [Not Supported]")
elif asked.startswith("--query-compute-apps="):
    for line in open({holders!r}):
        print(line.strip())
"""


class Screen:
    """A command on a terminal, and what that shows: a second screen, then the first again."""

    def __init__(self, terminal: support.Terminal, rows: int, cols: int) -> None:
        self.terminal = terminal
        self.raw = ""
        self.screen = pyte.Screen(cols, rows)
        self.stream = pyte.Stream(self.screen)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def pump(self, seconds: float = 0.05) -> bool:
        """Take what is there; whether it goes on."""
        fd = self.terminal.process.child_fd
        if not select.select([fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(fd, 1 << 16)
        except OSError:
            return False
        text = data.decode("utf-8", "replace")
        self.raw += text
        self.stream.feed(text)
        return bool(data)

    def until(self, met, seconds: float = 30.0) -> None:
        """Wait until the screen shows it: a text, or a condition of the screen."""
        end = time.monotonic() + seconds
        shows = met if callable(met) else (lambda s: met in s.text)
        while not shows(self):
            alive = self.pump()
            assert time.monotonic() < end, self.text
            assert alive or shows(self), f"ended:\n{self.text}"

    def ended(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + 30
        while self.pump():
            assert time.monotonic() < end, self.text
        process = self.terminal.process
        process.wait()
        return process.exitstatus if process.exitstatus is not None else -process.signalstatus

    def resize(self, rows: int, cols: int) -> None:
        self.screen.resize(rows, cols)
        self.terminal.resize(rows, cols)

    def reversed_at(self, row: int) -> str:
        """The characters of a line that are shown reversed."""
        cells = self.screen.buffer[row]
        return "".join(cells[x].data for x in range(self.screen.columns) if cells[x].reverse)


@pytest.fixture
def watch(terminal, zeroin):
    """Watch on a terminal: `watch("memory", rows=30, cols=100)`."""

    def start(*args, rows=30, cols=100, env=None, words=None, cwd=None):
        opened = terminal(
            words or [*zeroin.driver, "watch", *args],
            cwd=cwd or zeroin.base,
            env=zeroin.env | (env or {}),
            rows=rows,
            cols=cols,
        )
        return Screen(opened, rows, cols)

    return start


@pytest.fixture
def smi(tmp_path):
    """A stand-in for nvidia-smi: the variables that put it on the path, and the file of holders."""
    folder = tmp_path / "smi"
    folder.mkdir()
    holders = folder / "holders"
    holders.write_text("")
    tool = folder / "nvidia-smi"
    tool.write_text(SMI.format(python=sys.executable, holders=str(holders)))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}, holders

"""A command that is run again and again, for `watch`: what it printed, and how it ended.

It never makes us wait: its output is taken when there is some. It has no terminal and no
input, so that it can neither paint over our screen nor take our keys.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time

from zeroin.errors import NOT_EXECUTABLE, CommandNotFoundError
from zeroin.named import NamedTuple
from zeroin.run import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST = 1 << 20  # bytes of output that are looked at
GRACE = 0.5  # seconds between asking it to end and making it


class Result(NamedTuple):
    """One run."""

    text: str
    exit_code: int  # minus the signal's number
    seconds: float
    at: float  # time.time() of its end
    cut: bool  # whether it printed more than is kept


class Repeated:
    """One run after the other; the next begins an interval after the end of the last."""

    def __init__(self, words: Sequence[str], interval: float, cwd: str | None = None) -> None:
        self.words = list(words)
        self.interval = interval
        self.last: Result | None = None
        self.runs = 0
        self._argv = _argv(words)
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._output = b""
        self._cut = False
        self._silent = False  # it has closed its output
        self._began = 0.0
        self._due = 0.0

    @property
    def running_for(self) -> float | None:
        """Seconds of the present run."""
        return None if self._process is None else time.monotonic() - self._began

    @property
    def so_far(self) -> str:
        """What the present run has printed by now."""
        return self._output.decode("utf-8", "replace")

    @property
    def due(self) -> float | None:
        """When to begin the next run, on the monotonic clock; None while one is under way."""
        return self._due if self._process is None else None

    def fileno(self) -> int:
        """What to poll while it runs; -1 otherwise."""
        if self._process is None or self._process.stdout is None or self._silent:
            return -1
        return self._process.stdout.fileno()

    def start(self, env: Mapping[str, str]) -> None:
        """Begin a run."""
        self._began = time.monotonic()
        self._output, self._cut, self._silent = b"", False, False
        try:
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self._cwd,
                env=dict(env),
                start_new_session=True,  # Ctrl-C is for us; and so it can be ended whole
            )
        except OSError as error:  # it was there when we began
            why = f"{self._argv[0]}: {error.strerror}\n"
            self._finish(Result(why, NOT_EXECUTABLE, 0.0, time.time(), cut=False))
            return
        os.set_blocking(self.fileno(), False)

    def take(self) -> bool:
        """Take what it has printed; whether it has ended.

        The end is the end of the command, not of its output: what it left in the background
        may hold that open for ever.
        """
        process = self._process
        if process is None:
            return False
        ended = process.poll() is not None
        self._read()
        if self._cut and not ended:  # it would print for ever, and nobody would see it
            self._end(process)
            ended = True
        if self._silent and not ended:  # it ends in a moment, or goes on without a word
            try:
                process.wait(0.02)
                ended = True
            except subprocess.TimeoutExpired:
                pass
        if not ended:
            return False
        text = self._output.decode("utf-8", "replace")
        took = time.monotonic() - self._began
        code = process.returncode
        if process.stdout is not None:
            process.stdout.close()
        self._finish(Result(text, code, took, time.time(), self._cut))
        return True

    def close(self) -> None:
        """End it, and what it started."""
        process = self._process
        if process is None:
            return
        self._end(process)
        if process.stdout is not None:
            process.stdout.close()
        self._process = None

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        tree.end_with_all_below(process.pid, GRACE)
        with contextlib.suppress(ProcessLookupError):  # those that had lost their parent before
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _read(self) -> None:
        fd = self.fileno()
        while fd >= 0 and not self._cut:
            try:
                data = os.read(fd, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                self._silent = True
                return
            self._cut = self._cut or len(self._output) + len(data) > MOST
            self._output = (self._output + data)[:MOST]

    def _finish(self, result: Result) -> None:
        self._process = None
        self.last = result
        self.runs += 1
        self._due = time.monotonic() + self.interval


def _argv(words: Sequence[str]) -> list[str]:
    """A single word with blanks in it is a line for the shell, as watch(1) takes it."""
    found = shutil.which(words[0])
    if found is None and len(words) == 1 and len(words[0].split()) > 1:
        return ["/bin/sh", "-c", words[0]]
    if found is None:
        raise CommandNotFoundError(
            f"{words[0]}: command not found",
            hint="a line for the shell goes in quotes: zeroin watch -- 'ls | wc -l'",
        )
    return list(words)

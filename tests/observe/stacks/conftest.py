"""Programs that are stuck, and looking at them until they stand where they will stand."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

import support

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 60  # seconds
SETTLING = 0.3  # seconds that a program is given to come to rest, before it is looked at
QUIET_LOOKS = 4  # in a row, a hundredth of a second apart: none of its threads runs then


def _is_running(pid: int) -> bool:
    """Whether a thread of a process runs, or waits for a disk or for its turn to run."""
    states = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat") as file:
                states.add(file.read().rpartition(")")[2].split()[0])
    return bool(states & {"R", "D"})


class Stuck:
    """Starts programs in sessions of their own, and looks at them by `zeroin stacks --json`."""

    def __init__(self, zeroin: support.Zeroin, folder: Path) -> None:
        self.zeroin = zeroin
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.settling = SETTLING

    def start(
        self, text: str, *args: str, python: str = "", name: str = "prog.py", **options: Any
    ) -> subprocess.Popen[bytes]:
        """Run a program."""
        path, text = self.folder / name, textwrap.dedent(text)
        if not path.exists() or path.read_text() != text:  # one just started may be reading it
            path.write_text(text)
        return self.run(python or support.base_python(), name, *args, **options)

    def run(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Run a command."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL} | options
        process = subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.zeroin.env | options.pop("env", {}),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **options,
        )
        self.started.append(process)
        return process

    def look(self, of: int | str, *options: str) -> dict[str, Any]:
        """Look once."""
        done = self.zeroin("stacks", str(of), "--json", *options, cwd=self.folder)
        return json.loads(done.stdout) if done.stdout else {"verdict": done.stderr, "groups": []}

    def until(
        self,
        of: int | str,
        holds: Callable[[dict[str, Any]], object] | str,
        *options: str,
        stands: bool = False,
    ) -> dict[str, Any]:
        """Look until it stands as it should, or the patience is over.

        A program on its way to where it stands can already look like it: in the line that is
        about to sleep, it computes. So one that is not known to stand there, and did not rest
        when the look began, has to be seen so at two looks in a row.
        """
        wanted = (lambda found: holds in found["verdict"]) if isinstance(holds, str) else holds
        deadline = time.monotonic() + PATIENCE
        before = None
        while True:
            rests = stands or self._comes_to_rest()
            found = self.look(of, *options)
            if wanted(found):
                if rests or before == found["verdict"]:
                    return found
                before = found["verdict"]
            if time.monotonic() > deadline:
                told = "\n".join(group["verdict"] for group in found["groups"])
                pytest.fail(f"it says: {found['verdict']}\n{told}")

    def _comes_to_rest(self) -> bool:
        """Wait for it; False if one of the test's processes still runs when the time is over."""
        deadline = time.monotonic() + self.settling
        quiet = 0
        while quiet < QUIET_LOOKS:
            pids = support.marked(os.environ[support.TEST_ID]) - {os.getpid()}
            quiet = quiet + 1 if pids and not any(map(_is_running, pids)) else 0
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def end(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # Launchers start theirs in sessions of their own.
        for pid in support.marked(os.environ[support.TEST_ID]) - {os.getpid()}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


@pytest.fixture
def stuck(zeroin: support.Zeroin, tmp_path: Path) -> Iterator[Stuck]:
    """Start programs that get stuck."""
    folder = tmp_path / "work"
    folder.mkdir()
    found = Stuck(zeroin, folder)
    yield found
    found.end()

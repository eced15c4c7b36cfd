"""A `zeroin loop --json` to drive: edit files, say words, read the lines that come of it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import textwrap
import time
from typing import TYPE_CHECKING, Any

import support

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Self


MAIN = """\
import helper
print("answer", helper.answer())
"""
HELPER = "def answer():\n    return {}\n"


def script(project: Path, source: str, name: str = "train.py") -> None:
    """Write a program."""
    (project / name).write_text(textwrap.dedent(source))


# A stand-in for the agent, which takes a snapshot before each line of a story.
STORY = ("python", "-I", support.ROOT / "tests" / "programs" / "warm_agent.py", "story")


def tell(project: Path, *lines: str) -> None:
    """Write the story."""
    (project / "story").write_text("".join(f"{line}\n" for line in lines))


@contextlib.contextmanager
def several(zeroin: support.Zeroin, project: Path) -> Iterator[Callable[..., Looping]]:
    """Start as many as a test wants; all of them end with it."""
    with contextlib.ExitStack() as opened:
        yield lambda *options, **more: opened.enter_context(
            Looping(zeroin, project, *options, **more)
        )


class Looping:
    """Use as a context manager; it ends the loop at the end of the test."""

    def __init__(
        self,
        zeroin: support.Zeroin,
        project: Path,
        *options: str,
        command: Sequence[str] = ("python", "train.py"),
        stdin: Any = subprocess.PIPE,
    ) -> None:
        self.project = project
        self._errors = project.parent / "loop-stderr"
        self._rest = b""
        words = [*zeroin.driver, "loop", "--json", *options, "--", *command]
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                words,
                cwd=project,
                env=zeroin.env,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    @property
    def shown(self) -> str:
        """All that went to stderr so far: the program's output, and notes."""
        return self._errors.read_text()

    def line(self, timeout: float = 60) -> dict[str, Any]:
        """The next iteration."""
        found = self.raw_line(timeout)
        assert found, f"the loop has ended; shown:\n{self.shown}"
        return json.loads(found)

    def raw_line(self, timeout: float = 60) -> bytes:
        """The next line, b"" at the end."""
        until = time.monotonic() + timeout
        fd = self.process.stdout.fileno()
        while b"\n" not in self._rest:
            ready, _, _ = select.select([fd], [], [], max(0, until - time.monotonic()))
            assert ready, f"no line in {timeout} s; shown:\n{self.shown}"
            data = os.read(fd, 1 << 16)
            if not data:
                return b""
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def says_nothing(self) -> bool:
        """Whether no iteration is under way: the next word's is the next line.

        Words are obeyed after all saves, so a save that counted would have come before it.
        """
        self.say("verify")
        line = self.line()
        return line["verified"] is not None

    def until_shown(self, text: str, timeout: float = 60) -> None:
        """Wait for something on stderr."""
        until = time.monotonic() + timeout
        while text not in self.shown:
            assert time.monotonic() < until, f"{text!r} never came; shown:\n{self.shown}"
            time.sleep(0.005)

    def say(self, *words: str) -> None:
        """Words on its stdin."""
        self.process.stdin.write("".join(f"{word}\n" for word in words).encode())
        self.process.stdin.flush()

    def edit(self, name: str, text: str) -> None:
        """Save a file, as an editor that writes in place does."""
        (self.project / name).write_text(text)

    def wait(self, timeout: float = 60) -> int:
        """Its exit code, once it has ended."""
        return support.wait_for_end(self.process, timeout)

    def quit(self) -> int:
        """Say so; the exit code."""
        self.say("quit")
        return self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                support.wait_for_end(self.process, 10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        if self.process.stdin is not None:
            self.process.stdin.close()

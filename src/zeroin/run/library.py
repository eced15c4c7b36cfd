"""The user's interpreter, asked about files that only its libraries read or write."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess

from zeroin.errors import CommandNotFoundError, UsageError
from zeroin.run.spawn import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = os.path.join(HERE, "rows_script.py")
FAKES = os.path.join(HERE, "fakes_script.py")
NEEDS = {"parquet": "pyarrow", "arrow": "pyarrow", "torch": "torch"}


def interpreter(given: str, environ: Mapping[str, str]) -> str:
    """The one that is given, that of the active environment, or the first python3."""
    cwd = os.getcwd()
    try:
        if given:
            path = os.path.join(given, "bin", "python")
            return find(path if os.path.isdir(given) else given, cwd, environ)
        active = os.path.join(environ.get("VIRTUAL_ENV", ""), "bin", "python")
        return active if os.path.exists(active) else find("python3", cwd, environ)
    except CommandNotFoundError as error:
        raise UsageError(f"--python {error.message}") from None


class Talk:
    """A script in that interpreter: an order a line, an answer a line."""

    def __init__(self, python: str, script: str, name: str, environ: Mapping[str, str]) -> None:
        self._python = python
        self._name = name  # of the file that it is about
        try:
            self._process = subprocess.Popen(
                [python, script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(environ),
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise UsageError(f"--python {python}: {reason}") from None

    def ask(self, order: Mapping[str, Any]) -> Any:
        """What it answers; what it can't do is the user's to know."""
        process = self._process
        answer: Any = {"error": "it ended without an answer"}
        try:
            if process.stdin is not None and process.stdout is not None:
                process.stdin.write(json.dumps(order) + "\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
        except (OSError, ValueError):
            pass
        if isinstance(answer, dict) and "error" in answer:
            raise self._failed(answer)
        return answer

    def _failed(self, answer: Mapping[str, Any]) -> UsageError:
        missing = answer.get("missing")
        if missing:
            return UsageError(
                f"{self._name}: {self._python} has no {missing}",
                hint=f"name an interpreter that has it: --python PATH, or pip install {missing}",
            )
        text = str(answer["error"]).strip().split("\n")[0]
        return UsageError(f"{self._name}: {self._python} can't do it: {text}")

    def close(self) -> None:
        """It ends when nobody asks any more."""
        for end in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # it ended before it had read all
                if end is not None:
                    end.close()
        self._process.wait()


class Library:
    """Rows of one file."""

    def __init__(
        self, python: str, path: str, kind: str, name: str, environ: Mapping[str, str]
    ) -> None:
        self._talk = Talk(python, ROWS, name, environ)
        try:
            self.noun = str(self._talk.ask({"open": path, "kind": kind})["noun"])
        except UsageError:
            self._talk.close()
            raise

    def rows(self) -> Iterator[Any]:
        """What each says, in order."""
        while (found := self._talk.ask({"more": 1})) is not None:
            yield from found

    def make(self, numbers: Sequence[int], target: str) -> int:
        """Write these; how many bytes that are."""
        self._talk.ask({"make": list(numbers), "to": os.path.abspath(target)})
        return os.path.getsize(target)

    def close(self) -> None:
        """It is not needed any more."""
        self._talk.close()


def fake(python: str, name: str, order: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """Have something made up, or told."""
    talk = Talk(python, FAKES, name, environ)
    try:
        return talk.ask(order)
    finally:
        talk.close()

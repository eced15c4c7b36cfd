"""The user's interpreter at work on a file that only its libraries can read."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile

from zeroin.run.environment import users
from zeroin.run.spawn import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle

    Ranges = tuple[tuple[int, int], ...]
    Spec = tuple[tuple[str, Ranges], ...]

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cutter_script.py")


class Cutter:
    """One process for one file."""

    def __init__(self, python: str, path: str, kind: str, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [python, SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            text=True,
        )
        self._known: dict[Spec, list[tuple[str, Ranges]]] = {}
        self._counts: dict[Spec, int] = {}
        self._last: tuple[Spec, bytes | None] | None = None
        self._original = path
        self.error = ""
        answer = self._ask({"open": path, "kind": kind})
        if isinstance(answer, dict):
            self.error = str(answer.get("error", ""))

    def _ask(self, order: dict[str, Any]) -> Any:
        """An order and its answer; what it says when it has ended is an error as well."""
        process = self._process
        try:
            if process.stdin is None or process.stdout is None:
                return {"error": "it was not started"}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError):
            return {"error": "its library ended the process that reads it"}

    def axes(self, spec: Spec) -> Sequence[tuple[str, Ranges]]:
        """What there is to leave out."""
        if spec not in self._known:
            answer = self._ask({"axes": dict(spec)})
            found = answer if isinstance(answer, list) else []
            self._known[spec] = [
                (str(name), tuple((int(a), int(b)) for a, b in left)) for name, left in found
            ]
        return self._known[spec]

    def count(self, spec: Spec) -> int:
        """How many rows, or entries, are left."""
        if spec not in self._counts:
            answer = self._ask({"count": dict(spec)})
            self._counts[spec] = answer if isinstance(answer, int) else 0
        return self._counts[spec]

    def cut(self, spec: Spec) -> bytes | None:
        """What is left; as it is if all is."""
        if not spec:
            with open(self._original, "rb") as file:
                return file.read()
        if self._last is None or self._last[0] != spec:
            self._last = spec, self._made(spec)
        return self._last[1]

    def _made(self, spec: Spec) -> bytes | None:
        end = os.path.splitext(self._original)[1]
        with tempfile.NamedTemporaryFile(prefix="zeroin-cut-", suffix=end) as file:
            answer = self._ask({"make": dict(spec), "to": file.name})
            if answer is not None:
                return None
            with open(file.name, "rb") as made:
                return made.read()

    def close(self) -> None:
        """It is not needed any more."""
        for end in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # it ended before it had read all
                if end is not None:
                    end.close()
        self._process.wait()


def interpreter(cycle: Cycle, environ: Mapping[str, str]) -> str:
    """The Python that the command runs on, as far as can be seen."""
    env = users(cycle, environ)
    for word in cycle.command:
        if os.path.basename(word).startswith("python"):
            return find(word, cycle.cwd, env)
    program = find(cycle.command[0], cycle.cwd, env)
    with open(program, "rb") as file:
        first = file.readline(256).decode(errors="replace")
    if first.startswith("#!") and "python" in first:
        return find(first[2:].split()[-1], cycle.cwd, env)
    return find("python3", cycle.cwd, env)

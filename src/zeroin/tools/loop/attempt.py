"""One recorded run of the loop, in two steps: what came of it, then writing it down.

The user waits for the first; keeping the code takes longer than a resumed run does, so that is
done once the outcome is on the screen. A cold run keeps it before it starts, as `run` does.
"""

from __future__ import annotations

import os
import re

from zeroin.cycle import Kind, Outcome
from zeroin.named import NamedTuple
from zeroin.run import environment, keep
from zeroin.run.agent_order import AgentOrder
from zeroin.tools.recorder import Recorder, list_facts
from zeroin.tools.run import warn_of_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.execute import Ended
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.witness import Witness

INSTALLED = re.compile(r"/(site|dist)-packages\b|/lib(64)?/python\d")
OF_UV = ("pyproject.toml", "uv.lock", "uv.toml", ".python-version")


class Done(NamedTuple):
    """What came of it."""

    outcome: Outcome
    ended: Ended
    number: int | None
    facts: dict[str, Any]
    folder: str  # where its output lies
    end: str  # of its output

    def output(self) -> dict[str, bytes]:
        """What it printed, by stream."""
        if not self.folder:
            return {"": self.end.encode()}
        found: dict[str, list[bytes]] = {}
        for piece in keep.pieces(self.folder):
            found.setdefault(piece.stream, []).append(piece.data)
        return {stream: b"".join(parts) for stream, parts in found.items()}


class Attempt:
    """Use as: `execute`, then `record`; `close` in any case."""

    def __init__(
        self, cycle: Cycle, environ: Mapping[str, str], also: dict[str, Any], *, cold: bool
    ) -> None:
        self.cycle = cycle
        self.cold = cold
        self.recorder = Recorder(cycle, environ, keep=True)
        self.recorder.note_settings(also)
        self.environ = environ
        self._done: Done | None = None

    def execute(
        self, launcher: Launcher, targets: tuple[int, int], witnesses: Sequence[Witness]
    ) -> Done:
        """Run it."""
        recorder = self.recorder
        recorder.begin(environment.users(self.cycle, self.environ))
        trial = recorder.run_trial(
            self.cycle,
            launcher,
            recorder.plan(self.environ, targets, AgentOrder()),
            witnesses,
            keep_code=self.cold,
        )
        outcome = trial.outcome
        if trial.ended.stopped:
            outcome = outcome._replace(
                kind=Kind.UNFINISHED, signature=None, headline="stopped", spot=None
            )
        self._done = Done(
            outcome,
            trial.ended,
            recorder.attempt,
            list_facts(trial),
            recorder.output_folder(),
            trial.output,
        )
        if self.cold:
            warn_of_copy(trial, recorder)
        return self._done

    def record(self, reason: str = "") -> tuple[str, ...]:
        """Write it down; what could not be is told."""
        if self._done is not None:
            if not self.cold:
                self.recorder.keep_code()
            outcome = self._done.outcome
            self.recorder.finish(
                outcome._replace(headline=reason) if reason else outcome, self._done.facts
            )
        return tuple(self.recorder.warnings)

    def close(self) -> None:
        """Let go of the store."""
        self.recorder.close()


def used(facts: Mapping[str, Any], cycle: Cycle) -> tuple[set[str], set[str]]:
    """All files that are known to have been used, and which of them are the user's code.

    Modules that failed to load are known from the traceback only.
    """
    files = {*(facts.get("modules") or {}).values(), *(facts.get("modules_below") or ())}
    code = {path for path in files if path.endswith(".py")}
    for crash in facts.get("crashes") or []:
        for link in crash.get("chain") or []:
            own = [f["file"] for f in link.get("frames") or [] if f.get("owner") == "user"]
            own.append((link.get("syntax") or {}).get("file") or "")
            code.update(path for path in own if path.endswith(".py") and os.path.isabs(path))
            code |= _not_found(link, facts.get("path") or [])
    for word in cycle.command[1:]:  # the script, which may have failed before it was anything
        path = os.path.join(cycle.cwd, word)
        if not word.startswith("-"):
            if word.endswith(".py") and os.path.isfile(path):
                code.add(os.path.normpath(path))
            break
    return files | code, code


def _not_found(link: Mapping[str, Any], path: Sequence[str]) -> set[str]:
    """Where a module would be that was looked for in vain."""
    missing = re.match(r"No module named '([\w.]+)'", link.get("message") or "")
    if missing is None or link.get("type") != "ModuleNotFoundError":
        return set()
    stem = missing[1].replace(".", "/")
    own = [entry for entry in path if entry.startswith("/") and not INSTALLED.search(entry)]
    return {os.path.join(entry, stem + end) for entry in own for end in (".py", "/__init__.py")}


def named(cycle: Cycle, through: str = "") -> set[str]:
    """The files that stand in the command: all that is known of a program without an agent.

    And those that decide where `uv run` runs the program.
    """
    words = [word for word in cycle.command if "/" in word or word is not cycle.command[0]]
    words += OF_UV if through else ()
    paths = [os.path.normpath(os.path.join(cycle.cwd, word)) for word in words]
    return {path for path in paths if os.path.isfile(path)}

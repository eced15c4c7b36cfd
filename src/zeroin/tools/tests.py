"""Failing tests as attempts: each by the command that repeats just this test.

`pytest --zeroin` keeps them while it runs; under `zeroin run` they come with the run that they
were part of, and are kept when it has ended.
"""

from __future__ import annotations

from zeroin.cycle import Cycle
from zeroin.cycle.crash import Crash
from zeroin.cycle.explain import Ending, explain
from zeroin.cycle.mask import NOWHERE, Places
from zeroin.cycle.outcome import Outcome
from zeroin.errors import StoreError
from zeroin.named import NamedTuple
from zeroin.tools.recorder import Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle.signature import Signature
    from zeroin.record.code import Shadow

# Pytest's own, about the test that was running.
OF_PYTEST = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_WORKER", "ZEROIN_AGENT")


class FailingTest(NamedTuple):
    """A failing test that was kept."""

    attempt: int
    test: str
    signature: str
    headline: str


class FailingTests:
    """Keeps the failing tests of one session, all with the same code and environment."""

    def __init__(
        self, cwd: str, environ: Mapping[str, str], *, run: int | None = None, tree: str = ""
    ) -> None:
        self.cwd = cwd
        self.env = {name: value for name, value in environ.items() if name not in OF_PYTEST}
        self.run = run
        self.warnings: list[str] = []
        self._tree = tree
        self._base: str | None = None
        self._shadow: Shadow | None = None

    def add(self, test: Mapping[str, Any]) -> tuple[int, str, str] | None:
        """Keep one: its number, signature and headline; None if it can't be kept."""
        crash = dict(test["crash"])
        cycle = Cycle(tuple(test["command"]), test["cwd"])
        outcome = self._outcome(crash, test)
        recorder = Recorder(cycle, self.env, keep=True)
        try:
            recorder.begin(self.env)
            self._keep_code(recorder)
            recorder.finish(outcome, _facts(crash, self.run))
            number = recorder.attempt
            if number is None:
                raise StoreError("; ".join(recorder.warnings))
            return number, str(outcome.signature), outcome.headline
        finally:
            recorder.close()

    def close(self) -> None:
        """Nothing is held open between two tests."""

    def _outcome(self, crash: Mapping[str, Any], test: Mapping[str, Any]) -> Outcome:
        from zeroin.record import place

        root = place.find(self.cwd, self.env).root
        folders = [one for one in (self.cwd, root, self.env.get("HOME")) if one and one != "/"]
        temps = [*NOWHERE.temps, self.env.get("TMPDIR") or NOWHERE.temps[0]]
        found = explain(
            Ending(exit_code=1, crashes=[Crash.of(crash)], places=Places(folders, temps))
        )
        signature: Signature | None = found.signature
        seconds = float(test.get("seconds") or 0.0)
        peak = int(test.get("peak_bytes") or 0)
        return Outcome(found.kind, 1, signature, found.headline, seconds, 0.0, peak)

    def _keep_code(self, recorder: Recorder) -> None:
        """One snapshot for all: the first is taken, the others name it as well."""
        if recorder.store is None or recorder.attempt is None:
            return
        if not self._tree:
            recorder.keep_code()
            if recorder.store is None or recorder.attempt is None:  # it was given up at that
                return
            kept = recorder.store.attempt(recorder.attempt)
            self._shadow = recorder.shadow
            self._tree = (kept.code if kept else None) or ""
            self._base = kept.base_commit if kept else None
            return
        if self._shadow is not None:
            self._shadow.keep(str(recorder.attempt), self._tree)
        recorder.store.update(recorder.attempt, code=self._tree, base_commit=self._base)


def of_run(
    messages: list[dict[str, Any]], run: int, environ: Mapping[str, str], cwd: str
) -> list[FailingTest]:
    """Keep the failing tests of a run that has ended."""
    found: list[FailingTest] = []
    recorder = FailingTests(cwd, environ, run=run)
    for message in messages:
        kept = recorder.add(message)
        if kept is not None:
            found.append(FailingTest(kept[0], message["crash"]["test"], kept[1], kept[2]))
    return found


def _facts(crash: dict[str, Any], run: int | None) -> dict[str, Any]:
    return {
        "run": run,
        "crashes": [crash],
        "python": crash.get("python"),
        "path": crash.get("path"),
        "modules": crash.get("modules"),
        "around": {"pids": [crash["pid"]]},
    }

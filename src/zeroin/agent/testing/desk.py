"""What is known of a session, in the one process that speaks for it."""

from __future__ import annotations

import os
import sys

from .. import asked
from . import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PEAK, GROWN = "zeroin_peak_bytes", "zeroin_grown_bytes"
SCHEMA = 1
MOST = 500  # failing tests of a session that are kept as attempts
OLD = (
    "failing tests are kept as attempts from Python 3.11 on, or under any with: "
    "zeroin run -- python -m pytest --zeroin"
)


class Test:
    """One test: how it ended and what it cost."""

    __slots__ = ("grown", "nodeid", "outcome", "peak", "seconds", "worker")

    def __init__(self, nodeid: str, worker: str) -> None:
        self.nodeid = nodeid
        self.worker = worker
        self.outcome = "passed"
        self.seconds = 0.0
        self.peak: int | None = None  # bytes above those at its start
        self.grown: int | None = None


class Failure:
    """One thing that failed: a phase of a test, or a file that could not be collected."""

    __slots__ = ("attempt", "command", "crash", "headline", "nodeid", "signature", "worker")

    def __init__(self, nodeid: str, worker: str, about: dict[str, Any]) -> None:
        self.nodeid = nodeid
        self.worker = worker
        self.crash: dict[str, Any] = about["crash"]
        self.command: list[str] = about["command"]
        self.headline = told.one_line(self.crash["chain"][-1])
        self.signature = told.kind(self.crash)
        self.attempt: int | None = None


class Desk:
    """Collects; `ending` writes it down."""

    def __init__(
        self, config: Any, make_recorder: Callable[[str, dict[str, str]], Any] | None
    ) -> None:
        self.config = config
        self.tests: dict[str, Test] = {}
        self.failures: list[Failure] = []
        self.rates: list[dict[str, Any]] = []
        self.foreign: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.is_driven = bool(os.environ.get(asked.VARIABLE))
        self.folder = str(config.invocation_params.dir)
        # As it is now: tests may change it.
        self.environ = dict(os.environ)
        self._recorder: Any = None
        self._waiting: list[tuple[Failure, Any]] = []  # for the end of their test
        self._make_recorder = make_recorder

    def hear(self, report: Any) -> None:
        """A report of one phase."""
        worker = _worker(report)
        if report.when != "collect":
            self._count(report, worker)
        about = getattr(report, "zeroin", None)
        if about and report.outcome == "failed":
            failure = Failure(about["crash"]["test"], worker, about)
            self.failures.append(failure)
            self._waiting.append((failure, about.get("cost")))
        if report.when in ("teardown", "collect"):
            self._keep_waiting()

    def _keep_waiting(self) -> None:
        """Not before the fixtures are gone: they may have put mocks in place of what we need."""
        waiting, self._waiting = self._waiting, []
        for failure, cost in waiting:
            self._keep(failure, cost)

    def _count(self, report: Any, worker: str) -> None:
        test = self.tests.get(report.nodeid)
        if test is None:
            test = self.tests[report.nodeid] = Test(report.nodeid, worker)
        test.seconds += report.duration
        if report.failed:
            test.outcome = "failed" if report.when == "call" else "error"
        elif report.skipped and test.outcome == "passed":
            test.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        if report.when == "teardown":
            found = dict(report.user_properties)
            test.peak, test.grown = found.get(PEAK), found.get(GROWN)

    def _keep(self, failure: Failure, cost: Any) -> None:
        """As an attempt; a record that can't be written never stops the tests."""
        if len(self.failures) > MOST:
            self.note(f"only the first {MOST} failing tests are kept as attempts")
            return
        if self._recorder is None:
            self._recorder = self._begin()
        if self._recorder is None:
            return
        seconds, grown, peak, used = cost or (0.0, 0, 0, 0)
        try:
            kept = self._recorder.add(
                {
                    "command": failure.command,
                    "cwd": self.folder,
                    "crash": failure.crash,
                    "seconds": seconds,
                    "peak_bytes": max(used, used - grown + peak),
                }
            )
        except Exception as error:
            self.note(f"failing tests are not kept as attempts: {error}")
            return
        if kept is not None:
            failure.attempt, failure.signature, failure.headline = kept

    def _begin(self) -> Any:
        from .. import post

        if self.is_driven:
            return Driver(post.send)
        if self._make_recorder is not None and sys.version_info >= (3, 11):
            try:
                return self._make_recorder(self.folder, self.environ)
            except Exception as error:
                self.note(f"failing tests are not kept as attempts: {error}")
                return Nobody()
        self.note(OLD)
        return Nobody()

    def note(self, text: str) -> None:
        """Say something once, at the end."""
        if text not in self.notes:
            self.notes.append(text)

    def take(self, about: dict[str, Any]) -> None:
        """What a worker hands over at its end."""
        about = about.get("zeroin", about)
        self.rates += about.get("rates") or []
        for one in about.get("foreign") or []:
            if one not in self.foreign:
                self.foreign.append(one)

    def finish(self, session: Any) -> None:
        """All tests are over: try the flaky ones alone, write the report."""
        self._keep_waiting()
        if self.rates:
            from . import flaky

            flaky.alone(self, session)
        if self.config.option.zeroin_report:
            from . import ending

            ending.write_report(self)
        if self._recorder is not None:
            self._recorder.close()


class Nobody:
    """Keeps nothing, and has said why."""

    def add(self, _: dict[str, Any]) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Driver(Nobody):
    """Tells the driver of `zeroin run`, which keeps tests with the run they were in."""

    def __init__(self, send: Callable[[dict[str, Any]], bool]) -> None:
        self._send = send

    def add(self, test: dict[str, Any]) -> None:
        """Its number is not known here; `zeroin run` says it at the end."""
        self._send({"kind": "test", "pid": os.getpid(), **test})


def _worker(report: Any) -> str:
    node = getattr(report, "node", None)
    return str(getattr(getattr(node, "gateway", None), "id", "")) if node is not None else ""

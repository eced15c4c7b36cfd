"""The hooks: look at what fails, measure each test, hand both on.

The *worker* side runs tests: it describes failures, measures, runs flaky tests again, and puts
what it knows on pytest's own reports, which pytest-xdist carries over. The *controller* side
hears the reports, keeps failing tests as attempts, and speaks at the end. Without xdist both
are in one process.
"""

from __future__ import annotations

import pytest

from .. import costs, crash, loaded
from . import doctests, told
from .command import plain_id, repeat
from .desk import GROWN, PEAK, Desk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

SECTION = "zeroin"


def make(config: Any, make_recorder: Callable[[str, dict[str, str]], Any] | None) -> Any:
    """The plugin of this process."""
    option = config.option
    flaky = option.zeroin_flaky
    if flaky is not None and flaky < 1:
        raise pytest.UsageError("--zeroin-flaky: how often is each failing test run again?")
    if option.zeroin_top is not None and option.zeroin_top < 0:
        raise pytest.UsageError("--zeroin-top: how many tests are listed? 0 for none")
    return Watch(config, make_recorder)


class Watch:
    """All hooks; see the module."""

    def __init__(
        self, config: Any, make_recorder: Callable[[str, dict[str, str]], Any] | None
    ) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.meters: dict[str, costs.Meter] = {}
        self.failed: set[str] = set()  # ids of tests that failed here and are not yet run again
        self.rates: list[dict[str, Any]] = []
        self.again: list[dict[str, Any]] | None = None  # while a test is run again: its crashes
        self.foreign: list[dict[str, str]] = []
        self.refused = False  # to run tests of a copy
        self.desk = None if self.is_worker else Desk(config, make_recorder)

    # --- where tests run ----------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Generator[None, Any, None]:
        """Measure from before the set-up on; then again, if it failed."""
        self.meters[item.nodeid] = costs.Meter()
        yield
        self.meters.pop(item.nodeid, None)
        if item.nodeid in self.failed:
            self.failed.discard(item.nodeid)
            if self.config.option.zeroin_flaky and not getattr(self.config.option, "usepdb", False):
                from . import flaky

                rate = flaky.run_again(self, item, nextitem)
                self.rates.append(rate)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        """After pytest has made its report, which stays as it is: what we know besides."""
        if call.when == "teardown" and self.again is None:
            self._add_cost(item)
        meter = self.meters.get(item.nodeid)
        # Before anybody looks at the failure: that is none of the test's cost.
        cost = meter.read() if meter is not None and call.excinfo is not None else None
        outcome = yield
        if outcome.excinfo is not None:
            return
        report = outcome.get_result()
        if not _is_failure(report, call):
            return
        nodeid = plain_id(item)
        found = _describe(call.excinfo.value, nodeid)
        if found is None:
            return
        if self.again is not None:
            self.again.append(found)
            return
        self.failed.add(item.nodeid)
        self._show(report, found)
        path = str(getattr(item, "path", None) or item.fspath)
        report.zeroin = {
            "crash": found,
            "command": repeat(self.config, nodeid, path),
            "cost": list(cost or (meter.read() if meter is not None else ())) or None,
        }

    def _show(self, report: Any, found: dict[str, Any]) -> None:
        """Below the plain traceback, if there is one, and unaffected by `--show-capture`."""
        if getattr(self.config.option, "tbstyle", "no") in ("no", "line"):
            return
        text = told.values(found, str(self.config.invocation_params.dir))
        add = getattr(report.longrepr, "addsection", None)
        if text and add is not None:
            add(SECTION, text, "-")
        elif text:  # doctests, and what is a mere text
            report.sections.append((SECTION, text))

    def _add_cost(self, item: Any) -> None:
        meter = self.meters.get(item.nodeid)
        if meter is not None:
            cost = meter.read()
            item.user_properties += [(PEAK, cost.peak), (GROWN, cost.grown)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """A file or folder that can't be collected is a failure as well."""
        if report.when != "collect":
            return
        error = call.excinfo.value
        if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            error = error.__cause__  # what went wrong; pytest's own says only where it was met
        found = _describe(error, node.nodeid)
        if found is not None:
            self._show(report, found)
            path = str(getattr(node, "path", None) or getattr(node, "fspath", ""))
            command = repeat(self.config, node.nodeid, path)
            report.zeroin = {"crash": found, "command": command, "cost": None}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        """The tests' imports are done: is what they imported the user's?"""
        if not self.config.option.zeroin_only_mine or session.config is not self.config:
            return
        from . import mine

        self.foreign = mine.look(str(self.config.rootpath))
        if self.foreign and not self.is_worker:
            foreign, self.foreign = self.foreign, []
            self.refused = True  # and said
            raise pytest.UsageError(mine.message(foreign, self.config))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> Generator[None, Any, None]:
        """Workers hand over; the controller has the last word on what is the user's."""
        if self.config.option.zeroin_only_mine and not self.foreign and not self.refused:
            from . import mine

            self.foreign = mine.look(str(self.config.rootpath))
        if self.is_worker:
            self.config.workeroutput["zeroin"] = {"rates": self.rates, "foreign": self.foreign}
        elif self.desk is not None:
            self.desk.take({"rates": self.rates, "foreign": self.foreign})
            if self.desk.foreign and session.exitstatus in (0, 5):
                session.exitstatus = 1
            self.desk.finish(session)
        yield

    # --- where they are told about --------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of xdist's has ended."""
        if self.desk is not None:
            self.desk.take(getattr(node, "workeroutput", None) or {})

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of one test is over, here or in a worker."""
        if self.desk is not None:
            self.desk.hear(report)

    def pytest_collectreport(self, report: Any) -> None:
        """Likewise for files."""
        if self.desk is not None and report.failed:
            self.desk.hear(report)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Ours at the end, after all that pytest has to say."""
        if self.desk is not None:
            from . import ending

            ending.write(self.desk, terminalreporter)


def _is_failure(report: Any, call: Any) -> bool:
    """An expected failure or a skip is none; and one without an exception has no values."""
    return bool(
        report.outcome == "failed" and call.excinfo is not None and not hasattr(report, "wasxfail")
    )


def _describe(exc: BaseException, nodeid: str) -> dict[str, Any] | None:
    """As for a crash. It must not make a failing test fail in another way.

    The test's fixtures are still there: time may be frozen, `open` a mock. What can't be looked
    at under such circumstances is told in brief.
    """
    import gc

    about = {"thread": "main", "fatal": False, "test": nodeid}
    exc = doctests.cause(exc)
    was_on = gc.isenabled()
    gc.disable()
    try:
        for brief in (False, True):
            try:
                found = {**crash.describe(exc, about, brief), **loaded.facts()}
                doctests.tell(found, exc)
                return found
            except Exception:
                continue
        return None
    finally:
        if was_on:
            gc.enable()

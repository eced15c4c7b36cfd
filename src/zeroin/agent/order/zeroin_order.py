"""A plugin for pytest: run these tests in this order, and say how the last one went.

It is put on the path for one run (`bisect tests`), and needs nothing installed.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# pytest is who loads this.
hookimpl: Callable[..., Callable[[Any], Any]] = sys.modules["_pytest.config"].hookimpl
# `tests` to run, or null to list them; `result`: where to write.
_agent: Any = sys.modules.get("_zeroin_agent.asked")
_order: dict[str, Any] = _agent.order.get("tests", {}) if _agent is not None else {}
_result: dict[str, Any] = {"tests": None, "target": None, "reports": []}


@hookimpl(hookwrapper=True)
def pytest_cmdline_main(config: Any) -> Iterator[None]:
    """In one process, to the end, and only the files that are needed."""
    if _order:
        for name, value in (("numprocesses", None), ("tx", []), ("dist", "no"), ("maxfail", 0)):
            if hasattr(config.option, name):
                setattr(config.option, name, value)
    if _order.get("tests"):
        root = str(getattr(config, "rootpath", None) or config.rootdir)
        files = {os.path.join(root, one.split("::")[0]): None for one in _order["tests"]}
        if all(map(os.path.exists, files)):
            config.args = list(files)
    yield


@hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[Any]) -> Iterator[None]:
    """Whatever others make of the order, this is it."""
    before = {one.nodeid: one for one in items}
    yield
    if _order.get("tests"):
        wanted = _order["tests"]
        _result["target"] = wanted[-1] if wanted[-1] in before else None
        items[:] = [before[one] for one in wanted if one in before]
    elif _order:
        _result["tests"] = [one.nodeid for one in items]
        del items[:]


def pytest_runtest_logreport(report: Any) -> None:
    """How the last one went: set-up, call, tear-down."""
    if _order and report.nodeid == _result["target"]:
        expected = hasattr(report, "wasxfail") and not report.failed
        _result["reports"].append("passed" if expected else report.outcome)


@hookimpl(hookwrapper=True, trylast=True)
def pytest_sessionfinish(session: Any) -> Iterator[None]:
    """The exit code is about the last test alone."""
    yield
    if not _order:
        return
    if session.exitstatus in (0, 1, 5) and (not _order["tests"] or _result["target"]):
        session.exitstatus = int("failed" in _result["reports"])
    with open(_order["result"], "w", encoding="utf-8") as file:
        json.dump(_result, file)

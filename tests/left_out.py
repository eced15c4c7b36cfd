"""What a run of this size leaves out, counted and named at its end.

A test is left out by its parameter `python`, `driver` or `version`, by its mark
`heavy("torch")`, or as one of many rows of a table (`some_rows`). All of these are seen when tests
are collected, so all of it is counted.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import pytest

import run_size
import support

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What scripts/heavy-libs.txt installs, as people call it.
HEAVY = {"duckdb", "jax", "matplotlib", "numba", "opencv", "polars", "scikit-learn", "torch"}
VERSION_PARAMETERS = ("python", "driver", "version")
LEFT_TO_ACCEPTANCE = (
    "the warm engine's whole acceptance (stepped programs and edits on every Python, "
    "the standard library's tests, many more random edits)"
)

LeftOut = dict[str, int]  # why → how many tests
_left_out = pytest.StashKey[LeftOut]()


def heavy(*libraries: str) -> pytest.MarkDecorator:
    """Mark a test that needs libraries which only a full run installs."""
    if unknown := set(libraries) - HEAVY:
        raise ValueError(f"not in scripts/heavy-libs.txt: {', '.join(unknown)}")
    return pytest.mark.heavy(*libraries)


def some_rows(rows: Sequence[Any], table: str, *, step: int = 3) -> list[Any]:
    """Give rows for `parametrize`, of which only a full run takes all, others each `step`-th."""
    rest = pytest.mark.row_of_many(table)
    return [
        pytest.param(row, marks=[rest] if number % step else []) for number, row in enumerate(rows)
    ]


def reason_to_leave_out(item: pytest.Item) -> str | None:
    """Say why a run of this size leaves a test out; None if it does not."""
    if run_size.FULL:
        return None
    libraries = sorted({name for mark in item.iter_markers("heavy") for name in mark.args})
    if libraries:
        return f"with {', '.join(libraries)}"
    for mark in item.iter_markers("row_of_many"):
        return f"more rows of {mark.args[0]}"
    parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    versions = [str(parameters.get(name)) for name in VERSION_PARAMETERS]
    chosen = support.chosen_versions()
    others = [v for v in versions if v in support.interpreters() and v not in chosen]
    return f"on Python {', '.join(others)}" if others else None


def describe_left_out(left_out: LeftOut) -> Iterator[str]:
    """Write what was left out, a line a reason, and the commands that run it."""
    if left_out:
        yield f"left out of this run: {sum(left_out.values())} tests, run by: make test FULL=1"
        for reason, count in sorted(left_out.items()):
            yield f"  {count:5} {reason}"
    if run_size.ACCEPTANCE_STEP > 1:
        rest = f"{run_size.ACCEPTANCE_STEP - 1} of {run_size.ACCEPTANCE_STEP}"
        yield f"left out: {rest} programs and edits of tests/warm, run by: make test FULL=1"
    if not run_size.ACCEPTANCE:
        yield f"left out: {LEFT_TO_ACCEPTANCE}, run by: make test ACCEPTANCE=1"


# --- pytest's hooks -------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", "heavy(*libraries): needs libraries of a full run only")
    config.addinivalue_line("markers", "row_of_many(table): one of the rows of a full run only")
    config.stash[_left_out] = {}
    if not hasattr(config, "workerinput") and config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(WorkerListener(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not for a run of this size, and count it."""
    reasons = [reason_to_leave_out(item) for item in items]
    left_out = [item for item, reason in zip(items, reasons, strict=True) if reason]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item, reason in zip(items, reasons, strict=True) if not reason]
    config.stash[_left_out] = dict(collections.Counter(filter(None, reasons)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what a worker of pytest-xdist left out to the process that prints."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash[_left_out]


class WorkerListener:
    """Takes what the workers left out: all of them collect the same tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_testnodedown(self, node: Any) -> None:
        """Take the counts of a worker that has ended."""
        found = getattr(node, "workeroutput", {}).get("left_out")
        if found:
            self.config.stash[_left_out] = found


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what was left out."""
    for line in describe_left_out(config.stash[_left_out]):
        terminalreporter.write_line(line)

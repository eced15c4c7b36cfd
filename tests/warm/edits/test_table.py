"""The soundness rule: after each edit of the table, a loop gives what a cold run gives."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import run_size
import support

from . import rows, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

AT_ONCE = 4
TABLE = rows.read()


def _selected() -> dict[tuple[str, str], list[rows.Row]]:
    """Every row on one Python, in turn; in the whole acceptance on all."""
    found: dict[tuple[str, str], list[rows.Row]] = {}
    every = [row for some in TABLE.values() for row in some]
    for number, row in enumerate(every[:: run_size.ACCEPTANCE_STEP]):
        able = [v for v in support.chosen_versions() if row.is_for(support.as_numbers(v))]
        able = able or [v for v in support.interpreters() if row.is_for(support.as_numbers(v))]
        for version in able if run_size.ACCEPTANCE else [able[number % len(able)]]:
            found.setdefault((row.kind, version), []).append(row)
    return found


SELECTED = _selected()


@pytest.fixture(scope="module")
def drivers() -> Iterator[running.Drivers]:
    """Loops for all rows of a worker."""
    opened = running.Drivers()
    yield opened
    opened.close()


@pytest.mark.parametrize(("kind", "version"), SELECTED)
def test_an_edit_gives_what_a_cold_run_gives(
    drivers: running.Drivers, kind: str, version: str
) -> None:
    """Exit code, stdout, stderr with tracebacks, and the files that were written, byte for byte."""
    python = support.interpreters()[version]
    wanted = SELECTED[kind, version]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda row: running.run(drivers, python, row), wanted))
    wrong = []
    for row, steps in zip(wanted, results, strict=True):
        for number, step in enumerate(steps):
            found = running.differences(row, number, step)
            if found:
                wrong.append("\n".join([f"=== {row.name}, version {number}", *found]))
    assert not wrong, "\n\n".join(wrong)


def test_an_unsound_rule_is_found(tmp_path: Path) -> None:
    """An agent that takes nothing for having run gives other results, and the check says so."""
    source = tmp_path / "src"
    shutil.copytree(support.SRC, source, ignore=shutil.ignore_patterns("__pycache__"))
    rule = source / "zeroin" / "agent" / "warm" / "source" / "edits.py"
    text = rule.read_text()
    line = "self._reached = reached"
    assert line in text
    rule.write_text(text.replace(line, "self._reached = lambda _: None"))
    python = list(support.interpreters().values())[-1]
    (row,) = [one for one in TABLE["definitions"] if one.name == "a cached function that was asked"]
    drivers = running.Drivers(source)
    try:
        steps = running.run(drivers, python, row)
    finally:
        drivers.close()
    assert not running.differences(row, 0, steps[0])
    assert running.differences(row, 1, steps[1])


def test_the_table_can_not_pass_by_cold_runs() -> None:
    """Most rows say that a run goes on from a snapshot, many from where."""
    every = [row for some in TABLE.values() for row in some]
    expected = [row.get("expect") for row in every]
    assert len(every) >= 400
    assert sum(text.startswith("resumed") for text in expected) >= len(every) * 2 // 3
    assert sum(text.startswith("resumed at ") for text in expected) >= 40

"""Files of rows, read one after the other at constant memory, and written as they were.

A row is its own text, and what that says: so what is chosen is copied, not written anew.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import itertools
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from zeroin.errors import UsageError

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterable, Iterator

SAMPLE = 1 << 16  # characters by which a file is judged
DELIMITERS = ",\t;|"


class Row(NamedTuple):
    """One row, as it is written and as it is meant."""

    text: str
    value: Any


class Rows(NamedTuple):
    """A file of rows."""

    kind: str
    head: str  # what comes before the rows,
    tail: str  # and behind them
    joint: str
    rows: Iterator[Row]

    def written(self, chosen: Iterable[Row]) -> str:
        """A file with these rows."""
        return self.head + self.joint.join(row.text for row in chosen) + self.tail


@contextlib.contextmanager
def open_rows(path: str) -> Iterator[Rows]:
    """The rows of a file: JSON Lines, CSV, a JSON list, or lines."""
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file")
    try:
        with _opened(path) as file:
            yield _rows(file, path)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise UsageError(f"{path}: it can't be read as text: {error}") from None


def _rows(file: io.TextIOBase, path: str) -> Rows:
    start = file.read(SAMPLE)
    file.seek(0)
    line, _, rest = start.partition("\n")
    is_value = _is_value(line)
    first = start.lstrip()[:1]
    if first == "[" and not (is_value and rest.strip()):
        return _json_list(file.read(), path)
    if first in ("{", "[") and is_value:
        return Rows("JSON Lines", "", "", "", _json_lines(file))
    delimiter = _delimiter(start)
    if delimiter:
        return _table(file, delimiter)
    return Rows("text", "", "", "", (Row(line, line.rstrip("\n")) for line in file))


def _opened(path: str) -> io.TextIOBase:
    opener: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
    opened: io.TextIOBase = opener(path, "rt", encoding="utf-8", newline="")
    return opened


def _is_value(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _json_lines(file: Iterable[str]) -> Iterator[Row]:
    for line in file:
        if line.strip():
            try:
                yield Row(line if line.endswith("\n") else line + "\n", json.loads(line))
            except ValueError:
                yield Row(line, _Broken(line))


class _Broken(str):
    """What is no JSON: a kind of value that should be seen as well."""

    __slots__ = ()


def _json_list(text: str, path: str) -> Rows:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path}: it begins as JSON, and is none: {error}") from None
    rows = (Row("  " + json.dumps(value, ensure_ascii=False), value) for value in values)
    return Rows("JSON", "[\n", "\n]\n", ",\n", rows)


def _delimiter(start: str) -> str:
    """What most lines have equally often; "" for what is no table."""
    lines = start.splitlines()[:-1][:50] or start.splitlines()
    best = ("", 0)
    for one in DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=one)]
        usual = max(set(counts), key=counts.count) if counts else 0
        if usual > 1 and counts.count(usual) > 0.9 * len(counts) and usual > best[1]:
            best = (one, usual)
    return best[0] if len(lines) > 1 else ""


def _table(file: Iterable[str], delimiter: str) -> Rows:
    taken: list[str] = []

    def remembered() -> Iterator[str]:
        for line in file:
            taken.append(line)
            yield line

    reader = csv.reader(remembered(), delimiter=delimiter)
    names = next(reader)
    head = "".join(taken)
    taken.clear()

    def rows() -> Iterator[Row]:
        for cells in reader:
            text = "".join(taken)
            taken.clear()
            if cells:
                value = dict(itertools.zip_longest(names, map(_typed, cells)))
                yield Row(text if text.endswith("\n") else text + "\n", value)

    return Rows("CSV", head, "", "", rows())


def _typed(cell: str) -> Any:
    """As what it would be read."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return {"true": True, "false": False, "": None}.get(cell.lower(), cell)

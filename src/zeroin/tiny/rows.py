"""Rows, and texts of them that are read one after the other at constant memory.

A row is what it takes to write it again, and what that says: so what is chosen is copied, not
written anew.
"""

from __future__ import annotations

import csv
import itertools
import json
import os

from zeroin.axes.payload import packings
from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from zeroin.axes.payload.tree import Codec

LARGEST = 1 << 26  # characters of a cell: with more, a quote is missing somewhere
DELIMITERS = ",\t;|"
csv.field_size_limit(LARGEST)


class UnreadableError(UsageError):
    """What is wrong with the file that is read; who has opened it says its name."""


class Row(NamedTuple):
    """One row, as it is kept and as it is meant."""

    kept: Any
    value: Any


class Rows(NamedTuple):
    """Rows of a file."""

    kind: str
    noun: str
    rows: Iterator[Row]
    write: Callable[[Sequence[Row], str], int]  # these to a path; how many bytes that are


class Frame:
    """What is written around the rows of a text; some of it is known only once they are read."""

    def __init__(self, head: str = "", joint: str = "", tail: str = "") -> None:
        self.head = head
        self.joint = joint
        self.tail = tail


def framed(kind: str, noun: str, rows: Iterator[Row], codec: Codec, frame: Frame) -> Rows:
    """Rows that are texts."""

    def write(chosen: Sequence[Row], target: str) -> int:
        text = frame.joint.join(row.kept for row in chosen)
        return put(target, codec.encode(frame.head + text + frame.tail))

    return Rows(kind, noun, rows, write)


def put(target: str, content: bytes) -> int:
    """Write a file."""
    with writing(target), open(target, "wb") as file:
        file.write(content)
    return len(content)


def put_packed(target: str, content: bytes) -> int:
    """Likewise, packed as its name says."""
    packing = packings.by_name(target)
    with writing(target):
        return put(target, content if packing is None else packing.compress(content))


class writing:  # noqa: N801 - it reads as what it is
    """While a path is written: what goes wrong is the user's to know."""

    def __init__(self, target: str) -> None:
        self._target = target

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OSError):
            reason = os.strerror(error.errno).lower() if error.errno else str(error)
            raise UsageError(f"{error.filename or self._target}: {reason}") from None


# --- JSON Lines ---------------------------------------------------------------------------------


def json_lines(file: Iterable[str], codec: Codec) -> Rows:
    """A value a line; one that is broken is a kind of value that should be seen as well."""
    return framed("JSON Lines", "row", _values(file), codec, Frame())


def _values(file: Iterable[str]) -> Iterator[Row]:
    for line in file:
        if line.strip():
            try:
                yield Row(_ended(line), json.loads(line))
            except (ValueError, RecursionError):
                yield Row(_ended(line), _Broken(line))


class _Broken(str):
    """What is no JSON."""

    __slots__ = ()


def _ended(line: str) -> str:
    return line if line.endswith(("\n", "\r")) else f"{line}\n"


# --- tables and lines ---------------------------------------------------------------------------


def lines(file: Iterable[str], codec: Codec) -> Rows:
    """Any text."""
    rows = (Row(_ended(line), line.rstrip("\r\n")) for line in file)
    return framed("text", "line", rows, codec, Frame())


def delimiter_of(start: str) -> str:
    """What most lines have equally often; "" for what is no table."""
    found = start.splitlines()[:-1][:50] or start.splitlines()
    best = ("", 0)
    for one in DELIMITERS:
        try:
            counts = [len(row) for row in csv.reader(found, delimiter=one)]
        except csv.Error:  # a cell that is larger than any should be
            continue
        usual = max(set(counts), key=counts.count) if counts else 0
        if usual > 1 and counts.count(usual) > 0.9 * len(counts) and usual > best[1]:
            best = (one, usual)
    return best[0] if len(found) > 1 else ""


def table(file: Iterable[str], delimiter: str, codec: Codec) -> Rows:
    """CSV and its kin; the first row has the names."""
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
                value = dict(itertools.zip_longest(names, map(typed, cells)))
                yield Row(_ended(text), value)

    return framed("CSV", "row", rows(), codec, Frame(head))


def typed(cell: str) -> Any:
    """As what it would be read."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return {"true": True, "false": False, "": None}.get(cell.lower(), cell)

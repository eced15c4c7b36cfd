"""Choosing a few of many rows, in one pass: the first, random ones, or such as cover all kinds."""

from __future__ import annotations

import itertools
import math
import random

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from zeroin.tiny.rows import Row

    Kind = tuple[str, ...]  # a field, and what is special about its value

CATEGORIES = 50  # values of a field, up to which each counts as a kind of its own
LONG = 60  # characters of a value that may be one
MOST = 20_000  # kinds
DEEP = 4  # levels of objects in objects


class Sample(NamedTuple):
    """What was chosen, in the order of the file."""

    rows: list[Row]
    seen: int
    kinds: int = 0  # of values that were seen,
    shown: int = 0  # and that the rows show


def first(rows: Iterable[Row], count: int) -> Sample:
    """The first ones; no more is read, so nobody knows how many there are."""
    chosen = list(itertools.islice(rows, count))
    return Sample(chosen, len(chosen))


def at_random(rows: Iterable[Row], count: int, seed: int) -> Sample:
    """Each equally likely, though nobody knows how many there will be."""
    drawn = random.Random(seed)
    kept: list[tuple[int, Row]] = []
    seen = 0
    for number, row in enumerate(rows):
        seen += 1
        if len(kept) < count:
            kept.append((number, row))
        elif (place := drawn.randrange(seen)) < count:
            kept[place] = (number, row)
    return Sample([row for _, row in sorted(kept, key=lambda one: one[0])], seen)


def covering(rows: Iterable[Row], count: int) -> Sample:
    """The fewest rows that show every kind of value, found greedily; then the first ones."""
    seen = _Seen()
    start: list[tuple[int, Row]] = []
    total = 0
    for number, row in enumerate(rows):
        total += 1
        if len(start) < count:
            start.append((number, row))
        seen.look(number, row)
    shows = {number: seen.shown_by(number) for number in seen.rows}
    left = set(seen.witness)
    chosen: dict[int, Row] = {}
    while left and len(chosen) < count:
        best = max(shows, key=lambda number: (len(shows[number] & left), -number))
        chosen[best] = seen.rows[best]
        left -= shows[best]
    for number, row in start:
        if len(chosen) >= count:
            break
        chosen.setdefault(number, row)
    ordered = [chosen[number] for number in sorted(chosen)]
    return Sample(ordered, total, len(seen.witness), len(seen.witness) - len(left))


class _Seen:
    """For each kind of value one row that shows it. Rows that are needed for none are forgotten."""

    def __init__(self) -> None:
        self.witness: dict[Kind, int] = {}
        self.rows: dict[int, Row] = {}
        self._kinds: dict[int, set[Kind]] = {}  # all that such a row shows
        self._needed: dict[int, int] = {}  # for how many kinds
        self._extremes: dict[Kind, float] = {}
        self._broken: set[Kind] = set()  # records, by the row that is looked at
        self._categories: dict[str, set[str]] = {}

    def look(self, number: int, row: Row) -> None:
        """Keep it if it shows something new."""
        self._broken.clear()
        kinds = set(self._of_row(row.value))
        for kind in kinds:
            if kind not in self.witness or kind in self._broken:
                self._let_go(kind)
                self.witness[kind] = number
                self.rows[number] = row
                self._kinds[number] = kinds
                self._needed[number] = self._needed.get(number, 0) + 1

    def _let_go(self, kind: Kind) -> None:
        number = self.witness.pop(kind, None)
        if number is not None:
            self._needed[number] -= 1
            if not self._needed[number]:
                del self.rows[number], self._kinds[number], self._needed[number]

    def shown_by(self, number: int) -> set[Kind]:
        """Of a record, only the row that holds it."""
        return {
            kind
            for kind in self._kinds[number]
            if kind in self.witness and (kind not in self._extremes or self.witness[kind] == number)
        }

    def _of_row(self, value: Any) -> Iterator[Kind]:
        for path, one in _leaves(value, "", 0):
            if len(self.witness) < MOST:
                yield (path, type(one).__name__)
                yield from self._of(path, one)

    def _of(self, path: str, one: Any) -> Iterator[Kind]:
        if isinstance(one, str):
            yield from ((path, name) for name, is_so in _text_kinds(one) if is_so)
            yield from self._extreme((path, "longest"), len(one))
            yield from self._category(path, one)
        elif isinstance(one, (list, dict)):
            if not one:
                yield (path, "empty")
            yield from self._extreme((path, "longest"), len(one))
            if isinstance(one, dict):  # a field that is missing is a kind as well
                yield from self._category(f"{path}{{}}", ",".join(sorted(map(str, one))))
        elif isinstance(one, (int, float)) and not isinstance(one, bool):
            yield from ((path, name) for name, is_so in _number_kinds(one) if is_so)
            if not isinstance(one, float) or math.isfinite(one):
                yield from self._extreme((path, "greatest"), one)
                yield from self._extreme((path, "least"), -one)
            yield from self._category(path, str(one))
        else:
            yield (path, repr(one))

    def _extreme(self, kind: Kind, value: float) -> Iterator[Kind]:
        if kind not in self._extremes or value > self._extremes[kind]:
            self._extremes[kind] = value
            self._broken.add(kind)
        yield kind

    def _category(self, path: str, value: str) -> Iterator[Kind]:
        known = self._categories.setdefault(path, set())
        if len(known) > CATEGORIES or (len(value) > LONG and not path.endswith("{}")):
            return
        if value not in known and len(known) == CATEGORIES:  # too many: none of them is one
            known.add(value)
            for one in known:
                self._let_go((path, "value", one))
            return
        known.add(value)
        yield (path, "value", value)


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """All values in a row, with where they are; places in lists don't count."""
    yield path, value
    if depth >= DEEP:
        return
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, f"{path}.{name}", depth + 1)
    elif isinstance(value, list):
        for one in value[:20]:
            yield from _leaves(one, f"{path}[]", depth + 1)


def _text_kinds(text: str) -> tuple[tuple[str, bool], ...]:
    return (
        ("empty", not text),
        ("blank", bool(text) and not text.strip()),
        ("edges", text != text.strip() and bool(text.strip())),
        ("not ascii", not text.isascii()),
        ("lines", "\n" in text),
        ("quotes", '"' in text or "'" in text),
        ("digits", text.isdigit()),
    )


def _number_kinds(number: float) -> tuple[tuple[str, bool], ...]:
    is_float = isinstance(number, float)
    return (
        ("zero", number == 0),
        ("negative", number < 0),
        ("not a number", is_float and math.isnan(number)),
        ("infinite", is_float and math.isinf(number)),
        ("fraction", is_float and math.isfinite(number) and number != int(number)),
        ("over 32 bits", not is_float and abs(number) > 2**31),
        ("over 64 bits", not is_float and abs(number) > 2**63),
    )

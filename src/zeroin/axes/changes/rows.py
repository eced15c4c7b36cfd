"""Two versions of a file of rows: CSV, JSON Lines, the elements of a JSON list, lines of text."""

from __future__ import annotations

from zeroin.axes.changes.align import differences
from zeroin.axes.changes.choice import Change
from zeroin.axes.payload import jsons, lines, tables
from zeroin.axes.payload.node import Node
from zeroin.axes.payload.reading import codec_of
from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zeroin.axes.changes.choice import Ranges
    from zeroin.axes.payload.tree import Codec

LONGEST = 2000  # characters of a row that is told


class Swap(NamedTuple):
    """Old rows and the new ones in their place: at most one of each."""

    start: int
    stop: int
    new_start: int
    new_stop: int


class Rows:
    """The rows that differ, numbered."""

    def __init__(self, old: bytes, new: bytes, names: tuple[str, str]) -> None:
        self._contents = (old, new)
        codec, self.kind, read = _kind(old, names[0])
        _, other, _ = _kind(new, names[1])
        if "text" in (self.kind, other):
            self.kind, read = "text", lines.read_lines
        elif other != self.kind:
            raise UsageError(f"{names[0]} is {self.kind} and {names[1]} is {other}")
        self._codec = codec
        self._whole = read(codec.decode(old))
        before, after = self._whole, read(codec.decode(new))
        self._is_list = self.kind == "JSON"
        if self._is_list:
            before, after = before.parts[0], after.parts[0]
        self._outer = before
        self._old, self._new = before.parts, after.parts
        self.swaps = self._swaps()

    def _swaps(self) -> list[Swap]:
        old, new = ([one.text for one in side] for side in (self._old, self._new))
        found: list[Swap] = []
        for a, b, c, d in differences(old, new):
            if b - a == d - c:
                found += [Swap(a + n, a + n + 1, c + n, c + n + 1) for n in range(b - a)]
            else:
                found += self._by_keys(old[a:b], new[c:d], a, c)
        return found

    def _by_keys(self, old: Sequence[str], new: Sequence[str], a: int, c: int) -> list[Swap]:
        """Rows that begin alike are the same row; the rest came or went."""
        keys = {self._key(row): n for n, row in enumerate(old)}
        found: list[Swap] = []
        at = 0
        for m, row in enumerate(new):
            n = keys.get(self._key(row), -1)
            if n < at:
                found.append(Swap(a + at, a + at, c + m, c + m + 1))
                continue
            found += [Swap(a + k, a + k + 1, c + m, c + m) for k in range(at, n)]
            found.append(Swap(a + n, a + n + 1, c + m, c + m + 1))
            at = n + 1
        end = c + len(new)
        return found + [Swap(a + k, a + k + 1, end, end) for k in range(at, len(old))]

    def _key(self, row: str) -> str:
        """What a row begins with: its first cell, or its first member."""
        return row if self.kind == "text" else row.partition(",")[0]

    # --- making some of them ------------------------------------------------------------------

    def content(self, made: Ranges) -> bytes:
        """The old file with some of the changes; with all of them it is the new one."""
        count = sum(stop - start for start, stop in made)
        if count in (0, len(self.swaps)):
            return self._contents[count > 0]
        found: list[Node] = []
        at = 0
        for first, behind in made:
            for start, stop, new_start, new_stop in self.swaps[first:behind]:
                found += self._old[at:start]
                found += self._new[new_start:new_stop]
                at = stop
        found += self._old[at:]
        if not self._is_list:
            found = [_ended(one) for one in found[:-1]] + found[-1:]
        outer = self._outer.with_parts(tuple(found))
        whole = self._whole.with_parts((outer,)) if self._is_list else outer
        return self._codec.encode(whole.text)

    # --- telling ------------------------------------------------------------------------------

    def change(self, number: int) -> Change:
        """One of them, for people."""
        start, stop, new_start, new_stop = self.swaps[number]
        old, new = (_shown(side) for side in (self._old[start:stop], self._new[new_start:new_stop]))
        noun = {"text": "line", "JSON": "element"}.get(self.kind, "row")
        row = (new_start if new is not None else start) + 1
        about = {"row": row if new is not None else None, "old_row": start + 1 if old else None}
        gone = "" if new is not None else " of the old file"
        return Change(f"{noun} {row:,}{gone}", old, new, "row", about)


def _shown(rows: Sequence[Node]) -> str | None:
    if not rows:
        return None
    text = rows[0].text.rstrip("\r\n")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _ended(row: Node) -> Node:
    return row if row.text.endswith(("\n", "\r")) else Node(f"{row.text}\n")


def _kind(content: bytes, name: str) -> tuple[Codec, str, Callable[[str], Node]]:
    codec = codec_of(content)
    if codec is None:
        raise UsageError(f"{name} is no text: only rows of text can be compared")
    text = codec.decode(content)
    if text.lstrip()[:1] == "[" and jsons.is_json(text):
        return codec, "JSON", jsons.read_json
    if jsons.is_json_lines(text):
        return codec, "JSON Lines", jsons.read_json_lines
    dialect = tables.dialect_of(text)
    if dialect is not None:
        return codec, "CSV", lambda one: tables.read_table(one, dialect)
    return codec, "text", lines.read_lines

"""CSV and its kin: rows, then columns, then what is in the cells. The header stays."""

from __future__ import annotations

import itertools
import re

from zeroin.axes.payload.kinds import flags
from zeroin.axes.payload.node import Node, Parts, around, plainer
from zeroin.axes.payload.numbers import simpler_numbers
from zeroin.axes.payload.tree import Format
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.axes.payload.kinds import Ranges, Round
    from zeroin.axes.payload.tree import Tree

DELIMITERS = ",\t;|"
SAMPLE = 200  # rows, by which the delimiter is found
_ENDS = r"(?:\r\n|\n|\r)"
_PIECE = r'(?:[^"\r\n]++|"(?:[^"]++|"")*+")'
_ROW = re.compile(f"{_PIECE}*+{_ENDS}|{_PIECE}++")


class Dialect(NamedTuple):
    """How cells are told apart."""

    delimiter: str

    def cells(self, row: str) -> list[tuple[int, int]]:
        """Where the cells of a row are."""
        end = len(row.rstrip("\r\n"))
        spans, at = [], 0
        while True:
            found = re.compile(self._cell).match(row, at, end)
            stop = found.end() if found is not None else at
            spans.append((at, stop))
            if stop >= end:
                return spans
            at = stop + 1

    @property
    def _cell(self) -> str:
        rest = f"[^{re.escape(self.delimiter)}\\r\\n]*"
        return f'(?:"(?:[^"]|"")*"{rest}|{rest})'


def rows_of(text: str) -> list[str]:
    """Rows with their ends; a quoted cell may hold some."""
    return _ROW.findall(text)


def dialect_of(text: str) -> Dialect | None:
    """The delimiter that gives all rows the same number of cells, more than one; None if none."""
    best: tuple[int, Dialect] | None = None
    every = rows_of(text)
    rows = list(itertools.islice((row for row in every if row.strip()), SAMPLE))
    if len(rows) < 2 or "".join(every) != text:
        return None
    for delimiter in DELIMITERS:
        dialect = Dialect(delimiter)
        widths = [len(dialect.cells(row)) for row in rows]
        usual = max(set(widths), key=widths.count)
        regular = widths.count(usual) / len(widths)
        if usual > 1 and regular > 0.9 and (best is None or usual > best[0]):
            best = (usual, dialect)
    return best[1] if best is not None else None


def read_table(text: str, dialect: Dialect) -> Node:
    """Rows of cells. The first row stays if it looks like names."""

    def row(node: Node) -> Parts:
        spans = dialect.cells(node.text)
        cells = [Node(node.text[a:b], _cell, _other_cells, stays=True) for a, b in spans]
        return around(node.text, spans, cells, dialect.delimiter)

    rows = rows_of(text)
    nodes = [Node(one, row) for one in rows]
    if rows and has_header(text, dialect):
        nodes[0] = nodes[0].staying(True)
    return Node(text, inner=Parts(tuple(nodes)))


def has_header(text: str, dialect: Dialect) -> bool:
    """Whether no cell of the first row is a number, or empty, and all differ."""
    first = _ROW.search(text)
    row = first[0] if first is not None else ""
    cells = [row[a:b].strip().strip('"') for a, b in dialect.cells(row)]
    return len(set(cells)) == len(cells) and not any(
        not cell or re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", cell) for cell in cells
    )


def _cell(node: Node) -> Parts:
    text = node.text
    if len(text) > 1 and text[0] == text[-1] == '"':
        found = re.findall(r'""|[^"]', text[1:-1])
        return Parts(tuple(Node(one, None, plainer) for one in found), '"', "", '"')
    return Parts(tuple(Node(one, None, plainer) for one in text))


def _other_cells(node: Node) -> Sequence[Node]:
    text = node.text
    ideas = simpler_numbers(text)
    if len(text) > 1 and text[0] == text[-1] == '"' and text[1:-1].isalnum():
        ideas = [text[1:-1]]
    return [Node(one, _cell, _other_cells, stays=True) for one in ideas]


class Columns:
    """The cells of a column go together."""

    def __init__(self, tree: Tree) -> None:
        widths = [len(row.parts) for row in tree.root.parts]
        widest = max(widths, default=0)
        self._tree = tree
        self.count = widest if widest > 1 else 0

    def texts(self) -> list[str]:
        """The cells of each, in the first rows: its name, and what is usual in it."""
        cells = ([part.text for part in row.parts] for row in self._tree.root.parts[:SAMPLE])
        return ["\n".join(own) for own in itertools.zip_longest(*cells, fillvalue="")][: self.count]

    def keep(self, parts: Ranges) -> Tree:
        """Without the others."""
        kept = flags(parts, self.count)
        rows = (
            row.with_parts(tuple(itertools.compress(row.parts, kept)))
            for row in self._tree.root.parts
        )
        return self._tree.of(self._tree.root.with_parts(tuple(rows)))


class Ends:
    """The ends of lines: what Windows has more of them, and the last one."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        tails = [row.inner.tail for row in tree.root.parts]
        self._are_long = "\r\n" in tails
        self._has_last = bool(tails) and bool(tails[-1])
        self.count = self._are_long + self._has_last

    def keep(self, parts: Ranges) -> Tree:
        """Without the others."""
        kept = flags(parts, self.count)
        rows = list(self._tree.root.parts)
        if self._are_long and not kept[0]:
            rows = [row.ending("\n") if row.inner.tail == "\r\n" else row for row in rows]
        if self._has_last and not kept[-1]:
            rows[-1] = rows[-1].ending("")
        return self._tree.of(self._tree.root.with_parts(tuple(rows)))


def _across(tree: Tree) -> Iterator[Round[Tree]]:
    yield Columns(tree)
    yield Ends(tree)


TABLE = Format("CSV", "row", across=_across)

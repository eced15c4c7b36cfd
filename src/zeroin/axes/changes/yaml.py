"""YAML, read as a tree of keys by its indents; the elements of a list are taken as a whole."""

from __future__ import annotations

import re

from zeroin.axes.changes.entries import entries, is_silent, told_apart
from zeroin.axes.changes.pieces import Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE = re.compile(
    r"(?P<indent> *)(?P<key>\"[^\"\n]*\"|'[^'\n]*'|[^\s#\-\[{&*!|>'\"%@`][^\n]*?|-[^\s\n][^\n]*?)"
    r"[ ]*:(?:[ \t]+(?P<rest>[^\n]*))?\r?\n?$"
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_NO_VALUE = re.compile(r"(?:[&!][^\s]+[ \t]*)*$")  # an anchor or a tag, and nothing else


def read_yaml(text: str) -> Piece:
    """The whole file: one document."""
    if "\t" in re.sub(r"[^\n\t ].*", "", text):
        raise ValueError("tabs in front of a key")
    rows = list(entries(text, "#", lambda _a, _b: False))
    lead = ""
    while rows and rows[0][1].startswith(("---", "%")):
        lead += "".join(rows.pop(0))
    if any(row.startswith("---") for _, row in rows):
        raise ValueError("several documents in one file")
    inside, rest = _block(rows, 0)
    if rest or not inside:
        row = rest[0][1].strip() if rest else ""
        raise ValueError(f"no key: {row[:60]!r}" if row else "no keys in it")
    is_list = inside[0].key == "0" and inside[0].head.lstrip().startswith("-")
    return Piece("", lead, told_apart(inside), indent=0, is_list=is_list)


def _block(
    rows: Sequence[tuple[str, str]], depth: int
) -> tuple[list[Piece], list[tuple[str, str]]]:
    """The keys, or the elements, that stand this deep; and what is behind them."""
    found: list[Piece] = []
    left = list(rows)
    while left:
        comments, row = left[0]
        if is_silent(row):  # comments at the end
            found.append(Piece("", comments + row, indent=depth))
            left.pop(0)
            continue
        here = _depth(row)
        key = _LINE.match(_COMMENT.sub("", row))
        dash = row.lstrip().startswith(("- ", "-\n")) or row.strip() == "-"
        if here != depth or (key is None and not dash):
            break
        left.pop(0)
        deeper = [left.pop(0) for _ in range(_count_deeper(left, depth, below_key=not dash))]
        if dash:
            text = comments + row + "".join(a + b for a, b in deeper)
            found.append(Piece(str(len(found)), text, value=_plain(row, deeper), indent=depth))
        elif key is not None:
            found.append(_key(key, comments + row, deeper, depth))
    return found, left


def _key(key: re.Match[str], head: str, deeper: Sequence[tuple[str, str]], depth: int) -> Piece:
    name = key["key"].strip("\"'")
    rest = key["rest"] or ""
    if deeper and _NO_VALUE.match(rest.strip()):
        inside, left = _block(deeper, _depth(deeper[0][1]))
        if inside and not left:
            is_list = deeper[0][1].lstrip().startswith("-")
            return Piece(name, head, told_apart(inside), is_list=is_list, indent=depth)
    text = head + "".join(a + b for a, b in deeper)
    return Piece(name, text, value=_plain(rest, deeper), indent=depth)


def _plain(first: str, deeper: Sequence[tuple[str, str]]) -> str:
    first = _COMMENT.sub("", first).strip().removeprefix("- ")
    rows = [first, *(row.strip() for _, row in deeper)]
    return "\n".join(filter(None, rows))


def _count_deeper(rows: Sequence[tuple[str, str]], depth: int, *, below_key: bool) -> int:
    """A list may stand as deep as the key that it belongs to."""
    for count, (_, row) in enumerate(rows):
        dash = below_key and row.lstrip().startswith("- ")
        if not is_silent(row) and (_depth(row) < depth or (_depth(row) == depth and not dash)):
            return count
    return len(rows)


def _depth(row: str) -> int:
    return len(row) - len(row.lstrip(" "))

"""Any text: lines, then words, then characters. And bytes, where there are no lines."""

from __future__ import annotations

import re

from zeroin.axes.payload.node import Node, Parts, characters
from zeroin.axes.payload.tree import Codec, Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WIDE = 64  # characters; longer pieces are halved before they are looked at one by one

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\w+|\s+|[^\w\s]+")


def read_lines(text: str) -> Node:
    """Lines with their ends."""
    return _pieces(text, _LINE, _words)


def _words(node: Node) -> Parts:
    return _pieces(node.text, _WORD, characters).inner


def _pieces(text: str, pattern: re.Pattern[str], read: Callable[[Node], Parts]) -> Node:
    return Node(text, inner=Parts(tuple(Node(one, read) for one in pattern.findall(text))))


def read_bytes(text: str) -> Node:
    """Blocks of bytes, then bytes."""
    blocks = (text[at : at + WIDE] for at in range(0, len(text), WIDE))
    return Node(text, inner=Parts(tuple(Node(one, characters) for one in blocks)))


def count_lines(text: str) -> int:
    """As an editor counts them: a piece that has lost its line's end is part of another line."""
    return len(_LINE.findall(text))


LINES = Format("text", "line", tally=count_lines)
BYTES = Format("bytes", "block")
AS_BYTES = Codec("latin-1")

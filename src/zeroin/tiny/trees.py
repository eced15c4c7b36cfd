"""Texts that are one value with others in it: the largest list in it has the rows.

They are held as a whole. What is not left out stays as it is, byte for byte.
"""

from __future__ import annotations

import json
import re

from zeroin.axes.payload.jsons import read_json
from zeroin.named import NamedTuple
from zeroin.tiny.rows import Row, Rows, UnreadableError, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from zeroin.axes.payload.node import Node
    from zeroin.axes.payload.tree import Codec

    Group = tuple[int, int]  # parts of a node that are a row together


class Look(NamedTuple):
    """How rows are found in a kind of text."""

    kind: str
    noun: str
    read: Callable[[str], Node]
    groups: Callable[[Node], Sequence[Group]]  # rows that a node has; none if it is a row's part
    inside: Callable[[Node], Iterable[tuple[tuple[int, ...], Node]]]  # where else to look
    value: Callable[[str], Any]


class _Found(NamedTuple):
    """A node with rows, and the way to it."""

    way: tuple[int, ...]
    node: Node
    groups: Sequence[Group]


def tree(text: str, look: Look, codec: Codec) -> Rows:
    """Rows of the node that has the most, the outer of two."""
    root = look.read(text)
    found = max(_found(root, (), look), key=lambda one: len(one.groups))
    parts = found.node.parts
    if not found.groups:
        raise UnreadableError("there is no list in it, of which a part could be left out")

    def rows() -> Iterator[Row]:
        for start, stop in found.groups:
            text = "".join(part.text for part in parts[start:stop])
            yield Row((start, stop), look.value(text))

    def write(chosen: Sequence[Row], target: str) -> int:
        gone = set(found.groups) - {row.kept for row in chosen}
        left_out = {number for start, stop in gone for number in range(start, stop)}
        left = tuple(part for number, part in enumerate(parts) if number not in left_out)
        return put(target, codec.encode(_with(root, found.way, left).text))

    return Rows(look.kind, look.noun, rows(), write)


def _found(node: Node, way: tuple[int, ...], look: Look) -> Iterator[_Found]:
    yield _Found(way, node, look.groups(node))
    for steps, inner in look.inside(node):
        yield from _found(inner, (*way, *steps), look)


def _with(node: Node, way: tuple[int, ...], left: tuple[Node, ...]) -> Node:
    """The same with other parts there."""
    if not way:
        return node.with_parts(left)
    number, parts = way[0], node.parts
    inner = _with(parts[number], way[1:], left)
    return node.with_parts((*parts[:number], inner, *parts[number + 1 :]))


# --- JSON ---------------------------------------------------------------------------------------

_KEY = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*', re.DOTALL)


def _json_groups(node: Node) -> Sequence[Group]:
    """Elements of a list; members of an object whose values are all of one kind: a record is not.

    The value of a file, or of a member, is no row: it stays.
    """
    is_object = node.text[:1] == "{"
    if (node.text[:1] != "[" and not is_object) or any(part.stays for part in node.parts):
        return ()
    if is_object and len({_first(part.text) for part in node.parts} - {"n"}) > 1:
        return ()
    return [(number, number + 1) for number in range(len(node.parts))]


def _first(member: str) -> str:
    """By which the kind of a member's value is known."""
    found = _KEY.match(member)
    first = member[found.end() if found else 0 :][:1]
    return {"t": "b", "f": "b"}.get(first, first if first in '{["n' else "0")


def _json_inside(node: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    """Values in it; but what is in an element of a list with several is a part of that row."""
    if node.text[:1] == "[" and len(node.parts) > 1:
        return
    for number, part in enumerate(node.parts):
        is_member = bool(part.parts) and part.parts[0].stays
        value, steps = (part.parts[0], (number, 0)) if is_member else (part, (number,))
        if value.text[:1] in ("{", "["):
            yield steps, value


def _json_value(text: str) -> Any:
    found = _KEY.match(text)
    if found is None:
        return json.loads(text)
    key = text[: found.end()].rstrip().removesuffix(":")
    return {"key": json.loads(key), "value": json.loads(text[found.end() :])}


JSON = Look("JSON", "item", read_json, _json_groups, _json_inside, _json_value)

"""The few things needed of `ast`, without bringing that module into the user's program."""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def parse(source: bytes | str, filename: str) -> Any:
    """The tree of a source text."""
    return compile(source, filename, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)


def children(node: Any) -> Iterator[Any]:
    """The nodes directly below one."""
    for value in vars(node).values():
        if isinstance(value, _ast.AST):
            yield value
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, _ast.AST):
                    yield one


def dump(value: Any) -> str:
    """All of a tree but its places, as text."""
    if isinstance(value, _ast.AST):
        inner = ",".join([dump(getattr(value, field, None)) for field in value._fields])
        return f"{type(value).__name__}({inner})"
    if isinstance(value, list):
        return "[" + ",".join(map(dump, value)) + "]"
    return (
        f"{type(value).__name__}:{value!r}" if isinstance(value, (float, complex)) else repr(value)
    )


def at(node: Any, place: Any) -> Any:
    """Give a new node the place where another one begins."""
    node.lineno = node.end_lineno = getattr(place, "lineno", 1)
    node.col_offset = node.end_col_offset = getattr(place, "col_offset", 0)
    return node


def place_of(node: Any) -> dict[str, int]:
    """Where a node is, for a new one to be made there."""
    where = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return dict(zip(PLACE, where))


def in_place_of(node: Any, old: Any) -> Any:
    """Give a new node the place of another one."""
    for attribute in PLACE:
        if hasattr(old, attribute):
            setattr(node, attribute, getattr(old, attribute))
    return node

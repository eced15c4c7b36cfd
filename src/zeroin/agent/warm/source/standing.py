"""Where a frame stands in its text, and whether another text is the same up to there."""

from __future__ import annotations

import _ast as ast

from . import edits, nodes, points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def standing(unit: points.Unit, line: int) -> tuple[points.Step, ...]:
    """The path to the statement that a frame at a line is in, as far as it could be left."""
    path: tuple[points.Step, ...] = ()
    node = unit.node
    while True:
        step = _into(node, line)
        if step is None:
            return path
        path = (*path, step)
        node = getattr(node, step[0])[step[1]]
        if isinstance(node, ast.stmt) and not isinstance(node, points.OPEN):
            return path


def follow(node: Any, path: tuple[points.Step, ...]) -> Any:
    """The statement at the end of a path."""
    for field, index in path:
        node = getattr(node, field)[index]
    return node


def _into(node: Any, line: int) -> points.Step | None:
    for field in points.BLOCKS:
        found = None
        for index, part in enumerate(getattr(node, field, ())):
            begin = points.first_line(part) if hasattr(part, "lineno") else part.body[0].lineno
            end = part.end_lineno if hasattr(part, "end_lineno") else part.body[-1].end_lineno
            if begin <= line <= end:
                found = (field, index)
        if found is not None:
            return found
    return None


def goes_on(unit: points.Unit, new: Any, path: tuple[points.Step, ...]) -> bool:
    """Whether all is the same from a statement that is under way to the next resumable point."""
    heads = {id(point.statement) for point in unit.points if point.resumable}
    holder, now = unit.node, new
    for field, index in path[:-1]:
        holder, now = getattr(holder, field)[index], getattr(now, field)[index]
    field, index = path[-1]
    block, counterpart = getattr(holder, field), getattr(now, field, [])
    for at in range(index + 1, len(block)):
        if id(block[at]) in heads:
            return True
        if at >= len(counterpart) or nodes.dump(block[at]) != nodes.dump(counterpart[at]):
            return False
    return True


def still_there(old: Any, new: Any, path: tuple[points.Step, ...], whole: bool) -> bool:
    """Whether a path leads to the same place: all before it is the same, and what it goes through.

    `whole`: the statement at its end is under way and must be the same altogether, unless the
    program can change over inside of it.
    """
    for depth, (field, index) in enumerate(path):
        block, counterpart = getattr(old, field), getattr(new, field, [])
        last = depth == len(path) - 1
        upto = index + 1 if whole or not last else index
        if len(counterpart) < upto:
            return False
        if any(edits.head(a) != edits.head(b) for a, b in zip(block[:upto], counterpart[:upto])):
            return False
        if last and not whole:
            return True
        old, new = block[index], counterpart[index]
        if last and not isinstance(old, points.OPEN):
            return nodes.dump(old) == nodes.dump(new)
    return True

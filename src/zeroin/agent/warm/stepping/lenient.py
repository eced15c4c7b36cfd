"""Going on although changed code has run: not what a cold run gives, and quick.

New code is brought in where it can still run: in functions that will be called again, and in loops
that are under way. What the program has passed for good would be changed without effect, so
that goes back as always.
"""

from __future__ import annotations

from ..source import edits, points
from . import change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Broken = list[tuple[int, str]]


def in_the_way(every: list[change.Edit], broken: Broken) -> Broken:
    """Those of the reasons that stand in the way all the same."""
    return [
        (position, why)
        for position, why in broken
        if not isinstance(why, edits.HadRun) or not _may_run_again(every, why)
    ]


def before(taken: list[Any], position: int, broken: Broken) -> list[Any]:
    """The snapshots that are worth asking next: where a function stands, each knows for itself."""
    fixed = [at for at, why in broken if not isinstance(why, (edits.HadRun, edits.UnderWay))]
    return [one for one in taken if one.position < min([position, *fixed])]


def _may_run_again(every: list[change.Edit], why: edits.HadRun) -> bool:
    edit = next(edit for edit in every if why.unit in edit.comparison.old.units)
    numbers = edit.file.current.numbers
    standing = [
        change.stands(why.unit, numbers, frame, innermost=index == 0)
        for index, (frame, key, layer) in enumerate(change.frames_of(edit.file))
        if key == why.unit.key and layer is None
    ]
    if not standing:
        return not why.unit.is_module
    path = _path_to(why.unit.node, why.node)
    return all(_comes_to(why.unit.node, place, path, begun) for place, begun in standing)


def _path_to(node: Any, wanted: Any) -> tuple[points.Step, ...]:
    """The way to a statement; as far as it goes, where that is inside of a class."""
    for field in points.BLOCKS:
        for index, part in enumerate(getattr(node, field, None) or ()):
            if part is wanted:
                return ((field, index),)
            below = _path_to(part, wanted)
            if below:
                return ((field, index), *below)
    return ()


def _comes_to(
    node: Any, here: tuple[points.Step, ...], there: tuple[points.Step, ...], begun: bool
) -> bool:
    """Whether one who stands `here` comes to `there`, if need be in the next pass of a loop."""
    again = False
    for (field, index), (other, place) in zip(here, there):
        if field != other:
            return again or points.BLOCKS.index(other) > points.BLOCKS.index(field)
        if index != place:
            return again or place > index
        again = again or (isinstance(node, points.LOOPS) and field == "body")
        node = getattr(node, field)[index]
    return again or not begun

"""At the points of old code: the new code takes over, with all that the old one has."""

from __future__ import annotations

import _ast

from ..source import codes, points, standing, tails, texts
from . import left, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

FUNCTION: Any = type(standing.follow)
HIDDEN = ".self"  # an argument that only `super()` looks at


def plan(leave: steps.Leave, frame: FrameType) -> tuple[bool, Any] | None:
    """Whether the old code is left here, and for a module with what."""
    file = leave.file
    old = texts.known(leave.layer.source, file.filename)
    point = next(p for p in old.points() if p.number == leave.number)
    if not point.resumable:
        if point.unit.whole and point is point.unit.points[0]:
            _retreat(file, frame, "a generator or coroutine, had been made before it was changed")
        return None
    new = texts.known(file.current.source, file.filename)
    unit = new.by_key.get(point.unit.key)
    if unit is None or not standing.still_there(
        point.unit.node, unit.node, point.path, whole=False
    ):
        _retreat(file, frame, "could not be changed while it was running")
        return None
    # Three have been called with the frame: `_step`, `_plan`, and this.
    if point is not point.unit.points[0] and id(frame) in left.kept(file.filename, 3):
        _retreat(file, frame, "is held by others, and could not be changed")
    if not point.unit.is_module:
        return False, None
    _mark(file, unit, point.path)
    things, held = _iterators(frame, point)
    place = tails.Place((), point.path, steps.hand_over(things))
    make = _maker(place)
    code = make(texts.Text(new.source, file.filename), file.current.numbers, True)
    _keep(file, code, make)
    left.leave(frame, held)
    return True, code


def _retreat(file: texts.File, frame: FrameType, why: str) -> None:
    from .. import resume

    resume.retreat(f"{file.path.rpartition('/')[2]}:{frame.f_lineno} {why}")


def function(leave: steps.Leave, frame: FrameType, cells: dict[str, Any]) -> Any:
    """The rest of a function, as a function."""
    file = leave.file
    old = texts.known(leave.layer.source, file.filename)
    point = next(p for p in old.points() if p.number == leave.number)
    values = dict(frame.f_locals)
    if point is point.unit.points[0]:
        made = _whole(file.running[point.unit.key][0], frame, cells, values)
        left.leave(frame, 0, cells)
        return made
    new = texts.Text(file.current.source, file.filename)
    _mark(file, new.by_key[point.unit.key], point.path)
    things, held = _iterators(frame, point)
    first = frame.f_code.co_varnames[:1] if frame.f_code.co_argcount else ()
    takes = "__class__" in cells and bool(first) and first[0] in values
    own = {n: v for n, v in values.items() if n not in cells and not (takes and n == first[0])}
    things.update(own)
    place = tails.Place(point.unit.key, point.path, steps.hand_over(things))
    place.bound, place.cells = list(own), list(cells)
    if takes:
        place.first = HIDDEN if first[0] in cells else first[0]
    make = _maker(place)
    code = make(new, file.current.numbers, True)
    _keep(file, code, make)
    left.leave(frame, held, cells)
    return left.rest(frame, _function(code, frame, cells), (values[first[0]],) if takes else ())


def _mark(file: texts.File, unit: points.Unit, path: tuple[points.Step, ...]) -> None:
    """The tail begins behind the hook of its first statement: note that it is reached."""
    try:
        segment = unit.segment.get(id(standing.follow(unit.node, path)))
    except IndexError:  # nothing is left there
        return
    if segment is not None:
        steps.mark(file.current.numbers[segment])


def _whole(code: Any, frame: FrameType, cells: dict[str, Any], values: dict[str, Any]) -> Any:
    """The new function from its start, with the arguments the old one got."""
    made = _function(code, frame, cells)
    plain = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    at = code.co_argcount + code.co_kwonlyargcount
    args = [values[name] for name in plain]
    more = {name: values[name] for name in named}
    if code.co_flags & 0x04:  # *args
        args += values[code.co_varnames[at]]
        at += 1
    if code.co_flags & 0x08:  # **kwargs
        more.update(values[code.co_varnames[at]])
    return left.rest(frame, made, args, more)


def _function(code: Any, frame: FrameType, cells: dict[str, Any]) -> Any:
    closure = tuple(cells[name] for name in code.co_freevars)
    return FUNCTION(code, frame.f_globals, frame.f_code.co_name, None, closure)


def _maker(place: tails.Place) -> Any:
    return lambda text, numbers, live: tails.make(text, numbers, place, live)


def _keep(file: texts.File, code: Any, make: Any) -> None:
    text = texts.known(file.current.source, file.filename)
    layer = texts.Layer(text, file.current.numbers, code, make)
    file.layers.append(layer)
    for key, one in layer.codes.items():
        file.running.setdefault(key, []).append(one)


def _iterators(frame: FrameType, point: points.Point) -> tuple[dict[Any, Any], int]:
    """What the loops that are under way iterate over, by their depth; and how many the frame has.

    In a tail, the loops that it began in have a one-pass loop each, `while` as well, until that
    pass is over; until then, that holds the live iterator.
    """
    found: dict[Any, Any] = {}
    held = 0
    for loop in loops_around(point):
        iterator = codes.on_stack(frame, held)
        if isinstance(loop, _ast.For):
            held += 1
            found[len(found)] = iterator.live if type(iterator) is steps.Once else iterator
        elif tails.is_one_pass_of_while(iterator):
            held += 1
    return found, held


def loops_around(point: points.Point) -> list[Any]:
    """The loops whose bodies a point is in, the outermost first."""
    found, node = [], point.unit.node
    for field, index in point.path:
        if isinstance(node, points.LOOPS) and field == "body":
            found.append(node)
        node = getattr(node, field)[index]
    return found

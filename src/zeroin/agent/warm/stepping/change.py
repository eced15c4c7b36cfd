"""Bring an edit into the running program."""

from __future__ import annotations

import _ast
import sys

from ..source import codes, edits, lines, nodes, plant, points, positions, standing, texts
from . import left, sightings, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


# Words that stand in code that asks what names there are.
ASKING = (
    *(b"dir(", b"vars(", b"hasattr", b"getattr", b"globals(", b"locals(", b"__dict__"),
    *(b"import *", b"inspect", b"unittest", b"doctest", b"pytest"),
)
FUNCTION: Any = type(edits.head)


class Edit:
    """One file that has another text now."""

    def __init__(self, file: texts.File, source: bytes) -> None:
        self.file = file
        old = file.text()
        self.fresh: list[int] = []  # points before what is new
        self.new = texts.Text(source, file.filename)
        numbers = file.current.numbers
        name = file.path.rpartition("/")[2]
        self.comparison = edits.Comparison(
            old, self.new, lambda n: None if n is None else steps.reached.get(numbers[n]), name
        )
        self.broken = self.comparison.broken
        self.broken += sightings.moved(file.filename, self.comparison, source)
        self._look_at_frames()
        self._look_at_additions()

    # --- may it be brought in? ----------------------------------------------------------------

    def _look_at_frames(self) -> None:
        """Functions that are under way can change only after what they are doing now."""
        if not self.comparison.changed and not self.file.stale:
            return
        seen: set[int] = set()
        held = left.kept(self.file.filename)
        for index, (frame, key, layer) in enumerate(frames_of(self.file)):
            if layer is None and key not in self.comparison.changed:
                continue
            stays = id(frame.f_code) in seen or id(frame) in held
            seen.add(id(frame.f_code))
            self._look_at_frame(frame, key, layer, innermost=index == 0, stays=stays)

    def _look_at_frame(
        self,
        frame: FrameType,
        key: tuple[Any, ...],
        layer: texts.Layer | None,
        *,
        innermost: bool,
        stays: bool,
    ) -> None:
        comparison = self.comparison
        text = comparison.old if layer is None else as_it_stands(layer, self.file)
        unit = text.by_key[key]
        now = self.new.by_key.get(key) if layer else comparison.units.get(key)
        numbers = (layer or self.file.current).numbers
        path, under_way = stands(unit, numbers, frame, innermost=innermost)
        same = now is not None and standing.still_there(unit.node, now.node, path, whole=under_way)
        if now is not None and same and under_way and path:
            same = standing.goes_on(unit, now.node, path)
        # Where frames can't be hidden, the import system would see a module being left.
        can_leave = codes.can_hide() or not unit.is_module or _is_main(frame)
        can_leave = can_leave and not unit.whole
        if path and same and not stays and can_leave and not _lacks_cells(text, unit, frame):
            return
        place = f"{comparison.name}:{frame.f_lineno}"
        why = edits.UnderWay(f"{place} was changed while it was running")
        # This snapshot is of no use; those before it will be asked themselves.
        self.broken.append((steps.last_snapshot(), why))

    def _look_at_additions(self) -> None:
        """A definition may run late only if nobody could have missed it."""
        import builtins

        space = module_space(self.file)
        text = self.comparison.old.source
        if self.comparison.additions and any(map(_enumerates, steps.files.values())):
            position, statement = min(self.comparison.additions, key=lambda one: one[0])
            what = f"{self.comparison.name}:{statement.lineno} was put in"
            self.broken.append((position, f"{what}, and the program may have looked for names"))
        for position, statement in self.comparison.additions:
            for name in edits.names_of(statement):
                known = space is None or name in space or hasattr(builtins, name)
                if known or name.encode() in text:
                    what = f"{self.comparison.name}:{statement.lineno} was put in"
                    self.broken.append((position, f"{what}, and {name!r} may have been used"))

    def place(self) -> str | None:
        """Where the program stands in the new text, if the code it stands in has changed."""
        numbers = self.file.current.numbers
        for key in self.comparison.changed:
            new = self.comparison.units.get(key)
            for point in self.comparison.old.by_key[key].points:
                if new is None or not new.points or numbers[point.number] != steps.here():
                    continue
                if point is point.unit.points[0]:
                    return f"{self.comparison.name}:{new.points[0].line}"
                try:
                    line = points.first_line(standing.follow(new.node, point.path))
                except IndexError:  # nothing is left there
                    return None
                return f"{self.comparison.name}:{line}"
        return None

    # --- bring it in --------------------------------------------------------------------------

    def bring_in(self) -> bool:
        """Change the running program; False if it can't be done, and nothing was done."""
        file = self.file
        moves = self._moves()
        if moves is None:
            return False
        numbers = self._numbers()
        leaves = self._leaves(numbers)
        if not all(codes.move_lines(*move) for move in moves):
            return False
        if self.comparison.changed:
            self._replace(numbers)
        else:
            file.current.source = self.new.source
        for number, leave in leaves:
            steps.leave_at(number, leave)
        self._swap()
        self._run_additions()
        return True

    def _replace(self, numbers: list[int]) -> None:
        """The new text is the current one; units that are the same go on with their code."""
        file, comparison = self.file, self.comparison
        goes_on = {new.key for key, new in comparison.units.items() if self._goes_on(key)}
        make = _part({unit.key for unit in self.new.units} - goes_on)
        code = make(self.new, numbers, True)
        layer = texts.Layer(self.new, numbers, code, make, functions_only=True)
        running = {key: [code] for key, code in layer.codes.items()}
        for key, new in comparison.units.items():
            codes_of = file.running.get(key, [])
            if key in comparison.changed:
                file.stale += [(one, file.current, key) for one in codes_of]
            elif codes_of:
                running[new.key] = codes_of
        file.layers.append(layer)
        file.current, file.running = layer, running

    def _goes_on(self, key: tuple[Any, ...]) -> bool:
        return key not in self.comparison.changed and bool(self.file.running.get(key))

    def _swap(self) -> None:
        """Functions that can be found by their names get the new code at once."""
        space = module_space(self.file)
        for key in self.comparison.changed:
            new = self.comparison.units.get(key)
            if new is None or new.is_module or space is None or new.key not in self.file.running:
                continue  # the last: it stands where nothing is ever run
            code: Any = self.file.running[new.key][0]
            for function in functions_at(space, key):
                stale = any(function.__code__ is one for one, _, _ in self.file.stale)
                if stale and function.__code__.co_freevars == code.co_freevars:
                    function.__code__ = code

    def _moves(self) -> list[tuple[Any, int, bytes]] | None:
        """Line numbers for all code of the file that goes on."""
        places = positions.Places(self.comparison)
        if not places.is_clear:
            return self._moves_by_making()
        if places.is_still:
            return []
        moves = []
        for layer in self.file.layers:
            for code in texts.all_within(layer.code):
                first, table = places.start(code.co_firstlineno), codes.line_table(code)
                is_module = code.co_name == "<module>"
                if is_module:
                    first = code.co_firstlineno
                # Tables count from the first line: what is moved as a whole has the same one.
                if is_module or places.first <= code.co_firstlineno < places.rest:
                    table = lines.moved(code, first, places.start, places.stop)
                moves.append((code, first, table))
        return moves

    def _moves_by_making(self) -> list[tuple[Any, int, bytes]] | None:
        """Where statements went to other places on their lines, make the code again there."""
        moves = []
        for layer in self.file.layers:
            comparison = self.comparison
            if layer is not self.file.current:
                comparison = edits.Comparison(
                    texts.Text(layer.source, self.file.filename), self.new, lambda _: None, ""
                )
            positions.relocate(comparison)
            found = layer.follow(comparison.old)
            if found is None:
                return None
            moves += [(old, new.co_firstlineno, codes.line_table(new)) for old, new in found]
        return moves

    def _numbers(self) -> list[int]:
        """Points of units that are the same keep their numbers; others know what had run."""
        comparison = self.comparison
        numbers: dict[int, int] = {}
        before = self.file.current.numbers
        every: dict[int, int | None] = {}
        for unit in comparison.old.units:
            every.update(unit.segment)
        segments = {id(new): every[id(old)] for old, new in comparison.pairs if id(old) in every}
        same = {
            new.key: key for key, new in comparison.units.items() if key not in comparison.changed
        }
        added = {id(statement): when for when, statement in comparison.additions}
        for unit in self.new.units:
            if unit.key in same:
                old = comparison.old.by_key[same[unit.key]]
                for point, was in zip(unit.points, old.points):
                    numbers[point.number] = before[was.number]
                continue
            for point, number in zip(unit.points, plant.new_flags(len(unit.points))):
                numbers[point.number] = number
                segment = segments.get(id(point.statement))
                when = added.get(id(point.statement))  # it is run as it is brought in
                if segment is not None:
                    when = steps.reached.get(before[segment])
                if when is not None:
                    steps.mark(number, when)
                elif segment is None and point.resumable:
                    self.fresh.append(number)
        return [numbers[n] for n in range(len(numbers))]

    def _leaves(self, numbers: list[int]) -> list[tuple[int, steps.Leave]]:
        layer = self.file.current
        now = {id(old): id(new) for old, new in self.comparison.pairs}
        leaves = []
        for key in self.comparison.changed:
            new = self.comparison.units.get(key)
            segments = new.segment if new else {}
            for point in self.comparison.old.by_key[key].points:
                leave = steps.Leave(self.file, layer, point.number)
                segment = segments.get(now.get(id(point.statement), 0))
                leave.becomes = None if segment is None else numbers[segment]
                leave.codes = list(self.file.running.get(key, ()))
                leaves.append((layer.numbers[point.number], leave))
        return leaves

    def _run_additions(self) -> None:
        space = module_space(self.file)
        if not self.comparison.additions or space is None:
            return
        wanted = [statement for _, statement in self.comparison.additions]
        for statement in wanted:
            if isinstance(statement, _ast.FunctionDef):
                inner = self.file.running[((statement.name, 0),)][0]
                space[statement.name] = FUNCTION(inner, space)
            else:
                one = _ast.Module([statement], [])
                exec(compile(one, self.file.filename, "exec", dont_inherit=True), space)  # noqa: S102


def stands(
    unit: points.Unit, numbers: list[int], frame: FrameType, *, innermost: bool
) -> tuple[tuple[points.Step, ...], bool]:
    """The path to the statement that a frame is at, and whether that one has begun."""
    if innermost:
        for point in unit.points:
            if numbers[point.number] == steps.here() and point.resumable:
                return point.path, False
    return standing.standing(unit, frame.f_lineno), True


def _enumerates(file: texts.File) -> bool:
    return any(word in file.current.source for word in ASKING)


def frames_of(file: texts.File) -> list[tuple[FrameType, tuple[Any, ...], texts.Layer | None]]:
    """The frames that run code of a file, the innermost first; the layer if it is out of date."""
    whose: dict[int, Any] = {id(code): (key, layer) for code, layer, key in file.stale}
    whose.update({id(code): (key, None) for key, every in file.running.items() for code in every})
    found = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        known = whose.get(id(frame.f_code))
        if known is not None and steps.left.get(id(frame)) != id(frame.f_code):
            found.append((frame, *known))
        frame = frame.f_back
    return found


def as_it_stands(layer: texts.Layer, file: texts.File) -> texts.Text:
    """A text that is out of date, with the places its statements have in the current one."""
    text = texts.Text(layer.source, file.filename)
    current = texts.Text(file.current.source, file.filename)
    positions.relocate(edits.Comparison(text, current, lambda _: None, ""))
    return text


def functions_at(space: dict[str, Any], key: tuple[Any, ...]) -> list[Any]:
    """What can be found under a unit's name, without whatever was wrapped around it."""
    found: Any = space
    for part, _ in key:
        name = points.plain_name(part)
        names = found if isinstance(found, dict) else getattr(found, "__dict__", {})
        found = names.get(name)
        if found is None:
            return []
    left, functions = [found], []
    while left:
        one = left.pop()
        if isinstance(one, type(module_space)):
            functions.append(one)
        for inside in ("__wrapped__", "__func__", "fget", "fset", "fdel", "func"):
            try:
                more = object.__getattribute__(one, inside)
            except AttributeError:
                continue
            if more is not None and more is not one and len(left) < 20:
                left.append(more)
    return functions


def _is_main(frame: FrameType) -> bool:
    return bool(frame.f_globals.get("__name__") == "__main__")


def _lacks_cells(text: texts.Text, unit: points.Unit, frame: FrameType) -> bool:
    """Whether a variable that closures share has no value, or may lose it.

    The tail gets it from outside, and reading it would raise NameError, not UnboundLocalError.
    """
    if unit.is_module:
        return False
    cells = [name for name, kind in text.scopes.names(unit.node).items() if kind == "cell"]
    bound = codes.variables(frame) if cells else {}
    return any(name not in bound for name in cells) or _deletes(unit.node, cells)


def _deletes(node: Any, names: list[str]) -> bool:
    left = [node] if names else []
    while left:
        one = left.pop()
        if isinstance(one, _ast.Name) and isinstance(one.ctx, _ast.Del) and one.id in names:
            return True
        left.extend(nodes.children(one))
    return False


def module_space(file: texts.File) -> dict[str, Any] | None:
    """The namespace of the module that a file is."""
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None)
        if isinstance(space, dict) and space.get("__file__") == file.filename:
            return space
    return None


def _part(keys: set[tuple[Any, ...]]) -> Any:
    return lambda text, numbers, live: texts.part_code(text, numbers, keys, live)

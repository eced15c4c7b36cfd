"""Where a program can be stopped: points between its statements.

A *unit* is a body of code that runs by itself: a module or a function. Each block of a unit
begins with a point, and a further one stands before each statement that follows something
which may take long (a call, a loop, an import). The statements from one point to the next are
a *segment*: once its point is reached, all of it counts as having run. Class bodies have no
points of their own, they are part of the statement that makes the class.

Points are numbered in the order of the source, so that the same text always gives the same.
"""

from __future__ import annotations

import _ast as ast

from . import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
    Step = tuple[str, int]

LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NESTED = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)
_GUARDED = tuple(
    getattr(ast, name) for name in ("With", "AsyncWith", "Try", "TryStar") if hasattr(ast, name)
)
_MATCH = (ast.Match,) if hasattr(ast, "Match") else ()
_COMPOUND = (ast.If, *LOOPS, *_GUARDED, *_MATCH, ast.ClassDef)
_LONG = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.MatMult, ast.Import, ast.ImportFrom)
# Statements inside of which a new version can take over.
OPEN = (ast.If, ast.For, ast.While, *_MATCH)
WHOLE = "is whole"  # an attribute of ours
CLASS = "c:"  # before the name of a class in a unit's key
# The parts of a statement that hold statements, or things that hold statements.
BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


class Point:
    """One place between two statements."""

    __slots__ = ("begins_line", "loops", "number", "path", "resumable", "statement", "unit")

    def __init__(
        self, number: int, unit: Unit, path: tuple[Step, ...], statement: ast.stmt
    ) -> None:
        self.number = number
        self.unit = unit
        self.path = path  # steps from the unit's node to the statement that follows
        self.statement = statement
        self.resumable = True  # whether a new version of the rest can take over here
        # Instructions of one line may be melted into one, and a hook's with another's.
        self.begins_line = False
        self.loops = 0  # how many `for` loops of the unit are under way here

    @property
    def line(self) -> int:
        """The line of the statement that follows."""
        return first_line(self.statement)


class Unit:
    """A module's or a function's body."""

    def __init__(self, node: Any, key: tuple[Any, ...], whole: bool) -> None:
        self.node = node
        self.key = key  # names from the module inwards, each with its count among its namesakes
        self.whole = whole  # a generator or coroutine: no point in it is resumable
        self.top: Any = None  # the statement of the module that holds it
        self.points: list[Point] = []
        self.segment: dict[int, int | None] = {}  # id of a statement → number of its point

    @property
    def is_module(self) -> bool:
        """Whether it is the module's own body."""
        return not self.key

    @property
    def name(self) -> str:
        """As a user would say it."""
        names = [plain_name(name) for name, _ in self.key]
        return ".".join(names) or "the module"


def plain_name(part: str) -> str:
    """The name in a part of a unit's key."""
    return part.removeprefix(CLASS)


def first_line(node: Any) -> int:
    """The line where running it begins: that of the first decorator, if it has any."""
    if isinstance(node, ast.Module):
        return 1
    line: int = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return line


def survey(tree: ast.Module, lines: list[bytes]) -> list[Unit]:
    """All units of a module, outermost first, with their points."""
    return _Surveyor(lines).module(tree)


class _Surveyor:
    def __init__(self, lines: list[bytes]) -> None:
        self.units: list[Unit] = []
        self.count = 0
        self.top: Any = None  # the module's statement that is being looked at
        self.yields = [number for number, line in enumerate(lines, 1) if b"yield" in line]

    def module(self, tree: ast.Module) -> list[Unit]:
        self._unit(tree, (), False)
        return self.units

    def _unit(self, node: Any, key: tuple[Any, ...], whole: bool, top: Any = None) -> None:
        unit = Unit(node, key, whole)
        unit.top = top
        self.units.append(unit)
        inner: list[tuple[Any, tuple[Any, ...], Any]] = []
        self._block(unit, node.body, ((), "body"), not whole, 0, None, inner)
        names: dict[str, int] = {}
        for function, classes, holder in inner:
            path = (*classes, (function.name, 0))
            said = ".".join(name for name, _ in path)
            count = names[said] = names.get(said, -1) + 1
            own = (*key, *classes, (function.name, count))
            self._unit(function, own, self._is_whole(function), holder)

    def _is_whole(self, function: Function) -> bool:
        """Remembered, and looked for only where the word stands at all."""
        end = function.end_lineno or 0
        may_yield = any(function.lineno <= line <= end for line in self.yields)
        is_async = isinstance(function, ast.AsyncFunctionDef)
        vars(function)[WHOLE] = is_async or (may_yield and is_whole(function))
        return bool(vars(function)[WHOLE])

    def _block(
        self,
        unit: Unit,
        statements: list[Any],
        where: tuple[tuple[Step, ...], str],
        resumable: bool,
        loops: int,
        segment: int | None,
        inner: list[Any],
    ) -> None:
        path, field = where
        before_is_long = True
        for index, statement in enumerate(statements):
            here = (*path, (field, index))
            if _must_stay_first(unit, here, statement):
                unit.segment[id(statement)] = segment
                continue
            if before_is_long:
                point = Point(self.count, unit, here, statement)
                point.resumable, point.loops = resumable, loops
                unit.points.append(point)
                segment = self.count
                self.count += 1
            unit.segment[id(statement)] = segment
            self.top = unit.top or (self.top if path else statement)
            self._inside(unit, statement, here, resumable, loops, segment, inner)
            before_is_long = is_long(statement)

    def _inside(
        self,
        unit: Unit,
        statement: Any,
        here: tuple[Step, ...],
        resumable: bool,
        loops: int,
        segment: int | None,
        inner: list[Any],
    ) -> None:
        if isinstance(statement, _FUNCTIONS):
            inner.append((statement, (), self.top))
        elif isinstance(statement, ast.ClassDef):
            self._class(unit, statement, ((CLASS + statement.name, 0),), segment, inner)
        elif isinstance(statement, _GUARDED):
            for field in BLOCKS:
                for index, part in enumerate(getattr(statement, field, ())):
                    if isinstance(part, ast.ExceptHandler):
                        step = (*here, (field, index))
                        self._block(unit, part.body, (step, "body"), False, loops, segment, inner)
                block = getattr(statement, field, None)
                if block and field != "handlers":
                    self._block(unit, block, (here, field), False, loops, segment, inner)
        elif _MATCH and isinstance(statement, _MATCH):
            for index, case in enumerate(statement.cases):
                step = (*here, ("cases", index))
                self._block(unit, case.body, (step, "body"), resumable, loops, segment, inner)
        elif isinstance(statement, (ast.If, *LOOPS)):
            within = loops + isinstance(statement, (ast.For, ast.AsyncFor))
            self._block(unit, statement.body, (here, "body"), resumable, within, segment, inner)
            if statement.orelse:
                where = (here, "orelse")
                self._block(unit, statement.orelse, where, resumable, loops, segment, inner)

    def _class(
        self, unit: Unit, node: Any, classes: Any, segment: int | None, inner: list[Any]
    ) -> None:
        """No points, only the methods, wherever in the class's body they stand."""
        for child in nodes.children(node):
            if isinstance(child, ast.stmt):
                unit.segment[id(child)] = segment
            if isinstance(child, _FUNCTIONS):
                inner.append((child, classes, self.top))
            elif isinstance(child, ast.ClassDef):
                self._class(unit, child, (*classes, (CLASS + child.name, 0)), segment, inner)
            elif not isinstance(child, ast.expr):
                self._class(unit, child, classes, segment, inner)


def _must_stay_first(unit: Unit, path: tuple[Step, ...], statement: ast.stmt) -> bool:
    """Docstrings and `from __future__` lose their meaning when something stands before them."""
    if len(path) > 1:
        return False
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return unit.is_module
    return path[0][1] == 0 and is_docstring(statement)


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a first statement would be a docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def is_long(statement: ast.stmt) -> bool:
    """Whether running it may take a while."""
    if isinstance(statement, _COMPOUND):
        return True
    if isinstance(statement, _FUNCTIONS):
        return bool(statement.decorator_list)
    left: list[ast.AST] = [statement]
    while left:
        node = left.pop()
        if isinstance(node, _LONG):
            return True
        if not isinstance(node, ast.Lambda):
            left.extend(nodes.children(node))
    return False


def is_whole(function: Function) -> bool:
    """Generators and coroutines: they are suspended and resumed by others."""
    if WHOLE in vars(function):
        return bool(vars(function)[WHOLE])
    if isinstance(function, ast.AsyncFunctionDef):
        return True
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, _NESTED):
            left.extend(nodes.children(node))
    return False

"""Put a hook at each point of a module, so that nothing else about it changes.

A hook is `if @z17: if @zi(17): return @zt()()`, at the position of the statement that follows.
`@z17` is falsy almost always, which costs two or three nanoseconds. `@zi` notes that the point
was reached, may take a snapshot, and says whether a new version of the rest takes over; `@zt`
then gives it. A lambda that is never called hands over the cells of closures. `plant` puts
constants in the place of these names.
"""

from __future__ import annotations

import _ast as ast

from . import nodes, points
from .plant import DOWN, LOCAL, PREFIX, ROOM, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from . import texts

TAIL = "@zt"
# What else is to be put in, and by what names; see `profile`.
also: list[Callable[[list[points.Unit], Callable[[points.Point], int]], None]] = []
names: list[str] = []
LAMBDA = ".z"  # the argument that tells our lambdas from the user's


def put_hooks(
    text: texts.Text,
    identify: Callable[[points.Point], int],
    units: list[points.Unit] | None = None,
) -> None:
    """Put a hook at every point of all units, or of these; the text's tree is changed."""
    units = text.units if units is None else units
    for more in also:
        more(units, identify)
    for unit in units:
        cells = [] if unit.is_module else text.scopes.cells(unit.node)
        shared = not unit.is_module and _constants_in(unit.node) + 2 * len(unit.points) < ROOM
        # From the end, so that the indexes of those before stay true.
        for point in reversed(unit.points):
            block = block_of(unit.node, point.path)
            local = shared and point.begins_line
            block.insert(point.path[-1][1], _hook(point, identify(point), cells, local))
        if shared and unit.points:
            place = unit.points[0].path[0][1]
            unit.node.body.insert(place, declaration(unit.points[0].statement))


def declaration(at: Any) -> Any:
    """What makes the flags' name a local one: an assignment that is never run."""
    target = nodes.at(ast.Name(LOCAL, ast.Store()), at)
    never = nodes.at(ast.Assign([target], nodes.at(ast.Constant(None), at)), at)
    return nodes.at(ast.If(nodes.at(ast.Constant(0), at), [never], []), at)


def _constants_in(node: Any) -> int:
    count, left = 0, [node]
    while left and count < ROOM:
        one = left.pop()
        count += isinstance(one, (ast.Constant, ast.JoinedStr, ast.Lambda))
        left.extend(nodes.children(one))
    return count


def flag(number: int) -> str:
    """The name of a point's flag."""
    return f"{PREFIX}{number}"


def block_of(node: Any, path: tuple[points.Step, ...]) -> list[Any]:
    """The list of statements that a path ends in."""
    for field, index in path[:-1]:
        node = getattr(node, field)[index]
    block: list[Any] = getattr(node, path[-1][0])
    return block


def _hook(point: points.Point, number: int, cells: list[str], local: bool) -> ast.If:
    spot = _first_to_run(point.statement)

    def place(node: Any) -> Any:
        return nodes.in_place_of(node, spot)

    def name(text: str) -> Any:
        return place(ast.Name(text, ast.Load()))

    def call(function: Any, *args: Any) -> Any:
        return place(ast.Call(function, list(args), []))

    stepped = call(name(STEP), place(ast.Constant(number)))
    if point.unit.is_module or not point.resumable:
        inner = place(ast.Expr(stepped))
    else:
        tail = call(name(TAIL), *([_cells(cells, name, place)] if cells else []))
        inner = place(ast.If(stepped, [place(ast.Return(call(tail)))], []))
    test = name(LOCAL if local else flag(number))
    if DOWN is None:
        test = place(ast.Compare(test, [ast.IsNot()], [place(ast.Constant(None))]))
    hook: ast.If = place(ast.If(test, [inner], []))
    return hook


def _first_to_run(statement: Any) -> Any:
    """The part of a statement that is run first: where an interrupt would strike."""
    decorators = getattr(statement, "decorator_list", None)
    if decorators:
        return decorators[0]
    for field in ("value", "test", "iter", "subject", "exc"):
        part = getattr(statement, field, None)
        if part is not None:
            return part
    items = getattr(statement, "items", None)
    return items[0].context_expr if items else statement


def _cells(names: list[str], name: Any, place: Any) -> Any:
    args = ast.arguments(
        posonlyargs=[],
        args=[place(ast.arg(LAMBDA))],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    return place(ast.Lambda(args, place(ast.Tuple([name(one) for one in names], ast.Load()))))

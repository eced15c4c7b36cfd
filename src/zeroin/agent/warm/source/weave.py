"""Put a hook at each point of a module, so that nothing else about it changes.

A hook stands at the position of the statement that follows:

    while @z17:
        try: @zi @ 17
        except @ze: pass
        else: break
        if 17 in @zl: return (@zt @ None)()
        @zm[17] = None
        break

`@z17` is falsy almost always; then `jumps` passes over all of it. `@zi` notes that the point
was reached, and may take a snapshot. If a new version of the rest takes over, it raises; `@zt`
then gives it. A lambda that is never called hands over the cells of closures. Close to the
recursion limit nothing can be called: the point is noted in `@zm`. What follows `else` can only
be reached by an exception, and newer compilers put such code out of the way, at the end.
`plant` puts constants in the place of these names. They are asked by an operator since that takes
fewer instructions than a call: short jumps are quicker.
"""

from __future__ import annotations

import _ast as ast

from . import nodes, plant, points
from .plant import DOWN, LOCAL, PREFIX, ROOM, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Callable

    from . import texts

TAIL = "@zt"
LEFT = "@ze"  # what STEP raises: to leave, and where there is no room for it
MISSED = "@zm"
LEAVES = "@zl"
# What else is to be put in, and by what names; see `profile`.
also: list[Callable[[list[points.Unit], Callable[[points.Point], int]], None]] = []
names: list[str] = []
LAMBDA = ".z"  # the argument that tells our lambdas from the user's
_LONG = {name: name for name in (STEP, TAIL, LEFT, MISSED, LEAVES)}
_SHORT = {name: plant.local(name) for name in _LONG}
_LOAD, _STORE, _ASK, _IN, _IS_NOT = ast.Load(), ast.Store(), ast.MatMult(), ast.In(), ast.IsNot()


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
    """What makes our names local ones: an assignment that is never run."""
    targets = [nodes.at(ast.Name(name, _STORE), at) for name in (LOCAL, *_SHORT.values())]
    never = nodes.at(ast.Assign(targets, nodes.at(ast.Constant(None), at)), at)
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


def _hook(point: points.Point, number: int, cells: list[str], local: bool) -> Any:
    # There are thousands of these: one node may stand in several places, which saves time.
    at: Any = nodes.place_of(_first_to_run(point.statement))
    names = _SHORT if local else _LONG
    which = ast.Constant(number, **at)
    nothing = ast.Constant(None, **at)

    def ask(ours: str, about: Any) -> Any:
        return ast.BinOp(ast.Name(names[ours], _LOAD, **at), _ASK, about, **at)

    stepped = ast.Expr(ask(STEP, which), **at)
    test: Any = ast.Name(LOCAL if local else flag(number), _LOAD, **at)
    if DOWN is None:
        test = ast.Compare(test, [_IS_NOT], [nothing], **at)
    if point.unit.is_module:  # where a module is left, the rest of it runs inside of STEP
        return ast.If(test, [stepped], [], **at)
    left = ast.Name(names[LEFT], _LOAD, **at)
    handler = ast.ExceptHandler(left, None, [ast.Pass(**at)], **at)
    away = ast.Break(**at)
    body: list[Any] = [ast.Try([stepped], [handler], [away], [], **at)]
    if point.resumable:
        tail = ask(TAIL, _cells(cells, at) if cells else nothing)
        leaves = ast.Compare(which, [_IN], [ast.Name(names[LEAVES], _LOAD, **at)], **at)
        back = ast.Return(ast.Call(tail, [], [], **at), **at)
        body.append(ast.If(leaves, [back], [], **at))
    missed = ast.Subscript(ast.Name(names[MISSED], _LOAD, **at), which, _STORE, **at)
    body += [ast.Assign([missed], nothing, **at), away]
    return ast.While(test, body, [], **at)


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


def is_ours(code: CodeType) -> bool:
    """Whether it is the code of such a lambda."""
    return code.co_varnames[:1] == (LAMBDA,)


def _cells(names: list[str], at: Any) -> Any:
    args = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(LAMBDA, **at)],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    loads: list[Any] = [ast.Name(one, _LOAD, **at) for one in names]
    return ast.Lambda(args, ast.Tuple(loads, _LOAD, **at), **at)

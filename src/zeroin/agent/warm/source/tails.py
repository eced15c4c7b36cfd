"""The rest of a function or module, from a point on, under a new text.

The frame of the old code calls it and returns what it returns. Its variables are handed over,
cells as the same cells; loops that are under way go on with the live iterator:

    for _ in <one pass>:        # the rest of the pass under way; `break` leaves it all
        ...rest of the body...
    else:                       # the passes to come
        for x in <live iterator>:
            ...the whole body...
        else:
            ...
"""

from __future__ import annotations

import _ast as ast

from . import nodes, plant, points, weave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from .texts import Text

HAND = "@zh"  # hands over a variable or an iterator
ONCE = "@zo"  # holds an iterator during the one pass that comes before it
SINK = "@zs"  # takes what a one-pass loop assigns
OUTER = "@outer"
MARK = "@once"  # what the one-pass loop of a `while` iterates over
_OVER_A_TUPLE = type(iter(()))


class Place:
    """Where a tail begins, and what it is given."""

    def __init__(self, key: tuple[Any, ...], path: tuple[points.Step, ...], number: int) -> None:
        self.key = key
        self.path = path
        self.number = number  # under which what it is given waits
        self.bound: list[str] = []  # plain variables that have a value
        self.cells: list[str] = []  # variables that come as cells
        self.first = ""  # the argument it takes: `super()` looks at a function's first


def make(text: Text, numbers: list[int], place: Place, live: bool) -> CodeType:
    """Compile the tail; the text can't be used for anything else after."""
    unit = text.by_key[place.key]
    kinds = {} if unit.is_module else text.scopes.names(unit.node)
    chain = _chain(unit.node, place.path)
    inside = [one for one in text.units if one.key[: len(place.key)] == place.key]
    weave.put_hooks(text, lambda point: numbers[point.number], inside)
    body = _rest(chain, place.number)
    flags = _future(text.tree)
    if unit.is_module:
        # Not to be taken for a docstring.
        tree = ast.Module([nodes.at(ast.Pass(), chain[-1][2]), *body], [])
        code: CodeType = compile(tree, text.filename, "exec", flags, dont_inherit=True)
        return plant.plant(code, live=live)
    node = unit.node
    start = _opening(place, kinds, node)
    function = type(node)(**{f: getattr(node, f, None) for f in node._fields})
    nodes.in_place_of(function, node)
    function.args = _no_arguments()
    if place.first:
        function.args.args.append(nodes.at(ast.arg(place.first), node))
    function.body = [*start, weave.declaration(node), nodes.at(ast.Pass(), node), *body]
    tree = ast.Module([_scaffold(function, place, unit.key)], [])
    compiled = compile(tree, text.filename, "exec", flags, dont_inherit=True)
    return plant.plant(_find(compiled, node.name, points.first_line(node)), live=live)


# --- what is left to do -------------------------------------------------------------------------


def _chain(node: Any, path: tuple[points.Step, ...]) -> list[tuple[Any, str, Any]]:
    """From the unit inwards: who holds the block, which block, which statement in it."""
    chain = []
    for field, index in path:
        block = getattr(node, field)
        # At the end of a block that has become shorter, there is nothing left in it.
        statement = block[index] if index < len(block) else None
        chain.append((node, field, statement))
        node = statement
    return chain


def _rest(chain: list[tuple[Any, str, Any]], number: int) -> list[Any]:
    holder, field, statement = chain[-1]
    block = getattr(holder, field)
    body = block[block.index(statement) :] if statement is not None else []
    loops = sum(isinstance(node, ast.For) and f == "body" for node, f, _ in chain)
    for holder, field, _ in reversed(chain[1:]):
        if isinstance(holder, (ast.For, ast.While)) and field == "body":
            loops -= isinstance(holder, ast.For)
            body = [_one_pass(holder, body, number, loops)]
        if isinstance(holder, ast.stmt):  # not a `case`, which its `match` follows
            above, outer = next((n, f) for n, f, s in chain if s is holder)
            block = getattr(above, outer)
            body = [*body, *block[_index(block, holder) + 1 :]]
    return body


def _index(block: list[Any], holder: Any) -> int:
    return next(i for i, s in enumerate(block) if s is holder)


def _one_pass(loop: Any, body: list[Any], number: int, depth: int) -> Any:
    if isinstance(loop, ast.For):
        again: Any = ast.For(
            loop.target, _hand(number, depth, loop.iter), loop.body, loop.orelse, None
        )
        nodes.in_place_of(again, loop)
        over = _hand(number, depth, loop, ONCE)
    else:
        again = loop
        over = nodes.at(ast.Tuple([_constant(MARK, loop)], ast.Load()), loop)
    sink = ast.Subscript(_name(SINK, loop), _constant(0, loop), ast.Store())
    once = ast.For(
        nodes.at(sink, loop),
        over,
        body or [nodes.at(ast.Pass(), loop)],
        [again],
        None,
    )
    return nodes.in_place_of(once, loop)


def is_one_pass_of_while(iterator: Any) -> bool:
    """Whether a loop that iterates over this is ours, and does the rest of a `while`'s pass."""
    return type(iterator) is _OVER_A_TUPLE and iterator.__reduce__()[1] == ((MARK,),)


# --- what it is given ---------------------------------------------------------------------------


def _opening(place: Place, kinds: dict[str, str], node: Any) -> list[Any]:
    """Put the variables in place: declared, bound, or known to be local and without a value."""
    opening: list[Any] = []
    shared = [name for name in place.cells if name in kinds and name != "__class__"]
    declared = [name for name, kind in kinds.items() if kind == "declared global"]
    if declared:
        opening.append(nodes.at(ast.Global(declared), node))
    if shared:
        opening.append(nodes.at(ast.Nonlocal(shared), node))
    for name, kind in kinds.items():
        if kind not in ("local", "cell") or name in shared or name == place.first:
            continue
        target = [nodes.at(ast.Name(name, ast.Store()), node)]
        if name in place.bound:
            opening.append(nodes.at(ast.Assign(target, _hand(place.number, name, node)), node))
        else:
            never = nodes.at(ast.Assign(target, _constant(None, node)), node)
            opening.append(nodes.at(ast.If(_constant(0, node), [never], []), node))
    return opening


def _scaffold(function: Any, place: Place, key: tuple[Any, ...]) -> Any:
    """What must stand around it so that names mean what they did: never run."""
    inner: Any = function
    class_name = _class_around(key)
    if class_name is not None:
        inner = ast.ClassDef(class_name, [], [], [function], [])
        if hasattr(function, "type_params"):
            inner.type_params = []
        nodes.at(inner, function)
    names = [name for name in place.cells if name != "__class__"] + (
        ["__class__"] if "__class__" in place.cells and class_name is None else []
    )
    assign = [
        nodes.at(
            ast.Assign([nodes.at(ast.Name(n, ast.Store()), function)], _constant(None, function)),
            function,
        )
        for n in names
    ]
    if class_name is None and function.name not in names:
        # Inside, its own name means the module's function, not the one made here.
        assign.append(nodes.at(ast.Global([function.name]), function))
    outer: Any = ast.FunctionDef(OUTER, _no_arguments(), [*assign, inner], [], None, None)
    if hasattr(function, "type_params"):
        outer.type_params = []
    return nodes.at(outer, function)


def _class_around(key: tuple[Any, ...]) -> str | None:
    """The innermost class whose private names are mangled here."""
    classes = [part[len(points.CLASS) :] for part, _ in key if part.startswith(points.CLASS)]
    return classes[-1] if classes else None


# --- small nodes --------------------------------------------------------------------------------


def _hand(number: int, what: Any, at: Any, by: str = HAND) -> Any:
    call = ast.Call(_name(by, at), [_constant(number, at), _constant(what, at)], [])
    return nodes.at(call, at)


def _name(text: str, at: Any) -> Any:
    return nodes.at(ast.Name(text, ast.Load()), at)


def _constant(value: Any, at: Any) -> Any:
    return nodes.at(ast.Constant(value), at)


def _no_arguments() -> Any:
    return ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def _future(tree: Any) -> int:
    import __future__

    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def _find(code: Any, name: str, line: int) -> Any:
    from .texts import all_within

    return next(
        one for one in all_within(code) if one.co_name == name and one.co_firstlineno == line
    )

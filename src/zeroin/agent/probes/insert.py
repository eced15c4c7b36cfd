"""Put the call of a probe into a tree.

A condition is written into the code as it stands, so that a hot loop is held up by no more than
the condition itself:

    count()
    try:
        if CONDITION: hit()
    except BaseException:
        if raised(): raise

`raised` says whether the exception is the program's to see, as Ctrl-C is.
"""

from __future__ import annotations

import _ast as ast

from ..rewrite import constant, place
from . import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    Hit = Callable[..., Any]


class When:
    """A condition, and what is called to count, and with what it raises."""

    def __init__(self, text: str, count: Hit, raised: Hit) -> None:
        self.text = text
        self.count = count
        self.raised = raised


LOAD = ast.Load()


def is_part(spot: places.Spot) -> bool:
    """Whether the call becomes part of an expression, rather than a statement."""
    return spot.scope is not None or isinstance(spot.statement, ast.While)


def can_hold_condition(function: Any, names: set[str]) -> bool:
    """Whether a condition may be written there: not before its names are declared."""
    return not names & _declared(function)


def before(spot: places.Spot, hit: Hit, names: set[str], when: When | None = None) -> None:
    """Call before the statement, or before the expression, that the spot is."""
    statement = spot.statement
    if spot.scope is not None:
        _in_scope(spot.scope, hit, spot.given, names)
    elif isinstance(statement, ast.While):  # each time round, as its line is executed
        statement.test = _and_then(_call(hit, *_around(names)), statement.test)
    else:
        index = _after_future(spot)
        reach = _capture(spot.function, names, statement) if spot.function is not None else []
        spot.block[index:index] = [*reach, *_statements(hit, statement, when)]


def entry(function: Any, hit: Hit, names: set[str], when: When | None = None) -> None:
    """Call when a function is entered."""
    if isinstance(function, ast.Lambda):
        own = [one.arg for one in places.walk(function.args) if isinstance(one, ast.arg)]
        _in_scope(function, hit, own, names)
        return
    index = 1 if places.is_text(function.body[0]) else 0
    like = function.body[min(index, len(function.body) - 1)]
    made = [*_capture(function, names, like), *_statements(hit, function, when)]
    function.body[index:index] = made


def returning(function: Any, hit: Hit) -> None:
    """Call with what a function returns, and return that."""
    if isinstance(function, ast.Lambda):
        function.body = place(_call(hit, function.body), function.body)
        return
    _returns(function.body, hit)
    last = function.body[-1]
    function.body.append(_statement(hit, last, ast.Constant(None, None)))


def _returns(block: list[Any], hit: Hit) -> None:
    for statement in list(block):
        if isinstance(statement, ast.Return):
            if statement.value is None:
                at = block.index(statement)
                block.insert(at, _statement(hit, statement, ast.Constant(None, None)))
            else:
                statement.value = place(_call(hit, statement.value), statement.value)
        elif not isinstance(statement, places.DEFINITIONS):
            for inner in places.blocks(statement):
                _returns(inner, hit)


def count_calls(function: Any, step: Hit) -> None:
    """Count how often a function is entered."""
    index = 1 if places.is_text(function.body[0]) else 0
    function.body.insert(index, _statement(step, function))


def _in_scope(scope: Any, hit: Hit, given: list[str], names: set[str]) -> None:
    """Hand over the variables: they may be in no frame that can be looked at."""
    keys: list[Any] = [ast.Constant(name, None) for name in given]
    own = ast.Dict(keys, [ast.Name(name, LOAD) for name in given])
    call = _call(hit, own, *_around(names.difference(given))[1:])
    field = "body" if isinstance(scope, ast.Lambda) else "elt"
    field = "key" if isinstance(scope, ast.DictComp) else field
    setattr(scope, field, _and_then(call, getattr(scope, field)))


def _and_then(call: Any, value: Any) -> Any:
    """`call() or value`: the call returns None."""
    return place(ast.BoolOp(ast.Or(), [call, value]), value)


def _around(names: set[str]) -> list[Any]:
    """Hand over what the functions around have of these names: in a lambda that nobody calls."""
    from ..rewrite import making

    if making.is_present or not names:
        return []
    body = ast.Tuple([ast.Name(name, LOAD) for name in sorted(names)], LOAD)
    nothing = ast.arguments([], [], None, [], [], None, [])
    return [ast.Constant(None, None), ast.Lambda(nothing, body)]


def _call(hit: Hit, *args: Any) -> Any:
    return ast.Call(constant(hit), list(args), [])


def _statement(hit: Hit, like: Any, *args: Any) -> Any:
    return place(ast.Expr(_call(hit, *args)), like)


def _statements(hit: Hit, like: Any, when: When | None) -> list[Any]:
    if when is None:
        return [_statement(hit, like)]
    test = compile(when.text, "<at>", "eval", ast.PyCF_ONLY_AST, dont_inherit=True).body  # type: ignore[attr-defined]
    for node in places.walk(test):  # its places are those of a text of its own
        for attribute in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(node, attribute):
                delattr(node, attribute)
    again: list[Any] = [ast.If(_call(when.raised), [ast.Raise(None, None)], [])]
    handler = ast.ExceptHandler(constant(BaseException), None, again)
    met = ast.If(test, [ast.Expr(_call(hit))], [])
    return [_statement(when.count, like), place(ast.Try([met], [handler], [], []), like)]


def _declared(function: Any) -> set[str]:
    """The names that a function says are not its own."""
    if function is None:
        return set()
    found = (one for one in places.walk(function) if isinstance(one, (ast.Global, ast.Nonlocal)))
    return {name for one in found for name in one.names}


def _capture(function: Any, names: set[str], like: Any) -> list[Any]:
    """Name variables of the functions around, so that they can be seen from here.

    A function has only those variables from outside that it names itself. This names them, and is
    never executed: the compiler leaves it out once it has seen the names.
    """
    from ..rewrite import making

    if making.is_present:  # functions exist already, with the variables that they have
        return []
    names = names - _declared(function)
    loads: list[Any] = [ast.Expr(ast.Name(name, LOAD)) for name in sorted(names)]
    return [place(ast.If(ast.Constant(False, None), loads, []), like)] if loads else []


def _after_future(spot: places.Spot) -> int:
    """Nothing may stand before `from __future__ import ...`."""
    index = spot.index
    for at, one in enumerate(spot.block):
        if at >= index and isinstance(one, ast.ImportFrom) and one.module == "__future__":
            index = at + 1
    return index

"""What a source says about sizes: names that are taken from a shape, or given to one.

`B, T, C = x.shape` binds the axes of `x` to names; so do `B = x.size(0)` and `n = len(x)`. In
`x.view(B, T, -1)` and `torch.zeros(batch, seq)` the names stand where the axes of the result are.
A product or quotient of sizes is a size as well, one without a name.
"""

from __future__ import annotations

import ast

from zeroin.named import NamedTuple

# Whose arguments are the sizes of what they give.
MAKERS = frozenset(
    {"view", "reshape", "expand", "zeros", "ones", "empty", "randn", "rand", "full", "broadcast_to"}
    | {"randint", "normal", "uniform", "standard_normal", "repeat", "unflatten", "tile", "random"}
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Axis(NamedTuple):
    """A name for one axis of a variable."""

    line: int
    variable: str
    axis: int  # negative ones count from the end
    name: str


class Rest(NamedTuple):
    """`x.view(B, T, -1)` somewhere in what is assigned: names of the sizes but one."""

    line: int
    variable: str
    names: tuple[str, ...]


class Scope:
    """What one function says."""

    def __init__(self) -> None:
        self.taken: set[str] = set()  # names whose value is a size
        self.axes: list[Axis] = []  # from `B, T = x.shape`: holds for all of the function
        self.made: list[Axis] = []  # of the target of this very line
        self.computed: list[ast.expr] = []  # sizes without a name
        self.rests: list[Rest] = []  # likewise
        self.constants: dict[str, int] = {}
        self.used: set[str] = set()


def scopes(tree: ast.Module) -> dict[str, Scope]:
    """Each function by its qualified name, and `<module>`."""
    found: dict[str, Scope] = {}
    _read(tree.body, "<module>", "", found)
    return found


def _read(body: list[ast.stmt], name: str, prefix: str, found: dict[str, Scope]) -> None:
    scope = found.setdefault(name, Scope())
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop(0)
        if isinstance(node, FUNCTIONS):
            _function(node, prefix + node.name, found)
        elif isinstance(node, ast.ClassDef):
            _in_class(node, prefix + node.name + ".", found)
        elif not isinstance(node, ast.Lambda):
            _note(node, scope)
            left += ast.iter_child_nodes(node)


def _function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, found: dict[str, Scope]
) -> None:
    _read(node.body, name, name + ".<locals>.", found)
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults = [*zip(reversed(plain), reversed(node.args.defaults), strict=False)]
    for one, value in [*defaults, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]:
        if isinstance(value, ast.Constant) and type(value.value) is int:
            found[name].constants.setdefault(one.arg, value.value)


def _in_class(node: ast.ClassDef, prefix: str, found: dict[str, Scope]) -> None:
    for one in node.body:
        if isinstance(one, FUNCTIONS):
            _function(one, prefix + one.name, found)
        elif isinstance(one, ast.ClassDef):
            _in_class(one, prefix + one.name + ".", found)
        else:
            scope = found.setdefault(prefix.rstrip("."), Scope())
            _note(one, scope)


def _note(node: ast.AST, scope: Scope) -> None:
    if isinstance(node, ast.Name):
        scope.used.add(node.id)
    if isinstance(node, ast.BinOp):
        scope.computed.append(node)
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        _constant(node.target, node.value, scope)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    _constant(target, value, scope)
    _taken(target, value, scope, node.lineno)
    variable = spelled(target)
    if variable:
        for at, name in enumerate(_sizes_given(value)):
            if name:
                scope.made.append(Axis(node.lineno, variable, at, name))
        for call in _chain(value):
            names = _sizes_given(call)
            if names.count("") == 1:
                scope.rests.append(Rest(node.lineno, variable, tuple(filter(None, names))))


def _chain(value: ast.expr) -> list[ast.expr]:
    """`x.view(...).transpose(...)`: each call of it."""
    found: list[ast.expr] = []
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        found.append(value)
        value = value.func.value
    return found


def _constant(target: ast.expr, value: ast.expr, scope: Scope) -> None:
    name = spelled(target)
    is_int = isinstance(value, ast.Constant) and type(value.value) is int
    if name and is_int and isinstance(value, ast.Constant) and isinstance(value.value, int):
        scope.constants[name] = value.value


def _taken(target: ast.expr, value: ast.expr, scope: Scope, line: int) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        variable = _shape_of(value)
        if variable is None:
            return
        count = len(target.elts)
        star = next((i for i, one in enumerate(target.elts) if isinstance(one, ast.Starred)), None)
        for at, one in enumerate(target.elts):
            if isinstance(one, ast.Name) and one.id.strip("_"):
                axis = at - count if star is not None and at > star else at
                scope.taken.add(one.id)
                scope.axes.append(Axis(line, variable, axis, one.id))
    elif isinstance(target, ast.Name):
        found = _one_size(value)
        if found is not None:
            scope.taken.add(target.id)
            scope.axes.append(Axis(line, *found, target.id))


def _shape_of(value: ast.expr) -> str | None:
    """The variable whose shape it is, "" if that has no name; None if it is no shape."""
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        return spelled(value.value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        return spelled(value.func.value) if value.func.attr == "size" else None
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        begins = value.slice.lower is None and value.slice.step is None
        return _shape_of(value.value) if begins else None
    return None


def _one_size(value: ast.expr) -> tuple[str, int] | None:
    """`x.shape[0]`, `x.size(0)`, `len(x)`: the variable and the axis."""
    if isinstance(value, ast.Subscript):
        variable, index = _shape_of(value.value), _number(value.slice)
        return (variable, index) if variable is not None and index is not None else None
    if not isinstance(value, ast.Call) or len(value.args) != 1:
        return None
    if isinstance(value.func, ast.Name) and value.func.id == "len":
        return spelled(value.args[0]), 0
    if isinstance(value.func, ast.Attribute) and value.func.attr == "size":
        index = _number(value.args[0])
        return (spelled(value.func.value), index) if index is not None else None
    return None


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return -inner if inner is not None else None
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _sizes_given(value: ast.expr) -> list[str]:
    """Names of the axes of what a call gives; "" for those without."""
    if not isinstance(value, ast.Call):
        return []
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else spelled(function)
    if name not in MAKERS:
        return []
    given: list[ast.expr] = list(value.args)
    for keyword in value.keywords:
        if keyword.arg in ("size", "shape"):
            given = [keyword.value]
    wholes = [one for one in given if isinstance(one, ast.Tuple | ast.List)]
    if len(wholes) == 1:
        given = list(wholes[0].elts)
    if any(isinstance(one, ast.Starred) for one in given):
        return []
    return [spelled(one).rpartition(".")[2] for one in given]


def spelled(node: ast.AST) -> str:
    """Names and attributes as they are written; "" for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = spelled(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def value_of(node: ast.expr, known: dict[str, set[int]]) -> int | None:
    """What a product, quotient, sum or difference of sizes is, where all of them are known."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = value_of(node.left, known), value_of(node.right, known)
        if left is None or right is None:
            return None
        match node.op:
            case ast.Mult():
                return left * right
            case ast.FloorDiv() if right:
                return left // right
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
        return None
    values = known.get(spelled(node).rpartition(".")[2], set())
    return next(iter(values)) if len(values) == 1 else None

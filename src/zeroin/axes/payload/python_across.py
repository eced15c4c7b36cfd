"""Python source: what stands in several places at once, and can be changed only in all of them.

Parameters with the arguments for them, names that could be shorter, values that are bound once and
used once.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import string
import tokenize
import warnings

from zeroin.axes.payload.kinds import flags
from zeroin.axes.payload.source import Source, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.axes.payload.kinds import Ranges, Round
    from zeroin.axes.payload.source import Brackets
    from zeroin.axes.payload.tree import Tree

_ATOMS = (ast.Constant, ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict)


def rounds(tree: Tree) -> Iterator[Round[Tree]]:
    """The coarse before the fine."""
    yield Parameters(tree)
    yield Values(tree)
    yield Names(tree)


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


# --- parameters -----------------------------------------------------------------------------------


class Parameters:
    """Parameters that nobody uses: they go with all arguments for them."""

    def __init__(self, tree: Tree) -> None:
        self._unused = list(_unused(_parsed(tree.root.text)))
        self._tree = tree
        self.count = len(self._unused)

    def keep(self, parts: Ranges) -> Tree:
        """Without the others."""
        text = self._tree.root.text
        for wanted, stays in zip(self._unused, flags(parts, self.count), strict=True):
            if not stays:
                text = _without_parameter(text, *wanted)
        return self._tree.of(self._tree.reread(text))


class _Function:
    """One, and how it is called."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.AST) -> None:
        self.node = node
        self.called = {node.name}
        decorators = {getattr(one, "id", "") for one in node.decorator_list}
        self.is_bound = isinstance(owner, ast.ClassDef) and "staticmethod" not in decorators
        if isinstance(owner, ast.ClassDef) and node.name in ("__init__", "__new__"):
            self.called.add(owner.name)

    @property
    def parameters(self) -> list[ast.arg]:
        """Those that can be given by position, then the others."""
        own = self.node.args
        return [*own.posonlyargs, *own.args, *own.kwonlyargs]

    def unused(self) -> Iterator[str]:
        """But not what a method is bound to."""
        inside = itertools.chain.from_iterable(map(ast.walk, self.node.body))
        names = {one.id for one in inside if isinstance(one, ast.Name)}
        for one in self.parameters[1:] if self.is_bound else self.parameters:
            if one.arg not in names:
                yield one.arg

    def given(self, call: ast.Call, name: str) -> ast.expr | ast.keyword | None:
        """What a call gives for a parameter, where that can be seen."""
        for one in call.keywords:
            if one.arg == name:
                return one
        at = [one.arg for one in self.parameters].index(name) - self.is_bound
        if at >= len(call.args) or any(isinstance(one, ast.Starred) for one in call.args[: at + 1]):
            return None
        return call.args[at]


def _functions(module: ast.Module) -> Iterator[_Function]:
    for owner in ast.walk(module):
        for one in ast.iter_child_nodes(owner):
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield _Function(one, owner)


def _unused(module: ast.Module) -> dict[tuple[str, str], None]:
    return {(one.node.name, name): None for one in _functions(module) for name in one.unused()}


def _without_parameter(text: str, function: str, name: str) -> str:
    """In all functions that are called so, and all calls of such a name."""
    module, source = _parsed(text), Source(text)
    lists = sorted(source.brackets())  # the outer before the inner
    cuts = []
    for one in _functions(module):
        if one.node.name != function or name not in one.unused():
            continue
        own = next(parameter for parameter in one.parameters if parameter.arg == name)
        cuts.append(_cut(lists, source.place(one.node)[0], source.place(own)[0]))
        for call in ast.walk(module):
            if isinstance(call, ast.Call) and _last_name(call.func) in one.called:
                given = one.given(call, name)
                if given is not None:
                    after = source.place(call.func)[1]
                    cuts.append(_cut(lists, after, source.place(given)[0]))
    done = len(text) + 1
    for start, end in sorted(set(cuts), key=lambda cut: (-cut[0], -cut[1])):
        if end <= done:  # not within one that is to go as well
            text, done = text[:start] + text[end:], start
    return text


def _last_name(function: ast.expr) -> str:
    return str(getattr(function, "id", getattr(function, "attr", "")))


def _cut(lists: Sequence[Brackets], after: int, at: int) -> tuple[int, int]:
    """From where to where a piece goes, with a comma: of the widest brackets behind a place."""
    for _, close, pieces in lists:
        for number, (start, end) in enumerate(pieces):
            if after <= start <= at < end:
                if number + 1 < len(pieces):
                    return start, pieces[number + 1][0]
                return pieces[number - 1][1] if number else start, close
    return at, at


# --- names ----------------------------------------------------------------------------------------


class Names:
    """Names of one's own that could be shorter, wherever they stand."""

    def __init__(self, tree: Tree) -> None:
        self._text = tree.root.text
        self._names = _long_names(self._text)
        self._tree = tree
        self.count = len(self._names)

    def keep(self, parts: Ranges) -> Tree:
        """With shorter ones in the place of the others."""
        used = {token.string for token in tokens_of(self._text) if token.type == tokenize.NAME}
        free = (name for name in _short_names() if name not in used)
        kept = flags(parts, self.count)
        new = {name: next(free) for name, stays in zip(self._names, kept, strict=True) if not stays}
        return self._tree.of(self._tree.reread(_renamed(self._text, new)))


def _long_names(text: str) -> list[str]:
    """Those that are bound here, so that nobody else would look for them by name."""
    module = _parsed(text)
    found: dict[str, None] = {}
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        elif isinstance(node, ast.arg):
            found[node.arg] = None
    return [
        name
        for name in found
        if len(name) > 1 and not name.startswith("__") and not hasattr(builtins, name)
    ]


def _short_names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            if not keyword.iskeyword(name := "".join(letters)):
                yield name


def _renamed(text: str, names: dict[str, str]) -> str:
    source, out, at = Source(text), [], 0
    for token in tokens_of(text):
        if token.type == tokenize.NAME and token.string in names:
            start = source.offset(*token.start, is_bytes=False)
            out += [text[at:start], names[token.string]]
            at = start + len(token.string)
    return "".join(out) + text[at:]


# --- values ---------------------------------------------------------------------------------------


class Values:
    """Names that are bound once and used once: what they are bound to could stand there."""

    def __init__(self, tree: Tree) -> None:
        self._names = list(_used_once(tree.root.text))
        self._tree = tree
        self.count = len(self._names)

    def keep(self, parts: Ranges) -> Tree:
        """With the values in the place of the other names."""
        text = self._tree.root.text
        for name, stays in zip(self._names, flags(parts, self.count), strict=True):
            found = _used_once(text).get(name)
            if not stays and found is not None:
                text = _with_value(text, *found)
        return self._tree.of(self._tree.reread(text))


def _used_once(text: str) -> dict[str, tuple[ast.Assign, ast.Name]]:
    """Each with what binds it, and where it is used."""
    module = _parsed(text)
    names: dict[str, list[ast.Name]] = {}
    bound: dict[str, ast.Assign] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                bound[target.id] = node
    found = {}
    for name, one in bound.items():
        used = [node for node in names[name] if isinstance(node.ctx, ast.Load)]
        if len(used) == 1 and len(names[name]) == 2:
            found[name] = one, used[0]
    return found


def _with_value(text: str, bound: ast.Assign, used: ast.Name) -> str:
    """Without the one, and with its value in the place of the other."""
    source = Source(text)
    value = text[slice(*source.place(bound.value))]
    place = source.place(used)
    is_apart = text[: place[0]].rstrip()[-1:] in "(," and text[place[1] :].lstrip()[:1] in "),"
    if isinstance(bound.value, ast.Tuple) or not (is_apart or isinstance(bound.value, _ATOMS)):
        value = f"({value})"
    changes = [(*source.place(bound), "pass"), (*place, value)]
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text

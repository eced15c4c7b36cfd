"""Compare two texts of a file: what has changed, and had any of it run?

The rule: nothing that has changed may have run, and no place where something was put in may have
been passed. Texts are compared as trees, so comments, blank lines and layout are no change.
Where it can't be told, it counts as having run.
"""

from __future__ import annotations

import _ast as ast
import sys

from . import nodes, points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .texts import Text

MOST = 400  # statements of one block that are aligned; more have all changed


class HadRun(str):  # noqa: SLOT000 - it carries what it is about
    """A reason against going on that is only about what has run; see `lenient`."""

    unit: points.Unit
    node: Any  # the statement, or one beside it

    @classmethod
    def of(cls, unit: points.Unit, node: Any, why: str) -> HadRun:
        """Say what it is about."""
        reason = cls(why)
        reason.unit, reason.node = unit, node
        return reason


class UnderWay(str):  # noqa: SLOT000 - a plain label
    """A reason that is about where a function stands: at another snapshot it may be none."""


class Comparison:
    """What an edit of one file did."""

    def __init__(
        self, old: Text, new: Text, reached: Callable[[int | None], int | None], name: str
    ) -> None:
        self.old = old
        self.new = new
        self.name = name  # of the file, for the user
        self._reached = reached  # number of a point in the old text → when it was first reached
        self.broken: list[tuple[int, str]] = []  # when something that has changed was reached
        self.changed: set[tuple[Any, ...]] = set()  # keys of old units that are not the same
        self.pairs: list[tuple[Any, Any]] = []  # statements that are the same, without their blocks
        self.units: dict[tuple[Any, ...], points.Unit] = {}  # key of an old unit → the new one
        self.additions: list[tuple[int, Any]] = []  # new statements that may as well run late
        self._made: dict[tuple[Any, ...], int | None] = {}  # key of an old unit → when it was made
        if _future(old) != _future(new):  # it changes what all the rest means
            self.broken.append((-1, f"{name}: `from __future__` was changed"))
        self._unit(old.units[0], new.units[0], -1)
        began = self._begun(old.units[0])
        if _documentation(old) != _documentation(new) and began is not None:
            self.broken.append((began, f"{name}: its docstring was changed"))

    # --- units ------------------------------------------------------------------------------

    def _unit(self, old: points.Unit, new: points.Unit, defined: int | None) -> None:
        self.units[old.key] = new
        self._made[old.key] = defined
        before = len(self.broken)
        if old.key != new.key and defined is not None:  # it would be taken for a namesake
            self._break(defined, new.node, "is another one of its name now, and was made")
        self._block(old, old.node.body, new.node.body, None)
        if not old.is_module:
            self._names(old, new, defined)
        entered = self._begun(old)
        if old.key in self.changed and old.whole and entered is not None:
            what = f"{self.name}: {old.name}() is a generator or coroutine that was changed"
            self.broken.append((entered, what + " and had begun"))
        if len(self.broken) > before:
            self.changed.add(old.key)
        if old.key in self.changed and not old.points:
            self.changed.add(_holder(old.key))  # it has no hook that could lead to the new code

    def _names(self, old: points.Unit, new: points.Unit, defined: int | None) -> None:
        """The same name must mean the same, in what has run and in closures that exist."""
        was, now = self.old.scopes.names(old.node), self.new.scopes.names(new.node)
        own = {"local": "own", "cell": "own", "declared global": "global"}
        differ = [n for n in was if n in now and own.get(was[n], was[n]) != own.get(now[n], now[n])]
        if was != now:
            self.changed.add(old.key)
        entered = self._begun(old)
        if differ and entered is not None:
            self._break(
                entered, new.node, f"{differ[0]!r} has another scope now, in code that had run"
            )
        free = [n for n, k in now.items() if k == "free" and was.get(n) not in ("free", "cell")]
        if free and defined is not None:
            self._break(
                defined, new.node, f"{free[0]!r} is from outside now, in a function that was made"
            )

    def _begun(self, unit: points.Unit) -> int | None:
        """When a unit was first entered; one without any statement may have been at once."""
        return self._reached(unit.points[0].number) if unit.points else self._made.get(unit.key)

    def _begun_at(self, unit: points.Unit, statement: Any) -> int | None:
        """When a statement was first reached; documentation is there from the start."""
        segment = unit.segment.get(id(statement))
        return self._begun(unit) if segment is None else self._reached(segment)

    def _break(self, position: int, node: Any, why: str) -> None:
        self.broken.append((position, f"{self.name}:{node.lineno} {why}"))

    # --- blocks -----------------------------------------------------------------------------

    def _block(self, unit: points.Unit, old: list[Any], new: list[Any], holder: Any) -> None:
        start, end = self._same_ends() if unit.is_module and holder is None else (0, 0)
        self._same(old[:start], new[:start])
        last: Any = old[start - 1] if start else None
        for one, other in _align(old[start : len(old) - end], new[start : len(new) - end]):
            if one is None:
                self._put_in(unit, other, self._next(old, last), last, holder)
            elif other is None:
                self.changed.add(unit.key)
                self._had_run(unit, one, "was changed")
                last = one
            else:
                self._statement(unit, one, other)
                last = one
        self._same(old[len(old) - end :], new[len(new) - end :])

    def _same_ends(self) -> tuple[int, int]:
        """How many of the module's statements are the same to the letter, from both ends."""
        self.start, self.end = 0, 0
        if _cookie(self.old) == _cookie(self.new):
            was, now = _letters(self.old), _letters(self.new)
            least = min(len(was), len(now))
            while self.start < least and was[self.start] == now[self.start]:
                self.start += 1
            least -= self.start
            while self.end < least and was[-1 - self.end] == now[-1 - self.end]:
                self.end += 1
        return self.start, self.end

    def _same(self, old: list[Any], new: list[Any]) -> None:
        """Pair all that is in statements that are the same."""
        left = list(zip(old, new))
        while left:
            one, other = left.pop()
            self.pairs.append((one, other))
            if id(one) in self.old.of:
                self.units[self.old.of[id(one)].key] = self.new.of[id(other)]
            for field in points.BLOCKS:
                left += zip(getattr(one, field, None) or (), getattr(other, field, None) or ())

    def _next(self, old: list[Any], last: Any) -> Any:
        at = 0 if last is None else old.index(last) + 1
        return old[at] if at < len(old) else None

    def _had_run(self, unit: points.Unit, statement: Any, what: str) -> None:
        position = self._begun_at(unit, statement)
        if position is not None:
            why = f"{self.name}:{statement.lineno} {what} and had run"
            self.broken.append((position, HadRun.of(unit, statement, why)))

    def _put_in(self, unit: points.Unit, new: Any, after: Any, before: Any, holder: Any) -> None:
        """Something new: was the place passed? At the end of a block, if the last had begun."""
        beside = after or before or holder
        position = self._begun(unit) if beside is None else self._begun_at(unit, beside)
        if unit.is_module and holder is None and position is not None and _is_pure(new):
            self.additions.append((position, new))
            self.changed.add(unit.key)
            return
        self.changed.add(unit.key)
        if position is not None:
            why = f"{self.name}:{new.lineno} was put in where the program had passed"
            self.broken.append((position, HadRun.of(unit, beside, why)))

    def _statement(self, unit: points.Unit, old: Any, new: Any) -> None:
        self.pairs.append((old, new))
        if isinstance(old, (ast.FunctionDef, ast.AsyncFunctionDef)):
            defined = self._reached(unit.segment.get(id(old)))
            self._unit(self.old.of[id(old)], self.new.of[id(new)], defined)
            return
        for field in points.BLOCKS:
            one, other = getattr(old, field, None), getattr(new, field, None)
            if not isinstance(one, list) or not isinstance(other, list):
                continue
            if field in ("handlers", "cases"):  # their heads are part of the statement's head
                for part, counterpart in zip(one, other):
                    self.pairs.append((part, counterpart))
                    self._block(unit, part.body, counterpart.body, old)
            else:
                self._block(unit, one, other, old)


def _future(text: Text) -> list[str]:
    return [
        nodes.dump(one)
        for one in text.tree.body
        if isinstance(one, ast.ImportFrom) and one.module == "__future__"
    ]


def _holder(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key of the unit that a function is made in."""
    key = key[:-1]
    while key and key[-1][0].startswith(points.CLASS):
        key = key[:-1]
    return key


def _documentation(text: Text) -> str:
    body = text.tree.body
    return nodes.dump(body[0]) if body and points.is_docstring(body[0]) else ""


def _cookie(text: Text) -> list[bytes]:
    """What may say how the text is encoded."""
    return [line for line in text.lines[:2] if b"coding" in line]


def _letters(text: Text) -> list[Any]:
    """The lines of each of the module's statements; what shares lines is like nothing else."""
    found: list[Any] = []
    before = 0
    for one in text.tree.body:
        first = points.first_line(one)
        if first <= before and found:
            found[-1] = object()
        alone = first > before and not one.col_offset
        found.append(text.lines[first - 1 : one.end_lineno] if alone else object())
        before = one.end_lineno
    return found


# --- what may run late --------------------------------------------------------------------------


def _is_pure(statement: Any) -> bool:
    """A definition whose running shows in nothing but its name."""
    if isinstance(statement, ast.FunctionDef):
        values = [*statement.args.defaults, *(d for d in statement.args.kw_defaults if d)]
        return (
            not statement.decorator_list
            and all(isinstance(v, ast.Constant) for v in values)
            and not _annotated(statement)
        )
    if isinstance(statement, ast.Import):
        return all(_is_harmless(alias.name) for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        names = [alias.name for alias in statement.names]
        return not statement.level and "*" not in names and _is_harmless(statement.module or "")
    return False


def _annotated(function: Any) -> bool:
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return bool(function.returns) or any(a is not None and a.annotation for a in every)


def _is_harmless(module: str) -> bool:
    """Loaded already, or of the standard library: importing it later is the same."""
    first = module.partition(".")[0]
    return module in sys.modules or first in getattr(sys, "stdlib_module_names", ())


def names_of(statement: Any) -> list[str]:
    """What a pure statement binds."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    return [(a.asname or a.name).partition(".")[0] for a in statement.names]


# --- aligning -----------------------------------------------------------------------------------


def head(statement: Any) -> str:
    """A statement without the blocks in it: what must be equal for it to be the same one."""
    blocks = [f for f in points.BLOCKS if isinstance(getattr(statement, f, None), list)]
    if not blocks:
        return nodes.dump(statement)
    parts = [type(statement).__name__]
    for field in statement._fields:
        value = getattr(statement, field, None)
        if field in ("handlers", "cases"):
            parts += [head(part) for part in value or ()]
        elif field not in blocks:
            parts.append(nodes.dump(value))
        elif field != "body":
            parts.append(f"{field}:{bool(value)}" if isinstance(statement, _TRIES) else "")
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        first = statement.body[0]
        parts.append(nodes.dump(first) if points.is_docstring(first) else "")
        parts.append(str(points.is_whole(statement)))
    return "|".join(parts)


_TRIES = tuple(getattr(ast, n) for n in ("Try", "TryStar") if hasattr(ast, n))


def _align(old: list[Any], new: list[Any]) -> list[tuple[Any, Any]]:
    """Pair the statements of two blocks; what has no counterpart stands beside None."""
    a, b = [head(s) for s in old], [head(s) for s in new]
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle = _longest(a[start : len(a) - end], b[start : len(b) - end])
    result: list[tuple[Any, Any]] = list(zip(old[:start], new[:start]))
    i, j = start, start
    for x, y in [*middle, (len(a) - end - start, len(b) - end - start)]:
        result += [(statement, None) for statement in old[i : start + x]]
        result += [(None, statement) for statement in new[j : start + y]]
        if start + x < len(a) - end and start + y < len(b) - end:
            result.append((old[start + x], new[start + y]))
        i, j = start + x + 1, start + y + 1
    tail = len(a) - end
    result += list(zip(old[tail:], new[len(b) - end :]))
    return result


def _longest(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """The longest common subsequence, as pairs of indexes."""
    if not a or not b or max(len(a), len(b)) > MOST:
        return []
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            same = a[i] == b[j]
            table[i][j] = table[i + 1][j + 1] + 1 if same else max(table[i + 1][j], table[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found

"""Who holds which lock, read from the source: a thread inside `with a:` that waits at `with b:`.

Python keeps no record of who holds a `threading.Lock`. The names in the source tell: the
statements that a frame is inside of, and the one that it stands at. Names can lie (two objects
may have the same), so what is found is said to be by name.
"""

from __future__ import annotations

import ast
import functools
import linecache

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.observe.stacks.stack import Frame

BIGGEST = 2_000_000  # characters of a file that is read


class Held(NamedTuple):
    """A lock by its name in the source, and where it was taken."""

    name: str
    line: int


class Hands(NamedTuple):
    """What one thread has, and what it wants."""

    wants: str
    has: list[Held]


def hands(frames: Sequence[Frame]) -> Hands | None:
    """Of a thread that waits for a lock at its innermost frame; None without a source."""
    held: list[Held] = []
    wants = ""
    for number, (file, line, _) in enumerate(frames):
        tree = _tree(file)
        if tree is None:
            continue
        is_last = number == len(frames) - 1
        for node in ast.walk(tree):
            if not isinstance(node, (ast.With, ast.AsyncWith)):
                continue
            names = [ast.unparse(item.context_expr) for item in node.items]
            body = node.body[0].lineno
            if is_last and node.lineno <= line < body:
                wants = names[0] if len(names) == 1 else _on_line(node, line)
            elif body <= line <= (node.end_lineno or line):
                held += [Held(name, node.lineno) for name in names]
        if is_last and not wants:
            wants = _acquired(tree, line)
    return Hands(wants, held) if wants else None


def _on_line(node: ast.With | ast.AsyncWith, line: int) -> str:
    found = [item for item in node.items if item.context_expr.lineno <= line]
    return ast.unparse((found or node.items)[-1].context_expr)


def _acquired(tree: ast.Module, line: int) -> str:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "acquire"
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            return ast.unparse(node.func.value)
    return ""


def cycle(wanting: Sequence[Hands]) -> list[int]:
    """The numbers of threads that wait for one another in a ring; [] if there is none."""
    for start in range(len(wanting)):
        path = [start]
        while True:
            wants = wanting[path[-1]].wants
            holder = next(
                (n for n, one in enumerate(wanting) if wants in [held.name for held in one.has]),
                None,
            )
            if holder is None:
                break
            if holder in path:
                return path[path.index(holder) :]
            path.append(holder)
    return []


@functools.lru_cache(64)
def _tree(file: str) -> ast.Module | None:
    text = "".join(linecache.getlines(file))
    if not text or len(text) > BIGGEST:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None

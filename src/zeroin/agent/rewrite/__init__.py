"""Give the code of a file another body before it is first run.

Whoever wants that says for which files, and what is to become of their syntax tree:

    def change(path: str, source: bytes, tree: ast.Module) -> ast.Module | None: ...
    rewrite.add(lambda path: path == "/home/me/train.py", change)

The tree may be changed in place and returned; None leaves the file as it is. New nodes need
places, which `rewrite.place(new, like=old)` gives them: they are the lines that a traceback
shows. What new code calls is best written with `rewrite.constant(function)`: that is an
expression whose value is this very object, which no name leads to and nothing can hide:

    rewrite.place(ast.Expr(ast.Call(rewrite.constant(note), [ast.Constant(7)], [])), like=statement)

It holds for imports of every kind, for `python x.py`, `python -m x`, `runpy`, the tests that
pytest rewrites itself, and modules that were loaded before. Child processes are not its concern:
the agent is in each of them, and adds there what it adds here. No `.pyc` is ever written of
what was changed, and none of the same source hides the change; where Python runs a `.pyc` of
another source, so do we, and the file is `refused`. All other files, and all functions that
`change` leaves as they were, have the very code that they would have had.

`making` is where to begin reading: it makes the code. `imports`, `runners`, `main` and `present`
stand where code is loaded, each at one kind of place.
"""

from __future__ import annotations

import sys

from ..cpython import tested
from . import making
from .making import constant, place, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from typing import Callable

    Wanted = Callable[[str], bool]
    Change = Callable[[str, bytes, ast.Module], "ast.Module | None"]

_left_alone: list[Wanted] = []  # of an interpreter that nothing is tried on

__all__ = ["add", "again", "constant", "list_refusals", "place", "real"]


def add(wanted: Wanted, change: Change) -> None:
    """Files whose real path is `wanted` are compiled from what `change` makes of their tree.

    It is given the path, the source and the tree; where it returns None, they stay as they are.
    Modules that were loaded before get the new code for their functions; their top level has run.
    """
    if tested.why_not_rewritten():
        _left_alone.append(wanted)
        return
    if not making.changes:
        from .. import hooks
        from . import imports, main, runners

        imports.install()
        main.install()
        hooks.on_import(runners.callbacks())
        making.changes.append((runners.is_runner, runners.change_runner))
    making.changes.append((wanted, change))
    from . import present

    present.change(wanted)


def list_refusals() -> dict[str, str]:
    """Say which files that are loaded by now could not be changed, and why."""
    found = dict(making.refused)
    reason = tested.why_not_rewritten()
    if reason:
        files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        # The interpreter takes `__file__` away from a script that has ended.
        files.add(getattr(getattr(sys.modules.get("__main__"), "__loader__", None), "path", None))
        for path in {real(file) for file in files if isinstance(file, str)}:
            if any(wanted(path) for wanted in _left_alone):
                found[path] = reason
    return found


def again(path: str) -> None:
    """More is wanted of a file, by its real path, that may be loaded already."""
    if _left_alone:
        return
    from . import present

    present.change(lambda one: one == path)

"""Make code from a file's tree as it was changed, with objects in it that no name leads to."""

from __future__ import annotations

import _ast
import _warnings
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Callable

    from . import Change, Wanted

MARK = b"\0zeroin\0"

changes: list[tuple[Wanted, Change]] = []
# Real path → why it was left as it is, though somebody wanted it.
refused: dict[str, str] = {}
# Whether the file that is being changed was loaded before: its functions get new code, and have
# to keep the variables from outside that they have.
is_present = False
_constants: list[Any] = []
_folders: dict[str, str] = {}
_HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
_CODE = type((lambda: None).__code__)


class RefusedError(Exception):
    """Why a file stays as it is."""


def constant(value: object) -> Any:
    """Make an expression whose value is this very object. It has no place yet."""
    _constants.append(value)
    # The compiler takes no function for a constant; bytes it takes, and `plant` exchanges them.
    return _ast.Constant(MARK + str(len(_constants) - 1).encode(), None)


def place(node: Any, like: Any) -> Any:
    """Give new nodes the place of another one, or its start: the node, and all below without."""
    line, column = getattr(like, "lineno", 1), getattr(like, "col_offset", 0)
    # The whole of a short statement: a traceback marks nothing in it then.
    is_short = getattr(like, "end_lineno", None) == line
    end = like.end_col_offset if is_short else column
    left = [node]
    while left:
        one = left.pop()
        if not hasattr(one, "lineno"):
            one.lineno = one.end_lineno = line
            one.col_offset, one.end_col_offset = column, end
        for value in vars(one).values():
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, _ast.AST):
                    left.append(inner)
    return node


def real(filename: str) -> str:
    """The real path of a source file, quicker than by asking for each folder on the way again."""
    folder, name = os.path.split(filename)
    known = _folders.get(folder)
    if known is None or not os.path.isabs(folder):
        known = _folders[folder] = os.path.realpath(folder or os.curdir)
    path = os.path.join(known, name)
    return os.path.realpath(path) if os.path.islink(path) else path


def wants(path: str) -> bool:
    """Whether anyone wants to change that file; ours stay as they are."""
    if path.startswith(_HERE):
        return False
    for wanted, _ in changes:
        try:
            if wanted(path):
                return True
        except Exception:  # a mistake of ours must not be the program's
            continue
    return False


def made(
    filename: str, read: Callable[[], bytes], build: Callable[[Any], CodeType]
) -> CodeType | None:
    """Make the code of a file as everybody wants it; None if it stays as it is."""
    path = real(filename)
    if not wants(path):
        return None
    try:
        source = read()
        with Quiet():
            tree = changed(path, source, _parse(source, filename))
            return None if tree is None else plant(build(tree))
    except RefusedError as error:
        refused[path] = str(error)
        return None
    except Exception as error:  # likewise
        refused[path] = f"{type(error).__name__}: {error}"
        return None


def read_as_run(filename: str, read: Callable[[], bytes]) -> bytes:
    """The source of a module, if that is what Python runs: not so beside a stale `.pyc`."""
    from .. import bytecode

    stale = bytecode.stale(filename)
    if stale is not None:
        raise RefusedError(
            f"Python runs the bytecode {stale['file']}, which is of another text: remove it"
        )
    return read()


def changed(path: str, source: bytes, tree: Any) -> Any:
    """The tree as it was changed by all; None if nobody did."""
    result = None
    if not wants(path):
        return None
    for wanted, change in changes:
        if wanted(path):
            new = change(path, source, tree)
            if new is not None:
                result = tree = new
    return result


def build(filename: str) -> Callable[[Any], CodeType]:
    """How a file is compiled where nobody has a way of their own."""
    return lambda tree: compile(tree, filename, "exec", dont_inherit=True)


def plant(code: CodeType) -> CodeType:
    """Put the objects where `constant` left marks; code without any stays the very same."""
    new = tuple(_planted(one) for one in code.co_consts)
    if all(one is other for one, other in zip(new, code.co_consts)):
        return code
    return code.replace(co_consts=new)


def _planted(value: Any) -> Any:
    if type(value) is _CODE:
        return plant(value)
    if type(value) is bytes and value.startswith(MARK):
        return _constants[int(value[len(MARK) :])]
    return value


def _parse(source: bytes, filename: str) -> Any:
    return compile(source, filename, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)


class Quiet:
    """No warnings: they were given when the file was compiled as it is."""

    def __enter__(self) -> None:
        loaded: Any = sys.modules.get("warnings", _warnings)
        self.filters = loaded.filters
        self.rule = ("ignore", None, Warning, None, 0)
        self.filters.insert(0, self.rule)

    def __exit__(self, *_: object) -> None:
        self.filters.remove(self.rule)

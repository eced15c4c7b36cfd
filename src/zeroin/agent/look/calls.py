"""The text of a call's arguments, as the program has it: `peek(x, y.shape)` → `x`, `y.shape`.

A running call is known by its code object and the offset of its instruction. From Python
3.11 on, the code object tells where in the source that instruction stands. For older ones,
and where that is wrong (inside f-strings), the calls of the statement are *dyed*: the source
is compiled once more with each of these calls on a line number of its own, and the line
of the same instruction then says which call it is.

What is not sure is not told: the text may come from a file that was edited since.
"""

from __future__ import annotations

from ..common import secrets
from . import sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator
    from typing import Any

LONGEST = 80  # characters of an argument that are shown
PLACES = 4096  # in the program that are remembered
LINES = 400  # of one call; more is a table that somebody pasted


class Argument:
    """One argument as it is written."""

    __slots__ = ("mark", "name", "starred", "text")

    def __init__(self, node: ast.expr, text: str) -> None:
        import ast

        self.starred = isinstance(node, ast.Starred)
        # `peek("here")` marks a place: its text says what its value does.
        self.mark = isinstance(node, (ast.Constant, ast.JoinedStr))
        self.text = text[1:].strip() if self.starred else text
        # What says that the value is a secret, however long the text is.
        names = list(_names(node))
        self.name = next(filter(secrets.is_secret_name, names), names[0] if names else "")


def arguments(frame: Any) -> list[Argument] | None:
    """Give the positional arguments of the call that a frame is in; None if that is not sure."""
    try:
        lines = sources.lines_of(frame)
        if not lines or not sources.are_of(frame, lines):
            return None
        found = _by_position(frame, lines) or _by_dye(frame, lines)
        if found is None or not _is_ours(found[0].func, frame):
            return None  # `map(peek, xs)`: the call that is written there is another's
        call, text = found
        return [Argument(node, _text(node, text)) for node in call.args]
    except Exception:  # strange source, strange code objects: then without
        return None


_places: dict[tuple[int, int], tuple[Any, str]] = {}


def place(frame: Any) -> str:
    """Say where: `train.py:12 main`."""
    key = (id(frame.f_code), frame.f_lasti)
    known = _places.get(key)
    if known is None or known[0] is not frame.f_code:
        if len(_places) >= PLACES:  # code that is made anew each time would fill memory
            _places.clear()
        known = _places[key] = (frame.f_code, _place(frame))
    return known[1]


def _place(frame: Any) -> str:
    code = frame.f_code
    file = code.co_filename
    base = file.rpartition("/")[2] if file[:1] != "<" else file
    if base == "__init__.py":  # there are many of them
        base = "/".join(file.split("/")[-2:])
    if base.isdecimal() or "ipykernel" in file or file.startswith("<ipython-input"):
        base = "cell"  # a temporary name of a notebook's cell
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    for inner in ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"):
        name = name.replace("." + inner, "").replace(inner, "")
    where = f"{base}:{frame.f_lineno}"
    # The top of a file, and of a cell, has no name worth a word.
    return where if not name or name[:7] in ("<module", "<cell l") else f"{where} {name}"


# --- by the position that the code object has --------------------------------------------------


def _by_position(frame: Any, lines: list[str]) -> tuple[ast.Call, str] | None:
    import ast
    from itertools import islice

    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    place: Any = next(islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
    if None in place:
        return None
    first, last, start, end = place
    if not 0 < first <= last <= len(lines) or last - first > LINES:
        return None
    rows = [line.encode("utf-8", "surrogateescape") for line in lines[first - 1 : last]]
    rows[-1] = rows[-1][:end]  # columns count bytes
    rows[0] = rows[0][start:]
    text = "(" + b"".join(rows).decode("utf-8", "surrogateescape") + "\n)"
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return (node, text) if isinstance(node, ast.Call) and _fits(node, frame.f_code) else None


def _fits(call: ast.Call, code: Any) -> bool:
    """Whether the code object knows the names in the call: the file may be another by now."""
    known = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    import ast

    left: list[ast.AST] = [call]
    while left:
        node = left.pop()
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp)):
            continue  # have names of their own
        if isinstance(node, ast.GeneratorExp):
            continue
        if isinstance(node, ast.Name) and not _knows(known, node.id):
            return False
        left.extend(ast.iter_child_nodes(node))
    return True


def _knows(known: set[str], name: str) -> bool:
    """Whether a name is among them: with two underscores it is written differently in classes."""
    if name in known or name == "__debug__":
        return True
    return name.startswith("__") and any(one.endswith(name) for one in known)


# --- by dye ------------------------------------------------------------------------------------


def _by_dye(frame: Any, lines: list[str]) -> tuple[ast.Call, str] | None:
    import ast

    text = "".join(lines)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    line = frame.f_lineno
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line)
    ]
    for whole in _wholes(tree, line):
        at = _dyed(whole, calls, frame, len(lines))
        if at is not None:
            return calls[at], text
    # Code that was changed after it was read, as pytest and `zeroin loop` do: the only one here.
    alone = [one for one in calls if one.lineno == line and _is_ours(one.func, frame)]
    return (alone[0], text) if len(alone) == 1 and _fits(alone[0], frame.f_code) else None


def _is_ours(called: ast.expr, frame: Any) -> bool:
    """Whether it is what is told of here."""
    import ast

    if isinstance(called, ast.Attribute) and called.attr == "peek":
        return True
    return type(_meant(called, frame)).__name__.lstrip("_") == "Peek"


def _meant(written: ast.expr, frame: Any) -> Any:
    """Give what a name means here, also one that a module or an object holds."""
    import ast

    if isinstance(written, ast.Attribute):
        names = getattr(_meant(written.value, frame), "__dict__", None)
        return names.get(written.attr) if type(names) is dict else None
    if isinstance(written, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if written.id in names:
                return names[written.id]
    return None


def _wholes(tree: ast.Module, line: int) -> Iterator[Any]:
    """Give what may have been compiled: a file, or a statement of a notebook's cell."""
    import ast

    yield tree
    for node in tree.body:
        if node.lineno <= line <= (node.end_lineno or line):
            yield ast.Module([node], [])
            yield ast.Interactive([node])


def _dyed(whole: Any, calls: list[ast.Call], frame: Any, lines: int) -> int | None:
    """Give which of the calls it is."""
    mode = "exec" if type(whole).__name__ == "Module" else "single"
    plain = sources.compiled(whole, mode, frame.f_code)
    way = None if plain is None else sources.way_to(frame.f_code, plain)
    if way is None:
        return None
    before = [(call.lineno, call.end_lineno, call.func.end_lineno) for call in calls]
    try:
        for number, call in enumerate(calls):
            # The call of a method is on the line of its name, from 3.10 on.
            call.lineno = call.end_lineno = call.func.end_lineno = lines + 1 + number
        dyed = sources.compiled(whole, mode, frame.f_code)
    finally:
        for call, (first, last, of_name) in zip(calls, before):
            call.lineno, call.end_lineno, call.func.end_lineno = first, last, of_name
    for at in way:
        dyed = dyed.co_consts[at]
    if dyed.co_code != frame.f_code.co_code:
        return None
    found = _line_at(dyed, frame.f_lasti) - lines - 1
    return found if 0 <= found < len(calls) else None


def _line_at(code: Any, offset: int) -> int:
    import dis

    found = 0
    for start, line in dis.findlinestarts(code):
        if start > offset:
            break
        found = line or 0
    return found


# --- texts -----------------------------------------------------------------------------------


def _text(node: ast.expr, source: str) -> str:
    """Give the text of an argument in one line; made anew where the position is wrong."""
    import ast

    from ..summary import text

    found = ast.get_source_segment(source, node)
    written = _as_written(node)
    if found is None or _as_written(_parsed(found)) != written:
        found = written
    return text.fit(secrets.mask_found(text.one_line(found)), LONGEST)


def _parsed(text: str) -> Any:
    import ast

    try:
        body = ast.parse(f"f({text}\n)", mode="eval").body
    except SyntaxError:
        return None
    args = body.args if isinstance(body, ast.Call) else ()
    return args[0] if len(args) == 1 else None


def _as_written(node: Any) -> str:
    import ast

    if isinstance(node, ast.Starred):
        return f"*{ast.unparse(node.value)}"
    return "" if node is None else ast.unparse(node)


def _names(node: ast.AST) -> Iterator[str]:
    """Give the words that may say what a value is: names, attributes, keys."""
    import ast

    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.Subscript):
            key = getattr(one.slice, "value", None)
            if isinstance(key, str):
                yield key

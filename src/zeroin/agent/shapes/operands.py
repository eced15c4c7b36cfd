"""What a line that failed works with: its names and attributes, each with its shape.

Attributes are read from where objects keep them, so that nothing of the program's runs; of a
model, the parameters are told: "mat1 and mat2 shapes cannot be multiplied" is about them.
"""

from __future__ import annotations

import ast

from ..summary import objects
from . import kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PARAMETERS = 4
_MISSING = object()


def of(frame: Any, line: int) -> list[Any]:
    """Pairs of a text and a form, in the order in which they stand in the line."""
    node = _statement(frame.f_code.co_filename, line)
    if node is None:
        return []
    out: list[Any] = []
    told: set[str] = set()
    for one in _outermost(node):
        text = _dotted(one)
        if text in told:
            continue
        told.add(text)
        value = _value(one, frame)
        if value is not _MISSING:
            out += _told(text, value)
    return out


def _told(text: str, value: Any) -> list[Any]:
    if _is_model(value):
        held = _kept(value, "_parameters")
        pairs = [(f"{text}.{name}", one) for name, one in list(held.items())[:PARAMETERS]]
    else:
        pairs = [(text, value)]
    found = [(name, kinds.form(one)) for name, one in pairs]
    return [[name, form] for name, form in found if form is not None and form[0] not in "in"]


def _statement(filename: str, line: int) -> Any:
    """The innermost statement that the line belongs to, without the blocks below it."""
    try:
        with open(filename, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    best: Any = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            best = node if best is None or node.lineno >= best.lineno else best
    return best


def _outermost(node: Any) -> list[Any]:
    """Names and chains of attributes, as they stand in a statement; not in the blocks below."""
    found: list[Any] = []
    left = [node]
    while left:
        one = left.pop(0)
        inner = [
            child
            for child in ast.iter_child_nodes(one)
            if not isinstance(child, (ast.stmt, ast.Lambda))
        ]
        if _dotted(one) and isinstance(getattr(one, "ctx", None), ast.Load):
            found.append(one)
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
                left = [one.value, *left]  # the object itself, if what is asked is a method
            elif isinstance(one, ast.Attribute):
                left = [one.value, *left]
            continue
        left = inner + left
    return found


def _dotted(node: Any) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def _value(node: Any, frame: Any) -> Any:
    if isinstance(node, ast.Name):
        found = frame.f_locals.get(node.id, _MISSING)
        return found if found is not _MISSING else frame.f_globals.get(node.id, _MISSING)
    base = _value(node.value, frame)
    if base is _MISSING:
        return _MISSING
    held = objects.instance_dict(base)
    if node.attr in held:
        return held[node.attr]
    for parts in ("_parameters", "_buffers", "_modules"):
        inner = _kept(base, parts)
        if node.attr in inner:
            return inner[node.attr]
    return _MISSING


def _is_model(value: Any) -> bool:
    return objects.is_one(objects.classes_of(value), objects.loaded("torch.nn", "Module"))


def _kept(value: Any, name: str) -> dict[Any, Any]:
    held: Any = objects.instance_dict(value).get(name)
    return held if objects.is_one(objects.classes_of(held), dict) else {}

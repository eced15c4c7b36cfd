"""Two files of the same module: the same, or what differs and which one is older."""

from __future__ import annotations

import ast
import os

from zeroin.named import NamedTuple

MOST = 8 << 20  # bytes of a source that is compared function by function


class Comparison(NamedTuple):
    """`same` is None when one of them can't be read."""

    same: bool | None
    differs: tuple[str, ...] = ()  # functions and classes, by their names in the file
    elsewhere: bool = False  # what differs lies outside of functions
    older_by: float = 0.0  # seconds; below zero when the other one is the newer


def compare(file: str, other: str) -> Comparison:
    """How `other` differs from `file`."""
    try:
        with open(file, "rb") as one, open(other, "rb") as two:
            mine, theirs = one.read(), two.read()
        older = os.stat(file).st_mtime - os.stat(other).st_mtime
    except OSError:
        return Comparison(None)
    if mine == theirs:
        return Comparison(same=True, older_by=older)
    if not (file.endswith(".py") and other.endswith(".py")) or len(mine) + len(theirs) > MOST:
        return Comparison(same=False, older_by=older)
    try:
        here, there = _parts(mine), _parts(theirs)
    except (SyntaxError, ValueError, RecursionError):
        return Comparison(same=False, older_by=older)
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    functions = tuple(name for name in names if name)
    return Comparison(False, functions, "" in names, older)


def _parts(text: bytes) -> dict[str, str]:
    """Each function by its dotted name, and all the rest by ""."""
    found: dict[str, str] = {}
    rest: list[str] = []

    def walk(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[before + node.name] = ast.dump(node)
            elif isinstance(node, ast.ClassDef):
                rest.append(before + node.name + "".join(map(ast.dump, node.bases)))
                walk(node.body, f"{before}{node.name}.")
            else:
                rest.append(ast.dump(node))

    walk(ast.parse(text).body, "")
    return {**found, "": "\n".join(rest)}

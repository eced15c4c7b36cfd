"""How deeply a text is nested: what goes deeper than anybody writes is not read as a tree.

A tree costs a frame of Python's stack a level, and its parts cost memory by their depth times their
size. These look at a text once, from front to back, before anything is made of it.
"""

from __future__ import annotations

import ast
import re

DEEPEST = 200  # levels; Python's own parser takes no more brackets in one another

_OPEN, _CLOSE = frozenset("[{("), frozenset("]})")
_MARKS = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|\#[^\n]*|[\[{(\]})]", re.DOTALL
)
_JSON_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)


def has_deep_json(text: str) -> bool:
    """Whether lists and objects are nested too deeply."""
    return _are_brackets_deep(text, _JSON_MARKS)


def has_deep_brackets(text: str) -> bool:
    """Likewise, in TOML and in what YAML has in brackets."""
    return _are_brackets_deep(text, _MARKS)


def _are_brackets_deep(text: str, marks: re.Pattern[str]) -> bool:
    depth = 0
    for found in marks.finditer(text):
        if found[0] in _OPEN:
            depth += 1
            if depth > DEEPEST:
                return True
        elif found[0] in _CLOSE:
            depth = max(0, depth - 1)
    return False


def has_deep_indents(text: str) -> bool:
    """Whether lines stand below lines too deeply."""
    above: list[int] = []
    for line in text.splitlines():
        bare = line.lstrip(" ")
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(bare)
        while above and above[-1] >= indent:
            above.pop()
        # Each dash of `- - - x` is a list in a list.
        dashes = len(bare) - len(re.sub(r"\A(?:- +)+", "", bare))
        above.append(indent)
        if len(above) + dashes // 2 > DEEPEST:
            return True
    return has_deep_brackets(text)


def has_deep_code(text: str) -> bool:
    """Whether statements and expressions are nested too deeply: `a + b + c` is two levels."""
    try:
        level: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError):
        return False  # no Python
    except (RecursionError, MemoryError):
        return True
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in ast.iter_child_nodes(one)]
        if not level:
            return False
    return True

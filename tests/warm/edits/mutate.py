"""Random edits as people make them: small, and such that the file still parses.

They are made in the text, so that comments and layout stay, guided by its tree.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

OPERATORS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "//": "*",
    "<": "<=",
    "<=": ">",
    ">": ">=",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
}
PUT_IN = ("pass", "print('here', {n})", "extra_{n} = {n}", "assert {n} >= 0", "import colorsys")
LEAVE = ("1 / 0", "raise KeyError({n})", "return", "break", "continue")  # it may not parse there


def mutate(source: str, rng: random.Random, kinds: Any = None) -> tuple[str, str]:
    """Another text that parses, and what was done."""
    while True:
        kind = rng.choice(kinds or KINDS)
        text = kind(source, rng)
        if text is None or text == source:
            continue
        try:
            compile(text, "text", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        return text, kind.__name__


# --- places ------------------------------------------------------------------------------------


def _blocks(source: str) -> list[list[Any]]:
    """Lists of statements, each of which has lines of its own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                found.append(block)
    return found


def _statement(source: str, rng: random.Random) -> tuple[list[Any], int]:
    block = rng.choice(_blocks(source))
    return block, rng.randrange(len(block))


def _span(node: Any) -> tuple[int, int]:
    """First and last line, from 0, the last one not included."""
    decorators = [one.lineno for one in getattr(node, "decorator_list", ())]
    return min([node.lineno, *decorators]) - 1, node.end_lineno


def _indent(lines: list[str], at: int) -> str:
    line = lines[at]
    return line[: len(line) - len(line.lstrip())]


def _splice(source: str, begin: int, end: int, new: list[str]) -> str:
    lines = source.splitlines()
    return "\n".join([*lines[:begin], *new, *lines[end:]]) + "\n"


def _tokens(source: str, kinds: Any) -> list[Any]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token for token in tokens if kinds(token)]


def _replace(source: str, token: Any, new: str) -> str:
    lines = source.splitlines()
    (row, begin), (_, end) = token.start, token.end
    line = lines[row - 1]
    lines[row - 1] = line[:begin] + new + line[end:]
    return "\n".join(lines) + "\n"


# --- kinds -------------------------------------------------------------------------------------


def change_number(source: str, rng: random.Random) -> str | None:
    """3 becomes 4."""
    found = _tokens(source, lambda t: t.type == tokenize.NUMBER and t.string.isdigit())
    if not found:
        return None
    token = rng.choice(found)
    return _replace(source, token, str(max(0, int(token.string) + rng.choice((-1, 1, 10)))))


def change_text(source: str, rng: random.Random) -> str | None:
    """Another word in quotes."""
    found = _tokens(
        source, lambda t: t.type == tokenize.STRING and re.fullmatch(r'"[a-z ]+"', t.string)
    )
    if not found:
        return None
    token = rng.choice(found)
    return _replace(source, token, token.string[:-1] + rng.choice("xyz") + '"')


def change_operator(source: str, rng: random.Random) -> str | None:
    """+ becomes -."""
    found = _tokens(source, lambda t: t.string in OPERATORS and t.type != tokenize.STRING)
    if not found:
        return None
    token = rng.choice(found)
    return _replace(source, token, OPERATORS[token.string])


def delete_statement(source: str, rng: random.Random) -> str | None:
    """One fewer; `pass` where it was the only one."""
    block, index = _statement(source, rng)
    begin, end = _span(block[index])
    if end - begin > 12:
        return None
    keep = [_indent(source.splitlines(), begin) + "pass"] if len(block) == 1 else []
    return _splice(source, begin, end, keep)


def duplicate_statement(source: str, rng: random.Random) -> str | None:
    """The same twice."""
    block, index = _statement(source, rng)
    begin, end = _span(block[index])
    if end - begin > 6:
        return None
    return _splice(source, end, end, source.splitlines()[begin:end])


def insert_statement(source: str, rng: random.Random) -> str:
    """A new one in front of another."""
    block, index = _statement(source, rng)
    begin, _ = _span(block[index])
    text = rng.choice(PUT_IN).format(n=rng.randrange(100))
    return _splice(source, begin, begin, [_indent(source.splitlines(), begin) + text])


def insert_leaving(source: str, rng: random.Random) -> str:
    """Something that ends what is under way."""
    block, index = _statement(source, rng)
    begin, _ = _span(block[index])
    text = rng.choice(LEAVE).format(n=rng.randrange(100))
    return _splice(source, begin, begin, [_indent(source.splitlines(), begin) + text])


def insert_function(source: str, rng: random.Random) -> str:
    """A new one at the module's level, in front of a statement."""
    tree = ast.parse(source)
    begin, _ = _span(rng.choice(tree.body))
    number = rng.randrange(1000)
    return _splice(source, begin, begin, [f"def new_{number}(x):", f"    return x + {number}"])


def swap_statements(source: str, rng: random.Random) -> str | None:
    """Two neighbours change places."""
    block, index = _statement(source, rng)
    if index + 1 == len(block):
        return None
    (a, b), (c, d) = _span(block[index]), _span(block[index + 1])
    lines = source.splitlines()
    return _splice(source, a, d, [*lines[c:d], *lines[b:c], *lines[a:b]])


def negate_condition(source: str, rng: random.Random) -> str | None:
    """If becomes if not."""
    tests = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.If)]
    if not tests:
        return None
    test = rng.choice(tests).test
    if test.lineno != test.end_lineno:
        return None
    lines = source.splitlines()
    line = lines[test.lineno - 1]
    inner = line[test.col_offset : test.end_col_offset]
    lines[test.lineno - 1] = f"{line[: test.col_offset]}not ({inner}){line[test.end_col_offset :]}"
    return "\n".join(lines) + "\n"


def rename(source: str, rng: random.Random) -> str | None:
    """A name that this file assigns or defines, everywhere in it."""
    tree = ast.parse(source)
    names = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    names |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    if not names:
        return None
    name = rng.choice(sorted(names))
    return re.sub(rf"\b{name}\b", f"{name}_{rng.randrange(10)}", source)


def rename_once(source: str, rng: random.Random) -> str | None:
    """One use of a name is forgotten."""
    found = _tokens(source, lambda t: t.type == tokenize.NAME and len(t.string) > 3)
    token = rng.choice(found)
    return _replace(source, token, token.string + "_")


def add_comment(source: str, rng: random.Random) -> str:
    """Nothing changes but line numbers."""
    block, index = _statement(source, rng)
    begin, _ = _span(block[index])
    indent = _indent(source.splitlines(), begin)
    new = rng.choice([[""], [f"{indent}# a comment"], ["", f"{indent}# more", ""]])
    return _splice(source, begin, begin, new)


def wrap_in_if(source: str, rng: random.Random) -> str | None:
    """A statement moves into a block."""
    block, index = _statement(source, rng)
    begin, end = _span(block[index])
    lines = source.splitlines()
    if end - begin > 4 or '"""' in "".join(lines[begin:end]):
        return None
    head = _indent(lines, begin) + rng.choice(("if True:", "for _ in range(2):", "if not 1:"))
    return _splice(source, begin, end, [head, *("    " + line for line in lines[begin:end])])


def change_default(source: str, rng: random.Random) -> str | None:
    """A parameter gets another default."""
    found = re.findall(r"def \w+\([^)]*=(\d+)", source)
    if not found:
        return None
    value = rng.choice(found)
    return re.sub(rf"(def \w+\([^)]*=){value}\b", rf"\g<1>{int(value) + 1}", source, count=1)


KINDS = (
    change_number,
    change_number,
    change_text,
    change_text,
    change_operator,
    change_operator,
    delete_statement,
    delete_statement,
    duplicate_statement,
    insert_statement,
    insert_statement,
    insert_function,
    swap_statements,
    negate_condition,
    rename,
    rename_once,
    add_comment,
    add_comment,
    wrap_in_if,
    change_default,
)
# Where programs are random, edits that change all of them at once tell little.
SMALL = (
    *(change_number, change_number, change_number, change_text, change_operator),
    *(delete_statement, duplicate_statement, insert_statement, insert_leaving),
    *(swap_statements, negate_condition, add_comment, wrap_in_if),
)

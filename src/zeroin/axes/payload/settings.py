"""YAML and TOML: sections and what is below a line by its indent, then values.

Comments that are in front of a line belong to it, so they stay where it stays.
"""

from __future__ import annotations

import re
import textwrap
import tomllib

from zeroin.axes.payload.numbers import simpler_numbers
from zeroin.axes.payload.spans import Span, tree
from zeroin.axes.payload.tree import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zeroin.axes.payload.node import Node

    Scalar = Callable[[str, int, int], Iterator[Span]]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_TABLE = re.compile(r"[ \t]*\[")
_YAML_KEY = re.compile(
    r"[ \t]*(?:- +)*(?:[\w.\-]+|\"[^\"]*\"|'[^']*')[ \t]*:(?:[ \t]|\r?$)", re.MULTILINE
)
_YAML_VALUE = re.compile(r"(?:[\w.\-\"']+[ \t]*:|-)[ \t]+(?P<value>[^#\n]*?)[ \t]*(?:#.*)?\r?\n?\Z")
_TOML_VALUE = re.compile(r"[^=\n]+=[ \t]*(?P<value>.*?)[ \t]*\r?\n?\Z", re.DOTALL)
_LEAD = re.compile(r" *(?:- +)*")
_QUOTED = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|\#[^\n]*", re.DOTALL
)
OPEN, CLOSE = "[{", "]}"


# --- TOML ---------------------------------------------------------------------------------------


def is_toml(text: str) -> bool:
    """Whether it can be read, and says something."""
    try:
        return bool(tomllib.loads(text))
    except (ValueError, RecursionError):
        return False


def _may_be_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_toml(text: str) -> Node:
    """Tables with their lines, and the values in those."""
    return _toml(text, _scalar)


def read_toml_lines(text: str) -> Node:
    """Only tables, lines and lists: a large file has many characters."""
    return _toml(text, _whole)


def _toml(text: str, scalar: Scalar) -> Node:
    spans: list[Span] = []
    table: Span | None = None
    for start, end, own in toml_entries(text):
        if _TABLE.match(text, own):
            table = Span(start, end, goes=True)
            spans += [table]
            continue
        if table is not None:
            table.end = end
        spans.append(Span(start, end, goes=True))
        spans += _value(text, own, end, _TOML_VALUE, scalar)
    return tree(text, spans)


def toml_entries(text: str) -> Iterator[tuple[int, int, int]]:
    """Tables and keys: where each begins with its comments, ends, and begins without them."""
    return _entries(text, _brackets_are_open)


# --- YAML ---------------------------------------------------------------------------------------


def is_yaml(text: str) -> bool:
    """Whether most lines that say something look like it."""
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    like = sum(bool(_YAML_KEY.match(line) or re.match(r"\s*-( |$)|---", line)) for line in lines)
    return like > 0.6 * len(lines) > 0


def read_yaml(text: str) -> Node:
    """A line with all that is deeper than it, and its value."""
    return _yaml(text, _scalar)


def read_yaml_lines(text: str) -> Node:
    """Only lines and lists: a large file has many characters."""
    return _yaml(text, _whole)


def _yaml(text: str, scalar: Scalar) -> Node:
    spans: list[Span] = []
    above: list[tuple[int, Span]] = []
    keys: list[tuple[Span, int, int]] = []  # with where their line begins and ends
    for start, end, own in _entries(text, lambda _: False):
        line = text[own:end]
        depth = 2 * (len(line) - len(line.lstrip(" ")))
        # The dash of a list may stand as deep as the key that it belongs to.
        depth += line.lstrip(" ").startswith("- ")
        while above and above[-1][0] >= depth:
            above.pop()
        span = Span(start, end, goes=True)
        for _, one in above:
            one.end = end
        above.append((depth, span))
        spans.append(span)
        spans += _value(text, own, end, _YAML_VALUE, scalar)
        keys.append((span, own, end))
    for span, own, end in keys if scalar is _scalar else ():
        if span.end > end:
            span.others = (text[span.start : own] + _inside(text[own:end], text[end : span.end]),)
    return tree(text, spans)


def _inside(line: str, below: str) -> str:
    """What is below a key, in its place."""
    lead = _LEAD.match(line)
    indent = " " * (lead.end() if lead is not None else 0)
    moved = textwrap.indent(textwrap.dedent(below), indent)
    return line[: len(indent)] + moved[len(indent) :]


# --- both ---------------------------------------------------------------------------------------


def _entries(text: str, goes_on: Callable[[str], bool]) -> Iterator[tuple[int, int, int]]:
    """Where each begins with its comments, ends, and begins without them."""
    start = own = None
    for found in _LINE.finditer(text):
        line = found[0].strip()
        start = found.start() if start is None else start
        if own is None and (not line or line.startswith("#")):
            continue
        own = found.start() if own is None else own
        if goes_on(text[own : found.end()]):
            continue
        yield start, found.end(), own
        start = own = None
    if start is not None:
        yield start, len(text), start if own is None else own


def _brackets_are_open(text: str) -> bool:
    if _TABLE.match(text):
        return False
    for marks in ('"""', "'''"):
        if text.count(marks) % 2:
            return True
    bare = _QUOTED.sub("", text)
    return sum(bare.count(one) for one in OPEN) > sum(bare.count(one) for one in CLOSE)


def _value(
    text: str, start: int, end: int, pattern: re.Pattern[str], scalar: Scalar
) -> Iterator[Span]:
    found = pattern.search(text[start:end])
    if found is None or not found["value"]:
        return
    at, value = start + found.start("value"), found["value"]
    if value[0] in OPEN:
        yield from _lists(text, at, at + len(value), fine=scalar is _scalar)
    else:
        yield from scalar(text, at, at + len(value))


def _lists(text: str, start: int, end: int, *, fine: bool) -> Iterator[Span]:
    """What stands in brackets between commas."""
    opened: list[list[int]] = []
    at = start
    while at < end:
        quoted = _QUOTED.match(text, at, end)
        if quoted is not None:
            at = quoted.end()
            continue
        if text[at] in OPEN:
            opened.append([at + 1])
        elif text[at] == "," and opened:
            opened[-1].append(at + 1)
        elif text[at] in CLOSE and opened:
            behind = opened.pop()
            stops = [*(one - 1 for one in behind[1:]), at]
            pieces = [_trimmed(text, a, b) for a, b in zip(behind, stops, strict=True)]
            yield Span(behind[0], at, is_list=True, bare="")
            for a, b in pieces:
                if a < b:
                    others = tuple(simpler_numbers(text[a:b])) if fine else ()
                    yield Span(a, b, goes=True, others=others)
        at += 1


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    own = text[start:end]
    return start + len(own) - len(own.lstrip()), start + len(own.rstrip())


def _scalar(text: str, start: int, end: int) -> Iterator[Span]:
    value = text[start:end]
    others = tuple(simpler_numbers(value))
    if others:
        yield Span(start, end, others=others)
    elif len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        yield from (Span(at, at + 1, goes=True) for at in range(start + 1, end - 1))
    elif value not in ("true", "false", "null"):
        yield from (Span(at, at + 1, goes=True) for at in range(start, end))


def _whole(_text: str, _start: int, _end: int) -> Iterator[Span]:
    return iter(())


def _compact(text: str) -> str:
    """Without comments of their own lines, and empty lines."""
    lines = _LINE.findall(text)
    return "".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _lines(text: str) -> int:
    return len(text.splitlines())


TOML = Format("TOML", "line", _may_be_toml, _compact, tally=_lines, fresh=True)
YAML = Format("YAML", "line", None, _compact, tally=_lines, fresh=True)

"""JSON and JSON Lines: rows, members, elements, then strings by their characters, numbers to 0.

What can go is looked for in the text itself, by the places where values begin and end, so that
what stays keeps its spaces, its escapes and the way its numbers are written.
"""

from __future__ import annotations

import json
import re

from zeroin.axes.payload.node import Node, Parts, around, plainer
from zeroin.axes.payload.numbers import simpler_numbers
from zeroin.axes.payload.tree import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_OTHERS = 8  # of the values inside, that are tried in a value's place

_SPACE = re.compile(r"[ \t\n\r]*")
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_value_end = json.JSONDecoder().raw_decode


def is_json(text: str) -> bool:
    """Whether all of it is one value that has parts; NaN and the like are let through."""
    return _loads(text, (dict, list))


def is_json_lines(text: str) -> bool:
    """Whether each line is a value, most of them objects or lists, and there are several."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and lines[0].lstrip()[:1] in ("{", "[") and all(map(_loads, lines))


def _loads(text: str, kinds: tuple[type, ...] = (object,)) -> bool:
    try:
        return isinstance(json.loads(text), kinds)
    except (ValueError, RecursionError):
        return False


def read_json(text: str) -> Node:
    """The whole file: one value, and spaces around it."""
    start = _skip(text, 0)
    end = _end(text, start)
    value = _value(text[start:end], stays=True)
    return Node(text, inner=Parts((value,), text[:start], "", text[end:]))


def read_json_lines(text: str) -> Node:
    """A row a line; empty lines are rows, too."""
    return Node(text, inner=Parts(tuple(Node(line, _row) for line in text.splitlines(True))))


def _row(node: Node) -> Parts:
    text = node.text
    if not text.strip():
        return Parts()
    return read_json(text).inner


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


def _compact_lines(text: str) -> str:
    return "".join(f"{_compact(line)}\n" for line in text.split("\n") if line.strip())


def _but_nothing_else(compact: Callable[[str], str]) -> Callable[[str], str]:
    """Spaces are all that may go: two members of one name, or 1e400, would be lost as well."""

    def same(text: str) -> str:
        try:
            short = compact(text)
            return short if _tokens(short) == _tokens(text) else text
        except (ValueError, RecursionError):
            return text

    return same


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s",:\[\]{}]+|[,:\[\]{}]', re.DOTALL)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


# --- values -------------------------------------------------------------------------------------


def _value(text: str, *, stays: bool) -> Node:
    match text[:1]:
        case "{":
            return Node(text, _object, _inside, stays=stays)
        case "[":
            return Node(text, _array, _inside, stays=stays)
        case '"':
            return Node(text, _string, stays=stays)
        case _:
            return Node(text, None, _scalar, stays=stays)


def _object(node: Node) -> Parts:
    text, spans = node.text, []
    at = _skip(text, 1)
    while text[at] != "}":
        start, at = at, _after_key(text, at)
        at = _end(text, at)
        spans.append((start, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return around(text, spans, [Node(text[a:b], _member) for a, b in spans], ", ", "{}")


def _member(node: Node) -> Parts:
    start = _after_key(node.text, 0)
    value = _value(node.text[start:], stays=True)
    return Parts((value,), node.text[:start])


def _array(node: Node) -> Parts:
    text, spans = node.text, []
    at = _skip(text, 1)
    while text[at] != "]":
        end = _end(text, at)
        spans.append((at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return around(text, spans, [_value(text[a:b], stays=False) for a, b in spans], ", ", "[]")


def _string(node: Node) -> Parts:
    found = _CHARACTER.findall(node.text[1:-1])
    return Parts(tuple(Node(one, None, plainer) for one in found), '"', "", '"')


def _inside(node: Node) -> Sequence[Node]:
    """Instead of an object or a list: nothing of it, or one of the values in it."""
    values = [part if _is_value(part.text) else part.parts[0] for part in node.parts]
    return sorted(values, key=lambda one: len(one.text))[:MOST_OTHERS]


def _is_value(text: str) -> bool:
    return _end(text, 0) == len(text)


def _scalar(node: Node) -> Sequence[Node]:
    return [Node(one, None, _scalar) for one in simpler_numbers(node.text)]


# --- places -------------------------------------------------------------------------------------


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _end(text: str, start: int) -> int:
    """Behind the value that begins there."""
    return _value_end(text, start)[1]


def _after_key(text: str, at: int) -> int:
    """Where the value of a member begins."""
    return _skip(text, _skip(text, _end(text, at)) + 1)


JSON = Format("JSON", "member", is_json, _but_nothing_else(_compact))
JSON_LINES = Format("JSON Lines", "row", None, _but_nothing_else(_compact_lines))

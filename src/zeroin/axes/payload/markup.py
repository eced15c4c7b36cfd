"""XML and HTML: elements, attributes, text; an element may be replaced by one inside it."""

from __future__ import annotations

import re

from zeroin.axes.payload.depth import DEEPEST
from zeroin.axes.payload.spans import Span, tree
from zeroin.axes.payload.tree import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from zeroin.axes.payload.node import Node

MOST_OTHERS = 6
_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    )
)
_NAME = r"[^\s<>/=\"']+"
ATTRIBUTE = re.compile(rf"""\s+{_NAME}(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?""")
TOKEN = re.compile(
    rf"""(?P<other><!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![^>\[]*(?:\[.*?\]\s*)?>)
    |</(?P<closed>{_NAME})\s*>
    |<(?P<opened>{_NAME})(?P<attributes>(?:{ATTRIBUTE.pattern})*)\s*(?P<alone>/?)>
    |(?P<text>[^<]+|<)""",
    re.DOTALL | re.VERBOSE,
)
_EMPTY = re.compile(rf"<({_NAME})((?:{ATTRIBUTE.pattern})*)\s*></\1\s*>")
_CHARACTER = re.compile(r"&[#\w]+;|.", re.DOTALL)
_VALUE = re.compile(r"""=\s*(["']?)(.*)\1\Z""", re.DOTALL)


def is_xml(text: str) -> bool:
    """Whether it is well-formed."""
    from xml.parsers import expat

    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return False
    parser = expat.ParserCreate()
    try:
        parser.Parse(re.sub(r"(<\?xml[^>]*?)\s+encoding=[\"'][^\"']*[\"']", r"\1", text), True)
    except (expat.ExpatError, ValueError):
        return False
    return True


def has_deep_elements(text: str) -> bool:
    """Whether elements are nested too deeply; one that is never closed holds all behind it."""
    opened: list[str] = []
    for found in TOKEN.finditer(text):
        if found["opened"] and not found["alone"] and found["opened"].lower() not in _VOID:
            opened.append(found["opened"])
            if len(opened) > DEEPEST:
                return True
        elif found["closed"] and found["closed"] in opened:
            while opened.pop() != found["closed"]:
                pass
    return False


def is_html(text: str) -> bool:
    """Whether it says so."""
    start = text[:1000].lower()
    return "<!doctype html" in start or "<html" in start


def read_markup(text: str) -> Node:
    """Elements with what is in them. An end that nothing has begun is a text."""
    return tree(text, list(_spans(text)))  # an element's end is known last


def read_elements(text: str) -> Node:
    """Only elements, comments and texts between them: a large file has many characters."""
    return tree(text, list(_spans(text, fine=False)))


class _Open:
    """An element whose end has not come."""

    def __init__(self, name: str, span: Span) -> None:
        self.name = name
        self.span = span
        self.elements: list[Span] = []


def _spans(text: str, *, fine: bool = True) -> Iterator[Span]:
    opened = [_Open("", Span(0, len(text)))]
    for found in TOKEN.finditer(text):
        start, end = found.span()
        if found["opened"]:
            span = Span(start, end, goes=True)
            opened[-1].elements.append(span)
            yield span
            yield from _attributes(found) if fine else ()
            if not found["alone"] and found["opened"].lower() not in _VOID:
                opened.append(_Open(found["opened"], span))
        elif found["closed"] and any(one.name == found["closed"] for one in opened):
            while len(opened) > 1:
                one = opened.pop()
                _close(text, one, end if one.name == found["closed"] else start, fine=fine)
                if one.name == found["closed"]:
                    break
        elif found["text"]:
            yield Span(start, end, goes=True)
            yield from _characters(found["text"], start) if fine else ()
        else:
            yield Span(start, end, goes=True)
    for one in reversed(opened[1:]):
        _close(text, one, len(text), fine=fine)


def _close(text: str, one: _Open, end: int, *, fine: bool) -> None:
    one.span.end = end
    if not fine:
        return
    inner = sorted((text[span.start : span.end] for span in one.elements), key=len)
    one.span.others = tuple(dict.fromkeys(inner))[:MOST_OTHERS]


def _attributes(found: re.Match[str]) -> Iterator[Span]:
    start = found.start("attributes")
    for one in ATTRIBUTE.finditer(found["attributes"]):
        yield Span(start + one.start(), start + one.end(), goes=True)
        value = _VALUE.search(one[0])
        if value is not None:
            yield from _characters(value[2], start + one.start() + value.start(2))


def _characters(text: str, start: int) -> Iterator[Span]:
    if len(text) > 1:
        for one in _CHARACTER.finditer(text):
            yield Span(start + one.start(), start + one.end(), goes=True)


def _compact(text: str) -> str:
    """Without what is between elements, if that is only space."""
    return re.sub(r">\s+<", "><", text.strip())


def _compact_xml(text: str) -> str:
    """Likewise, and elements with nothing in them in their short form."""
    return _EMPTY.sub(r"<\1\2/>", _compact(text))


def _elements(text: str) -> int:
    return sum(bool(found["opened"]) for found in TOKEN.finditer(text))


XML = Format("XML", "element", is_xml, _compact_xml, tally=_elements, fresh=True)
HTML = Format("HTML", "element", None, _compact, tally=_elements, fresh=True)

"""From places in a text to a tree: for formats whose reader only says what stands where."""

from __future__ import annotations

import dataclasses

from zeroin.axes.payload.node import Node, Parts, around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclasses.dataclass(slots=True)
class Span:
    """A piece of the text."""

    start: int
    end: int
    goes: bool = False  # can be left out
    is_list: bool = False  # its pieces are the same kind of thing, with the same between them
    bare: str | None = None  # what is written when all of a list has gone
    others: tuple[str, ...] = ()  # what could stand in its place
    inside: list[Span] = dataclasses.field(default_factory=list)


def tree(text: str, spans: Iterable[Span]) -> Node:
    """All of the text. Of equal places the first is the outer one; what overlaps is left out."""
    whole = Span(0, len(text))
    open_ones = [whole]
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        while open_ones[-1].end <= span.start and len(open_ones) > 1:
            open_ones.pop()
        if span.start < span.end <= open_ones[-1].end:
            open_ones[-1].inside.append(span)
            open_ones.append(span)
    return _node(text, whole)


def _node(text: str, span: Span) -> Node:
    nodes = [_node(text, one) for one in span.inside]
    own = text[span.start : span.end]
    if span.is_list:
        places = [(one.start - span.start, one.end - span.start) for one in span.inside]
        inner = around(own, places, nodes, ", ", span.bare)
    else:
        inner = Parts(tuple(_between(text, span, nodes)), bare=span.bare)
    others = span.others
    return Node(
        own,
        None,
        (lambda _: [Node(one) for one in others]) if others else None,
        stays=not span.goes,
        inner=inner,
    )


def _between(text: str, span: Span, nodes: Sequence[Node]) -> Iterable[Node]:
    """The nodes, and as pieces that stay, what is between them."""
    at = span.start
    for one, node in zip(span.inside, nodes, strict=True):
        if at < one.start:
            yield Node(text[at : one.start], stays=True)
        yield node
        at = one.end
    if nodes and at < span.end:
        yield Node(text[at : span.end], stays=True)

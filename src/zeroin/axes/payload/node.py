"""A text as a tree of pieces that can be left out, or be put more simply.

A piece knows the text that it was read from, and is written as that as long as nothing in it has
changed: what is kept stays as it was, byte for byte. Parts are read when they are asked for, so
that rows which go unread cost nothing.
"""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Read = Callable[["Node"], "Parts"]
    Others = Callable[["Node"], Sequence["Node"]]


class Parts(NamedTuple):
    """What a piece is made of: its parts, and the text around and between them."""

    parts: tuple[Node, ...] = ()
    head: str = ""
    joint: str = ""
    tail: str = ""
    bare: str | None = None  # what is written when there are no parts; head and tail otherwise


class Node:
    """A piece of a text. It never changes."""

    __slots__ = ("_inner", "_others", "_text", "others_of", "read", "stays")

    def __init__(
        self,
        text: str | None,
        read: Read | None = None,
        others_of: Others | None = None,
        *,
        stays: bool = False,
        inner: Parts | None = None,
    ) -> None:
        self._text = text
        self._inner = inner if inner is not None or read is not None else Parts()
        self._others: tuple[Node, ...] | None = None if others_of is not None else ()
        self.read = read
        self.others_of = others_of
        self.stays = stays  # can't be left out

    @property
    def inner(self) -> Parts:
        """What it is made of."""
        if self._inner is None:
            self._inner = self.read(self) if self.read is not None else Parts()
        return self._inner

    @property
    def parts(self) -> tuple[Node, ...]:
        """What could be left out of it."""
        return self.inner.parts

    @property
    def others(self) -> tuple[Node, ...]:
        """What could stand in its place, the simplest first; each is simpler than itself."""
        if self._others is None:
            self._others = tuple(self.others_of(self)) if self.others_of is not None else ()
        return self._others

    @property
    def text(self) -> str:
        """As it is written."""
        if self._text is None:
            self._text = _written(self.inner)
        return self._text

    def with_parts(self, parts: tuple[Node, ...]) -> Node:
        """The same with other parts; itself if they are its own."""
        now = self.inner
        same = len(parts) == len(now.parts) and all(
            one is other for one, other in zip(parts, now.parts, strict=True)
        )
        if same:
            return self
        inner = now._replace(parts=parts)
        return Node(None, None, self.others_of, stays=self.stays, inner=inner)

    def ending(self, tail: str) -> Node:
        """The same with another text behind its parts."""
        inner = self.inner._replace(tail=tail)
        return Node(None, None, self.others_of, stays=self.stays, inner=inner)

    def staying(self, stays: bool) -> Node:
        """The same, in a place that can, or can't, be left out."""
        if stays == self.stays:
            return self
        return Node(self._text, self.read, self.others_of, stays=stays, inner=self._inner)


def _written(inner: Parts) -> str:
    if not inner.parts and inner.bare is not None:
        return inner.bare
    return f"{inner.head}{inner.joint.join(part.text for part in inner.parts)}{inner.tail}"


def around(
    text: str,
    spans: Sequence[tuple[int, int]],
    nodes: Iterable[Node],
    joint: str = "",
    bare: str | None = None,
) -> Parts:
    """Parts that stand in a text at these places, with what is around them.

    What is between the first two will be between all of them.
    """
    if not spans:
        return Parts((), text, joint, "", bare)
    if len(spans) > 1:
        joint = text[spans[0][1] : spans[1][0]]
    return Parts(tuple(nodes), text[: spans[0][0]], joint, text[spans[-1][1] :], bare)


def characters(node: Node) -> Parts:
    """A text as its characters."""
    return Parts(tuple(Node(one, None, plainer) for one in node.text))


def plainer(node: Node) -> Sequence[Node]:
    """A character that says nothing, in the place of another."""
    return [Node(one) for one in "a" if _rank(one) < _rank(node.text)]


def _rank(character: str) -> int:
    """Lower letters are plainer than capitals, those than digits, and anything else is odd."""
    kinds = (character == "a", character.isascii() and character.isalnum(), character.isascii())
    return kinds.index(True) if True in kinds else len(kinds)

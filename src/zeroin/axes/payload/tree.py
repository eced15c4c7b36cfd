"""A payload that is a tree of pieces of text, and the rounds in which it gets smaller."""

from __future__ import annotations

import dataclasses
import functools

from zeroin.axes.payload.depth import DEEPEST
from zeroin.axes.payload.kinds import flags
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zeroin.axes.payload.kinds import Ranges, Round
    from zeroin.axes.payload.node import Node

    Rounds = Callable[["Tree"], Iterable[Round["Tree"]]]


class Format(NamedTuple):
    """What a kind of text is called, and what else can be done with it than with any tree."""

    name: str
    noun: str  # of its parts
    valid: Callable[[str], bool] | None = None  # what is not is never tried
    compact: Callable[[str], str] | None = None
    across: Rounds | None = None  # rounds that are none of the tree: columns
    last: Rounds | None = None
    tally: Callable[[str], int] | None = None  # of its parts, if not those of the outermost kind
    fresh: bool = False  # it is read again after each round: what is left has other places


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A text of a format. It never changes."""

    root: Node
    format: Format
    codec: Codec
    reread: Callable[[str], Node]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.root.text == other.root.text

    def __hash__(self) -> int:
        return hash(self.root.text)

    def is_valid(self) -> bool:
        """Whether it is a text of its format."""
        return self.format.valid is None or self.format.valid(self.root.text)

    def pieces(self) -> Iterator[bytes]:
        """What the file would hold."""
        yield self.codec.encode(self.root.text)

    @property
    def size(self) -> int:
        """How many bytes."""
        return sum(map(len, self.pieces()))

    identity = pieces

    @property
    def noun(self) -> str:
        """What its parts are called."""
        return self.format.noun

    @functools.cached_property
    def parts(self) -> int:
        """How many there are."""
        if self.format.tally is not None:
            return self.format.tally(self.root.text)
        node = self.root
        while len(node.parts) == 1 and node.parts[0].stays:
            node = node.parts[0]
        return len(node.parts)

    def rounds(self) -> Iterator[Round[Tree]]:
        """Levels from the outside in, then what stands for other things, then spaces."""
        now = self.of(self.reread(self.root.text)) if self.format.fresh else self
        yield Level(now, 1)
        if self.format.across is not None:
            yield from self.format.across(now)
        for depth in range(2, DEEPEST):
            level = Level(now, depth)
            if not level.exists:
                break
            yield level
        for number in range(max(map(_choices, _all(now.root)))):
            yield Instead(now, number)
        if self.format.compact is not None:
            yield Compact(now)
        if self.format.last is not None:
            yield from self.format.last(now)

    def of(self, root: Node) -> Tree:
        """The same with another root."""
        return dataclasses.replace(self, root=root)


class Codec(NamedTuple):
    """How the text is written in bytes. What can't be read as such stays as it is."""

    name: str = "utf-8"
    mark: bytes = b""  # at the start of the file

    def decode(self, content: bytes) -> str:
        """As text."""
        return content[len(self.mark) :].decode(self.name, "surrogateescape")

    def encode(self, text: str) -> bytes:
        """As bytes."""
        return self.mark + text.encode(self.name, "surrogateescape")


class Level:
    """All that is equally deep."""

    def __init__(self, tree: Tree, depth: int) -> None:
        self._tree = tree
        self._depth = depth
        found = list(_at(tree.root, depth))
        self.exists = bool(found)
        self.count = sum(not node.stays for node in found)

    def texts(self) -> list[str]:
        """Of each."""
        return [node.text for node in _at(self._tree.root, self._depth) if not node.stays]

    def keep(self, parts: Ranges) -> Tree:
        """Without the others."""
        kept = iter(flags(parts, self.count))
        return self._tree.of(_pruned(self._tree.root, self._depth, kept))


class Instead:
    """What can be put in another way: each has its first, or second, ... stand-in."""

    def __init__(self, tree: Tree, number: int) -> None:
        self._tree = tree
        self._number = number
        self.count = sum(_choices(node) > number for node in _all(tree.root))

    def keep(self, parts: Ranges) -> Tree:
        """With the stand-ins of the others."""
        kept = iter(flags(parts, self.count))
        return self._tree.of(_replaced(self._tree.root, self._number, kept))


class Compact:
    """Spaces that mean nothing: one part."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        compact = tree.format.compact
        self._text = compact(tree.root.text) if compact is not None else tree.root.text
        self.count = int(len(self._text) < len(tree.root.text))

    def keep(self, parts: Ranges) -> Tree:
        """With or without them."""
        return self._tree if parts else self._tree.of(self._tree.reread(self._text))


def _all(node: Node) -> Iterator[Node]:
    yield node
    for part in node.parts:
        yield from _all(part)


def _at(node: Node, depth: int) -> Iterator[Node]:
    if depth == 1:
        yield from node.parts
        return
    for part in node.parts:
        yield from _at(part, depth - 1)


def _pruned(node: Node, depth: int, kept: Iterator[bool]) -> Node:
    if depth == 1:
        return node.with_parts(tuple(part for part in node.parts if part.stays or next(kept)))
    return node.with_parts(tuple(_pruned(part, depth - 1, kept) for part in node.parts))


def _choices(node: Node) -> int:
    return len(node.others)


def _replaced(node: Node, number: int, kept: Iterator[bool]) -> Node:
    if _choices(node) > number and not next(kept):
        for part in node.parts:  # what goes with it needs no flag of its own
            for one in _all(part):
                if _choices(one) > number:
                    next(kept)
        return node.others[number].staying(node.stays)
    return node.with_parts(tuple(_replaced(part, number, kept) for part in node.parts))

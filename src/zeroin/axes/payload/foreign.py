"""What only its own library can read and write: somebody else cuts it, along its axes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

from zeroin.axes.payload.kinds import chosen, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.axes.payload.kinds import Ranges, Round

    Spec = tuple[tuple[str, Ranges], ...]

_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1\0\0": "arrow",
    b"\x89PNG": "image",
    b"\xff\xd8\xff": "image",
    b"GIF8": "image",
    b"II*\0": "image",
    b"MM\0*": "image",
}
STREAM = b"\xff\xff\xff\xff"  # Arrow without an index at its end: no name of its own
_NOUNS = {"torch": "entry"}


class Cutter(Protocol):
    """Who can cut one file."""

    def axes(self, spec: Spec) -> Sequence[tuple[str, Ranges]]:
        """What there is to leave out, with this kept: names, and which parts are left."""

    def count(self, spec: Spec) -> int:
        """How many rows, or entries, the file would have."""

    def cut(self, spec: Spec) -> bytes | None:
        """What the file would hold; None if that can't be."""


def kind_of(content: bytes, name: str) -> str:
    """By the first bytes; "" for what we read ourselves."""
    for magic, kind in _MAGIC.items():
        if content.startswith(magic):
            return kind
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image"
    if content.startswith(b"BM") and content[6:10] == bytes(4):  # a text may begin so as well
        return "image"
    if content.startswith(STREAM) and name.endswith((".arrow", ".arrows")):
        return "arrow"
    is_archive = content.startswith(b"PK\3\4") and b"/data.pkl" in content[:4096]
    return "torch" if is_archive or name.endswith((".pt", ".pth")) else ""


@dataclasses.dataclass(frozen=True)
class Foreign:
    """A file, and what of it is kept."""

    kind: str
    cutter: Cutter
    spec: Spec = ()

    @property
    def noun(self) -> str:
        """What its parts are called."""
        return _NOUNS.get(self.kind, "row")

    @property
    def parts(self) -> int:
        """How many are left."""
        return self.cutter.count(self.spec)

    @property
    def size(self) -> int:
        """How many bytes."""
        return sum(map(len, self.pieces()))

    def is_valid(self) -> bool:
        """Whether its library can write it so."""
        return self.cutter.cut(self.spec) is not None

    def pieces(self) -> Iterator[bytes]:
        """What the file would hold."""
        yield self.cutter.cut(self.spec) or b""

    def identity(self) -> Iterator[bytes]:
        """What is kept."""
        yield repr((self.kind, self.spec)).encode()

    def rounds(self) -> Iterator[Round[Foreign]]:
        """An axis after the other."""
        for name, left in self.cutter.axes(self.spec):
            yield Along(self, name, left)


class Along:
    """Parts of one axis."""

    def __init__(self, foreign: Foreign, name: str, left: Ranges) -> None:
        self._foreign = foreign
        self._name = name
        self._left = left
        self.count = size(left)

    def keep(self, parts: Ranges) -> Foreign:
        """Only these, of those that are left."""
        if size(parts) == self.count:
            return self._foreign
        spec = dict(self._foreign.spec) | {self._name: chosen(self._left, parts)}
        return dataclasses.replace(self._foreign, spec=tuple(sorted(spec.items())))

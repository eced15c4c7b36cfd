"""What all payloads can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    Ranges = tuple[tuple[int, int], ...]

P_co = TypeVar("P_co", bound="Payload", covariant=True)


class Payload(Protocol):
    """What a file holds. It never changes, and equal ones are equal."""

    def __hash__(self) -> int: ...

    @property
    def noun(self) -> str:
        """What its parts are called."""

    @property
    def parts(self) -> int:
        """How many there are, of the outermost kind."""

    @property
    def size(self) -> int:
        """How many bytes the file would have."""

    def identity(self) -> Iterable[bytes]:
        """What tells it from others: its content, or something shorter."""

    def is_valid(self) -> bool:
        """Whether it is of its format: what is not, is not worth a try."""

    def pieces(self) -> Iterable[bytes]:
        """What the file would hold, piece by piece."""

    def rounds(self) -> Iterable[Round[Payload]]:
        """What could be left out, the coarse before the fine."""


class Round(Protocol[P_co]):
    """Parts that can be left out one by one."""

    @property
    def count(self) -> int:
        """How many there are."""

    def keep(self, parts: Ranges) -> P_co:
        """The payload with only these, and all else that it has."""


def size(parts: Ranges) -> int:
    """How many there are."""
    return sum(stop - start for start, stop in parts)


def chosen(kept: Ranges, parts: Ranges) -> Ranges:
    """Those of the kept ones that are at these places."""
    found: list[tuple[int, int]] = []
    before = 0
    for start, stop in kept:
        for first, behind in parts:
            a, b = max(start, start + first - before), min(stop, start + behind - before)
            if a < b:
                found.append((a, b))
        before += stop - start
    return tuple(found)


def flags(parts: Ranges, count: int) -> list[bool]:
    """Whether each of so many is among them."""
    kept = bytearray(count)
    for start, stop in parts:
        kept[start:stop] = b"\1" * (stop - start)
    return list(map(bool, kept))

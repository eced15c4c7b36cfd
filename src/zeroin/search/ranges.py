"""Some of n parts, as ranges: however many there are, a choice of them stays small."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]  # first, and one behind the last; in order, none touching


def every(count: int) -> Ranges:
    """All of them."""
    return ((0, count),) if count else ()


def size(ranges: Ranges) -> int:
    """How many there are."""
    return sum(stop - start for start, stop in ranges)


def cut(ranges: Ranges, first: int, behind: int) -> Ranges:
    """Leave some out: those from one place to another, counted among the ranges' own."""
    found: list[tuple[int, int]] = []
    before = 0
    for start, stop in ranges:
        left = min(stop, start + max(0, first - before))
        right = max(start, min(stop, start + behind - before))
        if right <= left:
            found.append((start, stop))
        else:
            found += [one for one in ((start, left), (right, stop)) if one[0] < one[1]]
        before += stop - start
    return tuple(found)


def members(ranges: Ranges) -> list[int]:
    """Each of them."""
    return [one for start, stop in ranges for one in range(start, stop)]


def without(count: int, ranges: Ranges) -> Ranges:
    """Those that are not among them, of so many."""
    found, at = [], 0
    for start, stop in (*ranges, (count, count)):
        if at < start:
            found.append((at, start))
        at = stop
    return tuple(found)


def packed(ones: Iterable[int]) -> Ranges:
    """Such numbers, which come in order, as ranges."""
    found: list[tuple[int, int]] = []
    for one in ones:
        if found and found[-1][1] == one:
            found[-1] = (found[-1][0], one + 1)
        else:
            found.append((one, one + 1))
    return tuple(found)

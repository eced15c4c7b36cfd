"""Does a section that repeats leave something behind each time?

Looked at is what is *in use* at the end of each repetition, never what is resident: that the
allocator retains memory is no leak. The slope is the median of all pairs (Theil and Sen's),
which one repetition out of line does not move. A cache that fills once rises at first and
then no more, so the beginning does not count, and the newer half must rise as the older did.
Garbage in cycles grows as a leak does until the collector comes: what waits for it is measured.
"""

from __future__ import annotations

from ..amounts import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .garbage import Garbage

    Path = tuple[str, ...]
    Level = tuple[int, int]  # at which repetition, and how much was in use at its end

FEWEST = 5  # repetitions
KEPT = 64  # repetitions that are remembered, the newest
RISING = 0.75  # part of the steps that must go up
LEAST = {"bytes": 256_000, "blocks": 1_000}  # growth that is worth a word, over all that is kept


LEAK = "a leak?"
EITHER = "a leak, or garbage in cycles?"
CYCLES = "garbage in cycles, which waits for the collector"
MOST = 0.75  # of what has grown, that must wait for the collector
LITTLE = 0.25


class Growth:
    """What a section leaves behind each time, and what all have left that may wait by now."""

    __slots__ = ("path", "rate", "unit", "whole")

    def __init__(self, path: Path, unit: str, rate: float, whole: float) -> None:
        self.path = path
        self.unit = unit  # "bytes" or "blocks"
        self.rate = rate
        self.whole = whole  # over all repetitions that are remembered

    def words(self, what: str) -> str:
        """One clause."""
        is_bytes = self.unit == "bytes"
        much = size(self.rate) if is_bytes else f"{self.rate:,.0f} small Python blocks"
        return f"grows {much} each time: {what}"

    def kind(self, waits: Garbage, grown: Mapping[Path, dict[str, int]]) -> str:
        """Whether it is garbage: all of it, if no other section may have left what waits."""
        held = getattr(waits, self.unit)
        apart = [path for path in grown if _are_apart(path, self.path)]
        tops = [path for path in apart if not any(_is_inside(path, one) for one in apart)]
        others = sum(max(0, grown[path][self.unit]) for path in tops)
        if held < LITTLE * self.whole:
            return LEAK
        return CYCLES if held >= MOST * (self.whole + others) else EITHER


def told(
    found: Sequence[Growth], grown: Mapping[Path, dict[str, int]], patience: float | None
) -> dict[Path, str]:
    """What is to be said of each section that grows; `grown` is what any of them grew by.

    To look at all objects takes a while: where that is more than `patience`, it is told later.
    """
    from . import garbage

    if not garbage.is_countable():
        return {one.path: one.words(EITHER) for one in found}
    kinds = {one.path: one.kind(garbage.young(), grown) for one in found}
    if any(kind != CYCLES for kind in kinds.values()):
        if patience is None or garbage.seconds() <= patience:
            waits = garbage.every()
            kinds = {one.path: one.kind(waits, grown) for one in found}
        else:
            kinds = {path: kind for path, kind in kinds.items() if kind == CYCLES}
    return {one.path: one.words(kinds[one.path]) for one in found if one.path in kinds}


def _is_inside(one: Path, other: Path) -> bool:
    return len(one) > len(other) and one[: len(other)] == other


def _are_apart(one: Path, other: Path) -> bool:
    """Whether neither lies in the other: what one leaves, the other does not."""
    return one != other and not _is_inside(one, other) and not _is_inside(other, one)


def is_due(count: int) -> bool:
    """Whether to look after so many repetitions: 5, 10, 20, 50, 100, …"""
    while count >= 10 and count % 10 == 0:
        count //= 10
    return count in (1, 2, 5)


def per_repetition(levels: Sequence[Level], inside: Sequence[int], unit: str) -> float:
    """Give by how much it grows each time, by the section's own doing; 0 if it does not."""
    if len(levels) < FEWEST:
        return 0.0
    settled = list(levels)[max(1, len(levels) // 5) :]
    steps = [after[1] - before[1] for before, after in zip(settled, settled[1:])]
    rate = slope(settled)
    own = sorted(inside)[len(inside) // 2]
    whole = rate * (settled[-1][0] - settled[0][0])
    if rate <= 0 or whole < LEAST[unit] or own < rate / 2:
        return 0.0
    if sum(step > 0 for step in steps) < RISING * len(steps):
        return 0.0
    middle = len(settled) // 2
    older, newer = slope(settled[: middle + 1]), slope(settled[middle:])
    return rate if newer > max(rate, older) / 2 else 0.0


def slope(levels: Sequence[Level]) -> float:
    """Give the median of the slopes between all pairs."""
    found = sorted(
        (levels[right][1] - levels[left][1]) / (levels[right][0] - levels[left][0])
        for left in range(len(levels))
        for right in range(left + 1, len(levels))
    )
    return found[len(found) // 2] if found else 0.0

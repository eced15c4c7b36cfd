"""Does a section that repeats leave something behind each time?

Looked at is what is *in use* at the end of each repetition, never what is resident: that the
allocator retains memory is no leak. The slope is the median of all pairs (Theil and Sen's),
which one repetition out of line does not move. A cache that fills once rises at first and
then no more, so the beginning does not count, and the newer half must rise as the older did.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Level = tuple[int, int]  # at which repetition, and how much was in use at its end

FEWEST = 5  # repetitions
KEPT = 64  # repetitions that are remembered, the newest
RISING = 0.75  # part of the steps that must go up
LEAST = {"bytes": 256_000, "blocks": 1_000}  # growth that is worth a word, over all that is kept


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

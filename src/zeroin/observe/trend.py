"""Does a series grow with each repetition? A robust slope, sign tests, and whether it flattens.

The first repetitions fill caches and import modules: they are left out. The slope is that of
Theil and Sen: the median of the slopes between all pairs, which a few jumps don't move; its
bounds are those of Kendall's test.
"""

from __future__ import annotations

import math
from itertools import pairwise

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FEWEST = 6  # samples, beyond the warm-up
MOST = 120  # samples that are compared pair by pair
WARM_UP = 0.25  # of the samples
BLOCKS = 12
EDGE = 1 / 6  # of the repetitions, whose median is the beginning or the end
SURE = 1.96  # two-sided 95 %
FLAT = 0.25  # of the earlier slope: less than that in the later half is levelling off


class Trend(NamedTuple):
    """Growth of one thing per repetition, with its bounds."""

    slope: float
    low: float
    high: float
    total: float
    samples: int
    repetitions: int  # in which the total came together
    verdict: str  # "grows", "fills", "steady" or "few"

    @property
    def spread(self) -> float:
        """What stands behind the ±."""
        return (self.high - self.low) / 2


def trend(points: Sequence[tuple[float, float]], least: float) -> Trend:
    """Of (repetition, value) in order; a total below `least` is nothing."""
    kept = thin(list(points[warm_up(len(points)) :]))
    if len(kept) < FEWEST:
        return Trend(0.0, 0.0, 0.0, 0.0, len(kept), 0, "few")
    span = kept[-1][0] - kept[0][0]
    values = [y for _, y in kept]
    if min(values) == max(values):
        return Trend(0.0, 0.0, 0.0, 0.0, len(kept), int(span), "steady")
    slope, low, high = theil_sen(kept)
    repetitions, total = _between(kept, span * EDGE)
    found = Trend(slope, low, high, total, len(kept), repetitions, "steady")
    if low <= 0 or total < least or slope * span < least or not rises(values):
        # Few big steps have a median slope of nothing, and still lead upwards.
        return found._replace(verdict="grows") if _climbs(values, least) else found
    half = len(kept) // 2
    early, late = theil_sen(kept[: half + 1])[0], theil_sen(kept[half:])[0]
    return found._replace(verdict="fills" if late < FLAT * early else "grows")


def _between(points: Sequence[tuple[float, float]], edge: float) -> tuple[int, float]:
    """From the middle of the beginning to that of the end: repetitions, and growth in them."""
    first = [one for one in points if one[0] <= points[0][0] + edge]
    last = [one for one in points if one[0] >= points[-1][0] - edge]
    counts = _median([x for x, _ in last]) - _median([x for x, _ in first])
    return int(counts), _median([y for _, y in last]) - _median([y for _, y in first])


def warm_up(count: int) -> int:
    """How many of the first samples are left out."""
    return min(max(2, int(count * WARM_UP)), max(0, count - FEWEST))


def thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """No more than can be compared pair by pair, over the whole length."""
    if len(points) <= MOST:
        return points
    step = (len(points) - 1) / (MOST - 1)
    return [points[round(index * step)] for index in range(MOST)]


def theil_sen(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The median slope of all pairs, and its bounds."""
    slopes = sorted(
        (y2 - y1) / (x2 - x1)
        for index, (x1, y1) in enumerate(points)
        for x2, y2 in points[index + 1 :]
        if x2 > x1
    )
    if not slopes:
        return 0.0, 0.0, 0.0
    n, count = len(points), len(slopes)
    width = SURE * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = slopes[max(0, int((count - width) / 2))]
    high = slopes[min(count - 1, math.ceil((count + width) / 2))]
    return _median(slopes), low, high


def rises(values: Sequence[float]) -> bool:
    """Whether ups outnumber downs by more than chance, from one block to the next or further on.

    A saw on top of the growth, such as the garbage collector makes, goes down at each of its
    teeth: then the blocks of the later half are still above those of the earlier.
    """
    medians = _blocks(values)
    half = len(medians) // 2
    later = zip(medians[:half], medians[-half:], strict=True)
    return _chance_of_ups(pairwise(medians)) < 0.15 or _chance_of_ups(later) < 0.02


def _chance_of_ups(pairs: Iterable[tuple[float, float]]) -> float:
    """The sign test: how often chance would give as many ups among these pairs."""
    steps = [b - a for a, b in pairs if b != a]
    ups, count = sum(step > 0 for step in steps), len(steps)
    ways = sum(math.comb(count, k) for k in range(ups, count + 1))
    return float(ways / 2**count)


def _climbs(values: Sequence[float], least: float) -> bool:
    """Steps up, now and then, and never one down: a buffer that is doubled, a cache per file."""
    medians = _blocks(values)
    steps = [b - a for a, b in pairwise(medians)]
    ups = [step for step in steps if step > least / BLOCKS]
    downs = [step for step in steps if step < -least / BLOCKS]
    return len(ups) >= 4 and not downs and medians[-1] - medians[0] >= least


def _blocks(values: Sequence[float]) -> list[float]:
    count = min(BLOCKS, len(values))
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [_median(values[a:b]) for a, b in pairwise(edges)]


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

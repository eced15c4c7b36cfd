"""How probable it is that a place of a range can be tested, beside those that could not be."""

from __future__ import annotations

import bisect
import math

_NEAR, _WIDE = 4.0, 0.25  # a stretch goes on for so many, and a share of its known width
_AGAIN = 0.5  # the more in a row can't be tested, the less probable is one between them that can


class Testable:
    """By the distance to the nearest that can't; `skipped` has nothing tested between them."""

    def __init__(self, skipped: list[int]) -> None:
        self.skipped = skipped
        self.reach = _NEAR + _WIDE * (skipped[-1] - skipped[0]) if skipped else 0.0

    def chance(self, place: int) -> float:
        """From 0 to 1, for a place that is not among them."""
        at, count = bisect.bisect(self.skipped, place), len(self.skipped)
        near = (abs(place - one) for one in self.skipped[max(0, at - 1) : at + 1])
        outside = math.prod(far / (far + self.reach) for far in near)
        return outside * _AGAIN ** (count - 2) if 0 < at < count else outside

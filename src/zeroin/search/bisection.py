"""The first bad one of an ordered range, several tries at a time, also where some tell nothing.

Workers take unequal times, so nobody waits for a round to end: after each answer, tries that can't
tell anything any more are useless, and free workers get new places. These cut what is left into
parts that are equally probable, together with the tries that still run. What can't be tested comes
in stretches (a commit that does not build, and the thirty behind it), so a place is worth less
the nearer it is to one that could not be tested; a stretch is left in steps that grow with it.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math

from zeroin.cycle import Verdict
from zeroin.search.testable import Testable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_LEAST = 0.01  # share of the chances that all get alike: a surprise costs only a few tries more
_TINY = 1e-9
_FEW = 64  # places of a gap that are looked at


@dataclasses.dataclass(frozen=True, slots=True)
class Bisection:
    """What is known so far: all up to `good` pass, `bad` fails the same way."""

    good: int
    bad: int
    skipped: frozenset[int] = frozenset()  # could not be tested
    sums: tuple[float, ...] | None = dataclasses.field(default=None, repr=False)  # of chances

    @classmethod
    def of(cls, last: int, chances: Sequence[float] | None = None) -> Bisection:
        """0 passes and `last` fails; the chances say how likely each one is the first that does."""
        if last < 1:
            raise ValueError("there is nothing between the good and the bad end")
        if chances is None:
            return cls(0, last)
        if len(chances) != last + 1 or min(chances) < 0:
            raise ValueError(f"chances must be {last + 1} numbers, none below 0")
        alike = max(sum(chances[1:]), 1e-9) * _LEAST / last
        return cls(0, last, sums=(0.0, *itertools.accumulate(one + alike for one in chances[1:])))

    @classmethod
    def expecting(cls, last: int, positions: Collection[int]) -> Bisection:
        """With these as likely as all the others together."""
        some = {one for one in positions if 0 < one <= last}
        bonus = last / len(some) if some else 0
        return cls.of(
            last, [1 + bonus * (one in some) for one in range(last + 1)] if some else None
        )

    def told(self, position: int, verdict: Verdict) -> Bisection:
        """What is known after the answer; a useless one changes nothing."""
        if self.is_useless(position):
            return self
        if verdict is Verdict.PASSED:
            return dataclasses.replace(self, good=position)
        if verdict is Verdict.SAME:
            return dataclasses.replace(self, bad=position)
        return dataclasses.replace(self, skipped=self.skipped | {position})

    def is_useless(self, position: int) -> bool:
        """Whether a try there can't tell anything any more."""
        return not self.good < position < self.bad or position in self.skipped

    @property
    def is_over(self) -> bool:
        """Whether nothing is left that could be tested."""
        return len(self._between()) == self.bad - self.good - 1

    @property
    def candidates(self) -> range:
        """Where the first bad one is; at the end more than one only if the others are skipped."""
        return range(self.good + 1, self.bad + 1)

    def plan(self, running: Collection[int], free: int) -> list[int]:
        """What so many free workers should try, beside what is running."""
        taken = {one for one in running if not self.is_useless(one)}
        chosen: list[int] = []
        while len(chosen) < free:
            more = list(self._spread(sorted(taken.union(chosen)), free - len(chosen)))
            if not more:
                break
            chosen += more
        return chosen

    def tries_left(self, workers: int) -> float:
        """About how many lengths of a try it takes to the end."""
        following = self.plan((), 1)
        if not following:
            return 0.0
        skipped = self._between()
        at_most = (self.bad - self.good - 1 - len(skipped)) / workers
        rounds = self._bits() / math.log2(workers + 1)
        return max(1.0, min(at_most, rounds / max(_TINY, Testable(skipped).chance(following[0]))))

    def _between(self) -> list[int]:
        """The skipped ones that still matter."""
        return sorted(one for one in self.skipped if self.good < one < self.bad)

    def _mass(self, good: int, bad: int) -> float:
        """How probable it is, before any answer, that the first bad one lies in there."""
        return bad - good if self.sums is None else self.sums[bad] - self.sums[good]

    def _spread(self, running: Sequence[int], free: int) -> Iterator[int]:
        """Cut the parts that running tries leave: the more probable a part, the more often."""
        skipped = self._between()
        parts = list(itertools.pairwise([self.good, *running, self.bad]))
        room = [bad - good - 1 - len(_inside(skipped, good, bad)) for good, bad in parts]
        cuts = [0] * len(parts)
        for _ in range(free):
            # What one cut more adds to the information if all cuts of a part are even.
            gains = [
                self._mass(*part) * math.log2((cut + 2) / (cut + 1)) if cut < most else 0.0
                for part, cut, most in zip(parts, cuts, room, strict=True)
            ]
            if not any(gains):
                break
            cuts[gains.index(max(gains))] += 1
        testable = Testable(skipped)
        for (good, bad), count in zip(parts, cuts, strict=True):
            start = good
            for left in range(count, 0, -1):
                place = self._place(start, bad, left, testable)
                if place is None:
                    break
                yield place
                start = place

    def _place(self, good: int, bad: int, cuts: int, testable: Testable) -> int | None:
        """The first of so many cuts: of parts that are equal then, where it can be tested."""
        whole = self._mass(good, bad)
        ideal = self._quantile(good, bad, 1 / (cuts + 1))
        best: tuple[float, int, int] | None = None
        for before, behind in itertools.pairwise(
            [good, *_inside(testable.skipped, good, bad), bad]
        ):
            for place in _some(before, behind, ideal):
                share = self._mass(good, place) / whole
                # Bits if the other cuts are even, less those that they alone would give.
                gain = _bits(share) + _bits(1 - share) - share * math.log2(cuts)
                worth = testable.chance(place) * gain
                best = max(best or (-math.inf, 0, 0), (worth, -abs(place - ideal), -place))
        return None if best is None else -best[2]

    def _quantile(self, good: int, bad: int, share: float) -> int:
        if self.sums is None:
            return round(good + share * (bad - good))
        wanted = self.sums[good] + share * self._mass(good, bad)
        return bisect.bisect_left(self.sums, wanted, good, bad)

    def _bits(self) -> float:
        """What is not known yet, of that which can be found out."""
        whole = self._mass(self.good, self.bad)
        total, tested = 0.0, self.good
        for before, behind in itertools.pairwise([self.good, *self._between(), self.bad]):
            first, last = before + 1, behind - 1
            if first > last:
                continue
            total += _bits(self._mass(tested, first) / whole)
            if self.sums is None:
                total += (last - first) * _bits(1 / whole)
            else:
                ones = range(first, last)
                total += sum(_bits(self._mass(one, one + 1) / whole) for one in ones)
            tested = last
        return total + _bits(self._mass(tested, self.bad) / whole)


def _bits(share: float) -> float:
    return -share * math.log2(share) if share > 0 else 0.0


def _inside(places: list[int], good: int, bad: int) -> list[int]:
    return places[bisect.bisect(places, good) : bisect.bisect_left(places, bad)]


def _some(before: int, behind: int, ideal: int) -> Collection[int]:
    """The places of a gap, or enough of a wide one."""
    count = behind - before - 1
    if count <= _FEW:
        return range(before + 1, behind)
    even = {before + 1 + at * (count - 1) // _FEW for at in range(_FEW + 1)}
    close = (min(max(ideal + off, before + 1), behind - 1) for off in (-1, 0, 1))
    return even.union(close)

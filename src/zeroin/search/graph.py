"""The first bad one where there is no line: each may have several before it, as commits have.

What is bad has the culprit among those before it or is it, what is good has not: so answers leave
a set. A try is worth most if half of the set is before it. Where several are tried at once, they
are spread by how much of the set is before each, as in a line (`bisection`). Some may be likelier
than others: they count for more of the set.
"""

from __future__ import annotations

import dataclasses
import functools
import math

from zeroin.cycle import Verdict
from zeroin.search.bisection import Bisection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Graph:
    """What is known so far; sets of positions are the bits of a number."""

    before: tuple[int, ...]  # for each position all that are before it, and itself
    parents: tuple[tuple[int, ...], ...]
    bad: int
    left: int  # where the culprit is
    skipped: frozenset[int] = frozenset()
    likely: int = 0  # those that are
    bonus: int = 0  # as so many more does each of them count

    @classmethod
    def of(cls, parents: Sequence[Sequence[int]]) -> Graph:
        """Positions in an order in which parents come first; 0 passes, the last one fails."""
        before: list[int] = []
        for position, own in enumerate(parents):
            inherited = functools.reduce(int.__or__, (before[one] for one in own), 0)
            before.append(inherited | 1 << position)
        last = len(before) - 1
        if last < 1:
            raise ValueError("there is nothing between the good and the bad end")
        left = before[last] & ~before[0]
        return cls(tuple(before), tuple(map(tuple, parents)), last, left)

    def expecting(self, positions: Collection[int]) -> Graph:
        """With these as likely as all the others together."""
        likely = functools.reduce(int.__or__, (1 << one for one in positions), 0) & self.left
        count = likely.bit_count()
        bonus = self.left.bit_count() // count if count else 0
        return dataclasses.replace(self, likely=likely, bonus=bonus)

    def told(self, position: int, verdict: Verdict) -> Graph:
        """What is known after the answer; a useless one changes nothing."""
        if self.is_useless(position):
            return self
        if verdict is Verdict.SAME:
            left = self.left & self.before[position]
            return dataclasses.replace(self, bad=position, left=left)
        if verdict is Verdict.PASSED:
            return dataclasses.replace(self, left=self.left & ~self.before[position])
        return dataclasses.replace(self, skipped=self.skipped | {position})

    def is_useless(self, position: int) -> bool:
        """Whether a try there can't tell anything any more."""
        return position in (self.bad, *self.skipped) or not self.left >> position & 1

    @property
    def is_over(self) -> bool:
        """Whether nothing is left that could be tested."""
        return not self._open()

    @property
    def candidates(self) -> list[int]:
        """Where the first bad one is; at the end more than one only if the others are skipped."""
        return _members(self.left)

    @property
    def good(self) -> int:
        """One that is right before: of its kin the first that is not in question any more."""
        position = self.bad
        while self.left >> position & 1:
            own = self.parents[position]
            if not own:
                return 0  # what was before it is not looked at
            position = own[0]
        return position

    def plan(self, running: Collection[int], free: int) -> list[int]:
        """What so many free workers should try, beside what is running."""
        weights = {one: self._weight(self.before[one] & self.left) for one in _members(self.left)}
        taken = [one for one in running if one in weights and not self.is_useless(one)]
        rest = [one for one in self._open() if one not in taken]
        whole = self._weight(self.left)
        skipped = frozenset(weights[one] for one in self.skipped if one in weights) - {whole}
        line = Bisection(0, whole, skipped)
        targets = line.plan([weights[one] for one in taken if weights[one] < whole], free)
        targets += [whole // 2] * (free - len(targets))
        chosen: list[int] = []
        for target in targets:
            near = [one for one in rest if one not in chosen]
            if not near:
                break
            chosen.append(min(near, key=lambda one: (abs(weights[one] - target), -one)))
        return chosen

    def _weight(self, some: int) -> int:
        return some.bit_count() + self.bonus * (some & self.likely).bit_count()

    def tries_left(self, workers: int) -> float:
        """About how many lengths of a try it takes to the end."""
        count = len(self._open())
        return math.log(count + 1, workers + 1) if count else 0.0

    def _open(self) -> list[int]:
        return [one for one in _members(self.left) if not self.is_useless(one)]


def _members(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found

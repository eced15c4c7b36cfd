"""The first bad one of an ordered range, when a failure shows only in some runs.

A pass tells little then, so places are run again, where a run tells most about the first bad
one. How often it fails is learned on the way; that good ones fail as well is thought possible
from the start, since a search that rules it out is too sure of itself where they do.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools

from zeroin.search.posterior import Counts, Group, Posterior
from zeroin.search.testable import Testable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_DOUBT = 0.8  # measured: with less, good ones that fail in 5 % of runs mislead more often than said
_CAUTION = 2.0  # by which odds are divided, so that what is said holds for any rates
_WORLDS = 12  # likely outcomes of what is running that a plan thinks of
_PARTS = 96  # places that a plan looks at, or a few times as many


@dataclasses.dataclass(frozen=True, slots=True)
class Noisy:
    """What is known so far."""

    counts: Counts  # of all that was run, and of both ends
    confidence: float
    doubt: float  # how probable it is, before any run, that good ones fail as well
    untestable: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        last: int,
        confidence: float = 0.95,
        good: tuple[int, int] = (0, 0),
        bad: tuple[int, int] = (0, 0),
        doubt: float = _DOUBT,
    ) -> Noisy:
        """0 is good and `last` is bad; what is known of them: runs that failed, and all runs."""
        if last < 1:
            raise ValueError("there is nothing between the good and the bad end")
        if not (0 < confidence < 1 and 0 < doubt < 1):
            raise ValueError("confidence and doubt lie between 0 and 1")
        if not all(0 <= fails <= runs for fails, runs in (good, bad)):
            raise ValueError("no more runs can have failed than there were")
        return cls(((0, *good), (last, *bad)), confidence, doubt)

    def told(self, position: int, failed: bool) -> Noisy:
        """What is known after one more run."""
        at = bisect.bisect_left(self.counts, (position,))
        before, behind = self.counts[:at], self.counts[at:]
        fails = runs = 0
        if behind and behind[0][0] == position:
            (_, fails, runs), behind = behind[0], behind[1:]
        elif not (before and behind):
            raise ValueError(f"{position} is not in the range")
        counts = (*before, (position, fails + failed, runs + 1), *behind)
        return dataclasses.replace(self, counts=counts)

    def told_untestable(self, position: int) -> Noisy:
        """It can't be tested; what was run already, and the ends, can be."""
        if any(one == position for one, _, _ in self.counts):
            return self
        return dataclasses.replace(self, untestable=self.untestable | {position})

    @property
    def posterior(self) -> Posterior:
        """How probable each position is, and what a run there would tell."""
        return _posterior(self.counts, self.doubt)

    @property
    def answer(self) -> int:
        """The most probable one; those that can't be told apart count as one, the last of them."""
        return max(self._blocks())[2]

    @property
    def chance(self) -> float:
        """How probable the answer is."""
        return cautious(max(self._blocks())[1])

    @property
    def is_over(self) -> bool:
        """Whether it is sure enough: of the answer, or of those that can't be told from it."""
        return cautious(max(self._blocks())[0]) >= self.confidence

    @property
    def candidates(self) -> list[int]:
        """The fewest that hold it with this confidence; equally probable ones go together."""
        found: list[int] = []
        held = 0.0
        for group in sorted(self.posterior.groups, key=lambda one: -one.each):
            if cautious(held) >= self.confidence:
                break
            found += range(group.before + 1, group.behind + 1)
            held += group.mass
        return sorted(found)

    def plan(self, running: Collection[int], free: int) -> list[int]:
        """What so many free workers should run, beside what is running; a place can come twice."""
        worlds = {self: 1.0}
        for place in running:
            worlds = _split(worlds, place)
        chosen: list[int] = []
        while len(chosen) < free:
            seen = [(world.posterior, chance) for world, chance in worlds.items()]
            places = set().union(*(one.quantiles(_PARTS // len(seen)) for one, _ in seen))
            worth = {
                place: chance * sum(share * one.gain(place) for one, share in seen)
                for place, chance in self._testable(places)
            }
            chosen.append(max(worth, key=lambda place: (worth[place], -place)))
            worlds = _split(worlds, chosen[-1])
        return chosen

    def _blocks(self) -> Iterator[tuple[float, float, int]]:
        """What can't be told apart, the widest of each group: its chance, each one's, its last."""
        for group in self.posterior.groups:
            width, last = _widest(group, self._skipped(group))
            yield width * group.each, group.each, last

    def _skipped(self, group: Group) -> list[int]:
        return sorted(one for one in self.untestable if group.before < one < group.behind)

    def _testable(self, places: set[int]) -> Iterator[tuple[int, float]]:
        """Those that can be run, or their neighbours, and how probable that is."""
        if not self.untestable:
            places = places.union(place for place, _, _ in self.counts)
            yield from ((place, 1.0) for place in places)
            return
        for (before, _, _), (behind, _, _) in itertools.pairwise(self.counts):
            skipped = [one for one in self.untestable if before < one < behind]
            testable = Testable(sorted(skipped))
            inside = {place for place in places if before < place < behind}
            for place in inside.union(*(_beside(place, self.untestable) for place in inside)):
                if before < place < behind and place not in self.untestable:
                    yield place, testable.chance(place)
        yield from ((place, 1.0) for place, _, _ in self.counts)


@functools.lru_cache(maxsize=64)
def _posterior(counts: Counts, doubt: float) -> Posterior:
    return Posterior(counts, doubt)


def cautious(mass: float) -> float:
    """With odds that are cautious: rates that are hard to tell apart are more often got wrong."""
    return mass / (mass + _CAUTION * (1 - mass))


def _split(worlds: dict[Noisy, float], place: int) -> dict[Noisy, float]:
    """Either outcome of a run; the likeliest worlds only."""
    found: dict[Noisy, float] = {}
    for world, chance in worlds.items():
        fails = world.posterior.fails(place)
        for failed, share in ((True, fails), (False, 1 - fails)):
            if share > 0:
                after = world.told(place, failed)
                found[after] = found.get(after, 0.0) + chance * share
    kept = sorted(found.items(), key=lambda one: -one[1])[:_WORLDS]
    whole = sum(chance for _, chance in kept)
    return {world: chance / whole for world, chance in kept}


def _beside(place: int, untestable: frozenset[int]) -> tuple[int, int]:
    below = above = place
    while below in untestable:
        below -= 1
    while above in untestable:
        above += 1
    return below, above


def _widest(group: Group, skipped: list[int]) -> tuple[int, int]:
    """The most that can't be told apart, since all but the last of them can't be tested."""
    best, width = (1, group.behind), 1
    for one in skipped:
        width = width + 1 if one - 1 in skipped else 2
        best = max(best, (width, one + 1))
    return best

"""Where the first bad one probably is, when runs only tell how often it fails.

Two rates are unknown: of failing when bad, and of failing when good, which may also be never.
Both are integrated out, exactly: what is left depends only on how many runs have failed and
passed on either side. Positions between two that were run are equally probable.
"""

from __future__ import annotations

import bisect
import itertools
import math

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

Counts = tuple[tuple[int, int, int], ...]  # position, runs that failed, all its runs; in order

BAD = (0.5, 0.5)  # Jeffreys' prior of the rate when bad
GOOD = (0.5, 1.0)  # when good: a rare failure is the likelier one


class Group(NamedTuple):
    """Positions that are equally probable: those behind `before`, up to `behind`."""

    before: int
    behind: int
    mass: float  # of all together
    bad: float  # how probable it is that the next run fails, at a bad place,
    good: float  # and at a good one; if the first bad one is in here

    @property
    def each(self) -> float:
        """The chance of one of them."""
        return self.mass / (self.behind - self.before)


class Posterior:
    """What the counts say. `doubt` is the chance, before any run, that good ones fail as well."""

    def __init__(self, counts: Counts, doubt: float) -> None:
        self.groups = _groups(counts, doubt)
        self.places = [group.before for group in self.groups]
        self._noise = [(_bits(group.bad), _bits(group.good)) for group in self.groups]
        self._left = _sums((one.mass, one.bad) for one in self.groups)
        self._right = _sums((one.mass, one.good) for one in reversed(self.groups))[::-1]

    def fails(self, place: int) -> float:
        """How probable it is that the next run there fails."""
        return self._outcome(place)[0]

    def gain(self, place: int) -> float:
        """How many bits about the first bad one a run there gives."""
        fails, noise = self._outcome(place)
        return _bits(fails) - noise

    def quantiles(self, count: int) -> set[int]:
        """Places that cut what is probable into so many parts, and those that were run."""
        found, before = {0, self.groups[-1].behind}, 0.0
        for group in self.groups:
            first, behind = math.ceil(before * count), math.floor((before + group.mass) * count)
            for part in range(first, behind + 1):
                at = (part / count - before) / group.each if group.mass else 0.0
                place = group.before + min(max(at, 0.0), group.behind - group.before)
                found.update((math.floor(place), math.ceil(place)))
            if group.mass * count > 1:
                found.update((group.before, group.before + 1, group.behind - 1, group.behind))
            before += group.mass
        return found

    def _outcome(self, place: int) -> tuple[float, float]:
        """The chance that it fails, and the bits that are only noise."""
        at = max(0, bisect.bisect_left(self.places, place) - 1)
        group = self.groups[at]
        bad = group.each * (place - group.before)
        good = group.mass - bad
        (fails_left, noise_left), (fails_right, noise_right) = self._left[at], self._right[at + 1]
        noise_bad, noise_good = self._noise[at]
        return (
            fails_left + fails_right + bad * group.bad + good * group.good,
            noise_left + noise_right + bad * noise_bad + good * noise_good,
        )


def _groups(counts: Counts, doubt: float) -> list[Group]:
    failed, passed = sum(one[1] for one in counts), sum(one[2] - one[1] for one in counts)
    good_failed = good_passed = 0
    found: list[tuple[float, Group]] = []
    for (before, fails, runs), (behind, _, _) in itertools.pairwise(counts):
        good_failed += fails
        good_passed += runs - fails
        bad = (failed - good_failed, passed - good_passed)
        good = (good_failed, good_passed)
        sometimes = math.log(doubt) + evidence(good, GOOD)
        never = -math.inf if good_failed else math.log1p(-doubt)
        either = _log_of_sum(sometimes, never)
        weight = evidence(bad, BAD) + either + math.log(behind - before)
        rate = math.exp(sometimes - either) * _rate(good, GOOD)
        found.append((weight, Group(before, behind, 0.0, _rate(bad, BAD), rate)))
    most = max(weight for weight, _ in found)
    masses = [math.exp(weight - most) for weight, _ in found]
    whole = sum(masses)
    return [
        group._replace(mass=mass / whole) for mass, (_, group) in zip(masses, found, strict=True)
    ]


def evidence(seen: tuple[int, int], prior: tuple[float, float]) -> float:
    """The logarithm of how probable such failures and passes are, over all rates."""
    return _log_beta(prior[0] + seen[0], prior[1] + seen[1]) - _log_beta(*prior)


def _rate(seen: tuple[int, int], prior: tuple[float, float]) -> float:
    return (prior[0] + seen[0]) / (sum(prior) + sum(seen))


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


def _log_of_sum(one: float, other: float) -> float:
    most = max(one, other)
    return most + math.log(math.exp(one - most) + math.exp(other - most))


def _sums(pairs: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Running sums of chances to fail, and of the bits that are only noise."""
    sums = [(0.0, 0.0)]
    for mass, rate in pairs:
        fails, noise = sums[-1]
        sums.append((fails + mass * rate, noise + mass * _bits(rate)))
    return sums


def _bits(chance: float) -> float:
    if not 0 < chance < 1:
        return 0.0
    return -chance * math.log2(chance) - (1 - chance) * math.log2(1 - chance)

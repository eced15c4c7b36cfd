"""Which of n changes are needed for a failure, where many combinations can't be tested.

None of the changes passes, all of them fail. First what can go one by one (`fewest`): that is all
if changes only need others, since the last of what builds on one another can always go. Changes
that need *each other* (a renamed function and its calls) can't go one by one: such a combination
can't be tested. So those whose absence could not be tested are tried in groups: all at once,
neighbours, two to eight together, and then every pair, near ones first. Only what was seen to fail
the same way is ever kept.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools

from zeroin.cycle import Verdict
from zeroin.search import ahead
from zeroin.search.fewest import Fewest
from zeroin.search.ranges import Ranges, members, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SIZES = (2, 3, 4, 6, 8)
# How many neighbours together, from where on; first all of them.
_BLOCKS = ((None, 0), *((size, start) for size in _SIZES for start in range(size)))
_MOST = 64  # so many that could not be tested are tried in pairs: about two thousand


class Asks(enum.Enum):
    """What of a verdict is wanted. Both are told by one try."""

    SAME = "does it fail the same way?"
    TESTED = "does it pass, or fail the same way?"


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """Some of the changes, put into the state that passes."""

    parts: Ranges
    asks: Asks = Asks.SAME

    def answer(self, verdict: Verdict | None) -> bool | None:
        """What a verdict about these changes answers; None if there is none yet."""
        if verdict is None:
            return None
        return verdict is Verdict.SAME or (self.asks is Asks.TESTED and verdict is Verdict.PASSED)


@dataclasses.dataclass(frozen=True, slots=True)
class _Units:
    """Which units can go; what is in none of them stays."""

    loose: tuple[int, ...]
    units: tuple[tuple[int, ...], ...]
    inner: Fewest

    @classmethod
    def of(cls, kept: tuple[int, ...], units: Iterable[tuple[int, ...]]) -> _Units:
        units = tuple(units)
        loose = _less(kept, *itertools.chain(*units))
        return cls(loose, units, Fewest.of(len(units)))

    @property
    def kept(self) -> tuple[int, ...]:
        return self._merged(self.inner.kept)

    @property
    def question(self) -> Question | None:
        units = self.inner.question
        return None if units is None else Question(packed(self._merged(units)))

    @property
    def likely(self) -> float:
        return self.inner.likely

    def told(self, yes: bool) -> _Units:
        return dataclasses.replace(self, inner=self.inner.told(yes))

    def _merged(self, units: Ranges) -> tuple[int, ...]:
        chosen = itertools.chain(*(self.units[at] for at in members(units)))
        return tuple(sorted((*self.loose, *chosen)))


@dataclasses.dataclass(frozen=True, slots=True)
class _Looks:
    """Without which the others can't be tested; the tries for this were made one by one."""

    kept: tuple[int, ...]
    at: int = 0
    stuck: tuple[int, ...] = ()

    @property
    def question(self) -> Question | None:
        if self.at == len(self.kept):
            return None
        return Question(packed(_less(self.kept, self.kept[self.at])), Asks.TESTED)

    @property
    def likely(self) -> float:
        return 0.5

    def told(self, yes: bool) -> _Looks:
        stuck = self.stuck if yes else (*self.stuck, self.kept[self.at])
        return dataclasses.replace(self, at=self.at + 1, stuck=stuck)


@dataclasses.dataclass(frozen=True, slots=True)
class _Pairs:
    """Which two can go, the nearest first."""

    kept: tuple[int, ...]
    left: tuple[tuple[int, int], ...]  # pairs that are to be tried

    @classmethod
    def of(cls, kept: tuple[int, ...], stuck: tuple[int, ...]) -> _Pairs:
        places = range(len(stuck)) if len(stuck) <= _MOST else ()
        near = sorted(itertools.combinations(places, 2), key=lambda pair: pair[1] - pair[0])
        return cls(kept, tuple((stuck[one], stuck[other]) for one, other in near))

    @property
    def question(self) -> Question | None:
        return Question(packed(_less(self.kept, *self.left[0]))) if self.left else None

    @property
    def likely(self) -> float:
        return 0.1

    def told(self, yes: bool) -> _Pairs:
        pair, left = self.left[0], self.left[1:]
        if not yes:
            return dataclasses.replace(self, left=left)
        left = tuple(one for one in left if not set(one) & set(pair))
        return _Pairs(_less(self.kept, *pair), left)


@dataclasses.dataclass(frozen=True, slots=True)
class Culprits:
    """What is known so far."""

    stage: _Units | _Looks | _Pairs
    stuck: tuple[int, ...] = ()  # without these the others can't be tested
    number: int = -1  # of the stages with blocks; -1 before them

    @classmethod
    def of(cls, count: int) -> Culprits:
        """So many changes, which fail together, and pass if there are none of them."""
        return _settled(_one_by_one(tuple(range(count))))

    @property
    def kept(self) -> tuple[int, ...]:
        """The best there is: it was seen to fail the same way."""
        return self.stage.kept

    @property
    def question(self) -> Question | None:
        """The changes that are to be tried, or None at the end."""
        return self.stage.question

    @property
    def likely(self) -> float:
        """How probable a yes is."""
        return self.stage.likely

    def told(self, yes: bool) -> Culprits:
        """What is known after the answer."""
        if self.stage.question is None:
            raise ValueError("the search is over")
        return _settled(dataclasses.replace(self, stage=self.stage.told(yes)))


def tries(search: Culprits, count: int, verdicts: Mapping[Ranges, Verdict]) -> list[Ranges]:
    """Up to so many different combinations that are worth trying now, the likeliest first."""
    found = ahead.questions(search, 2 * count, lambda one: one.answer(verdicts.get(one.parts)))
    return list(dict.fromkeys(one.parts for one in found))[:count]


def advanced(search: Culprits, verdicts: Mapping[Ranges, Verdict]) -> Culprits:
    """As far as what is known answers."""
    while (question := search.question) is not None:
        yes = question.answer(verdicts.get(question.parts))
        if yes is None:
            break
        search = search.told(yes)
    return search


def _one_by_one(kept: tuple[int, ...]) -> Culprits:
    return Culprits(_Units.of(kept, ((one,) for one in kept)))


def _settled(one: Culprits) -> Culprits:
    """Go on to where there is something to try, or to the end."""
    while True:
        question = one.question
        if question is None:
            following = _next(one)
            if following is None:
                return one
            one = following
        elif question.parts:
            return one
        else:  # none of the changes: that passes
            after = one.stage.told(question.asks is Asks.TESTED)
            one = dataclasses.replace(one, stage=after)


def _next(one: Culprits) -> Culprits | None:
    """The stage after one that is over."""
    stage, kept = one.stage, one.kept
    if isinstance(stage, _Units) and one.number < 0:
        return Culprits(_Looks(kept))
    if isinstance(stage, _Looks):
        stuck = stage.stuck
        if len(stuck) < 2:
            return None
    elif not set(one.stuck) <= set(kept):  # some have gone: others may go one by one now
        return _one_by_one(kept)
    else:
        stuck = one.stuck
    if isinstance(stage, _Pairs):
        return None
    number = one.number + 1
    if number == len(_BLOCKS):
        return Culprits(_Pairs.of(kept, stuck), stuck, number)
    return Culprits(_Units.of(kept, _blocks(stuck, *_BLOCKS[number])), stuck, number)


def _blocks(ones: tuple[int, ...], size: int | None, start: int) -> Iterable[tuple[int, ...]]:
    """Neighbours, so many together; what is left over at either end is no block."""
    size = size or len(ones)
    return (ones[at : at + size] for at in range(start, len(ones) - size + 1, size))


def _less(ones: tuple[int, ...], *gone: int) -> tuple[int, ...]:
    left_out = set(gone)
    return tuple(one for one in ones if one not in left_out)

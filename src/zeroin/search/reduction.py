"""Make a payload smaller, round by round.

A payload offers rounds, the coarse ones first: rows before columns, subtrees before values. A
round is a list of parts, each of which can be left out, or be put more simply, without the
others. A round over, the smaller payload offers its own; it ends when all rounds of a payload have
been gone through and nothing has become smaller. Where there are clues, a round begins with a guess
or two: that changes how soon it is small, and never that the result is 1-minimal.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from zeroin.search.clues import NONE, Clues
from zeroin.search.fewest import Fewest
from zeroin.search.ranges import size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zeroin.search.ranges import Ranges

_GUESSED = 0.5  # how probable it is that a guess is right
P = TypeVar("P", bound="Payload")
Offered_co = TypeVar("Offered_co", bound="Payload", covariant=True)


class Payload(Protocol):
    """What is made smaller. It never changes, and equal ones are equal."""

    def __hash__(self) -> int: ...

    def rounds(self) -> Iterable[Round[Self]]:
        """What could be left out, the coarse before the fine; the same whenever it is asked for."""


class Round(Protocol[Offered_co]):
    """Parts that can be left out one by one."""

    @property
    def count(self) -> int:
        """How many there are."""

    def keep(self, parts: Ranges) -> Offered_co:
        """The payload with only these, and all else that it has."""


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate(Generic[P]):
    """A payload that is to be tried. It is made only when somebody wants it."""

    round: Round[P]
    parts: Ranges

    def payload(self) -> P:
        """Make it."""
        return self.round.keep(self.parts)


@dataclasses.dataclass(frozen=True, slots=True)
class Reduction(Generic[P]):
    """What is known so far."""

    base: P  # as it was before the round
    round: Round[P] | None  # the one that is under way
    number: int  # of the round
    inner: Fewest
    smaller: bool = False  # since the first round
    clues: Clues = NONE
    guesses: tuple[tuple[int, Ranges], ...] = ()  # that are still to be asked in this round

    @classmethod
    def of(cls, payload: P, clues: Clues = NONE) -> Reduction[P]:
        """The whole payload, of which it is known that it fails."""
        return cls._begin(payload, 0, False, clues)

    @property
    def payload(self) -> P:
        """The best there is."""
        if self.round is None or size(self.inner.kept) == self.round.count:
            return self.base
        return self.round.keep(self.inner.kept)

    @property
    def question(self) -> Candidate[P] | None:
        """The payload that is to be tried, or None at the end."""
        parts = self.guesses[0][1] if self.guesses else self.inner.question
        return None if parts is None or self.round is None else Candidate(self.round, parts)

    @property
    def likely(self) -> float:
        """How probable a yes is."""
        return _GUESSED if self.guesses else self.inner.likely

    def told(self, yes: bool) -> Reduction[P]:
        """It still fails the same way, or not."""
        if self.round is None:
            raise ValueError("the search is over")
        if self.guesses:
            number, choice = self.guesses[0]
            after = dataclasses.replace(
                self,
                inner=Fewest.among(choice) if yes else self.inner,
                clues=self.clues.told(number, yes),
                guesses=() if yes else self.guesses[1:],
            )
        else:
            after = dataclasses.replace(self, inner=self.inner.told(yes))
        if after.inner.question is not None:
            return after
        payload, smaller = after.payload, self.smaller or after.payload != self.base
        return self._begin(payload, self.number + 1, smaller, after.clues)

    @classmethod
    def _begin(cls, payload: P, number: int, smaller: bool, clues: Clues) -> Reduction[P]:
        """The next round that has any parts."""
        while True:
            for one in itertools.islice(payload.rounds(), number, None):
                inner = Fewest.of(one.count)
                if inner.question is not None:
                    return cls(payload, one, number, inner, smaller, clues, clues.guesses(one))
                number += 1
            if not smaller:
                return cls(payload, None, number, Fewest.of(0), clues=clues)
            number, smaller = 0, False

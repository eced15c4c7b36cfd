"""Make a payload smaller, round by round.

A payload offers rounds, the coarse ones first: rows before columns, subtrees before values. A
round is a list of parts, each of which can be left out, or be put more simply, without the
others. A round over, the smaller payload offers its own; it ends when all rounds of a payload have
been gone through and nothing has become smaller.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from zeroin.search.fewest import Fewest
from zeroin.search.ranges import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.search.ranges import Ranges

P = TypeVar("P", bound="Payload")
Offered_co = TypeVar("Offered_co", bound="Payload", covariant=True)


class Payload(Protocol):
    """What is made smaller. It never changes, and equal ones are equal."""

    def __hash__(self) -> int: ...

    def rounds(self) -> Sequence[Round[Self]]:
        """What could be left out, the coarse before the fine."""


class Round(Protocol[Offered_co]):
    """Parts that can be left out one by one."""

    @property
    def count(self) -> int:
        """How many there are."""

    def keep(self, parts: Ranges) -> Offered_co:
        """The payload with only these, and all else that it has."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reduction(Generic[P]):
    """What is known so far. `payload` is the best there is."""

    payload: P
    rounds: tuple[Round[P], ...]
    number: int  # of the round
    inner: Fewest
    smaller: bool = False  # since the first round

    @classmethod
    def of(cls, payload: P) -> Reduction[P]:
        """The whole payload, of which it is known that it fails."""
        return cls._begin(payload, 0, False)

    @property
    def question(self) -> P | None:
        """The payload that is to be tried, or None at the end."""
        parts = self.inner.question
        return None if parts is None else self.rounds[self.number].keep(parts)

    @property
    def likely(self) -> float:
        """How probable a yes is."""
        return self.inner.likely

    def told(self, yes: bool) -> Reduction[P]:
        """It still fails the same way, or not."""
        now = self.rounds[self.number]
        inner = self.inner.told(yes)
        payload = now.keep(inner.kept) if yes else self.payload
        after = dataclasses.replace(self, payload=payload, inner=inner)
        if inner.question is not None:
            return after
        smaller = self.smaller or size(inner.kept) < now.count
        return self._begin(payload, self.number + 1, smaller)

    @classmethod
    def _begin(cls, payload: P, number: int, smaller: bool) -> Reduction[P]:
        """The next round that has any parts."""
        while True:
            rounds: tuple[Round[P], ...] = tuple(payload.rounds())
            for at in range(number, len(rounds)):
                inner = Fewest.of(rounds[at].count)
                if inner.question is not None:
                    return cls(payload, rounds, at, inner, smaller)
            if not smaller:
                return cls(payload, rounds, len(rounds), Fewest.of(0))
            number, smaller = 0, False

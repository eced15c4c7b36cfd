"""What a search is: a question, and what follows from either answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Q_co = TypeVar("Q_co", bound="Hashable", covariant=True)
S = TypeVar("S", bound="Search[Hashable]")


class Search(Protocol[Q_co]):
    """A state of a search. It never changes: an answer gives another one."""

    @property
    def question(self) -> Q_co | None:
        """What is to be tried; None when the search is over."""

    @property
    def likely(self) -> float:
        """How probable a yes is, from 0 to 1."""

    def told(self, yes: bool) -> Self:
        """What is known after the answer."""


def run(search: S, answer: Callable[[Hashable], bool]) -> S:
    """Ask to the end, and nothing twice."""
    known: dict[Hashable, bool] = {}
    while (question := search.question) is not None:
        if question not in known:
            known[question] = answer(question)
        search = search.told(known[question])
    return search

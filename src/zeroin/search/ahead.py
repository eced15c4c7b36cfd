"""What is worth trying before it is asked: the likeliest questions of a search's near future.

Several workers then get to the same result as one, only sooner: what they find out is kept until
it is asked for, and what is never asked for is forgotten.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from zeroin.search.asking import Search

Q = TypeVar("Q", bound="Hashable")
FAR = 64  # states that are looked at for each question that is wanted


def questions(search: Search[Q], count: int, known: Callable[[Q], bool | None]) -> list[Q]:
    """Up to so many different questions without a known answer, the likeliest to be asked first."""
    found: dict[Q, None] = {}
    order = 0  # of two that are equally likely, the one that was met first
    states: list[tuple[float, int, Search[Q]]] = [(-1.0, order, search)]
    for _ in range(FAR * count):
        if not states or len(found) >= count:
            break
        chance, _, state = heapq.heappop(states)
        question = state.question
        if question is None:
            continue
        answer = known(question)
        if answer is None:
            found[question] = None
        for yes, share in ((True, state.likely), (False, 1 - state.likely)):
            if answer in (None, yes):
                order += 1
                weight = chance * (share if answer is None else 1)
                heapq.heappush(states, (weight, order, state.told(yes)))
    return list(found)

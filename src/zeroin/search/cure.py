"""What to put back so that it works again, where not everything goes with everything.

Between a world that fails and an older one that works there are changes, and some can only be put
back together with others. Mixes that can't be are never tried: changes are put back in such an
order that each step is whole, and the step that cures is searched for. Only then it is asked
whether fewer are enough, whether they break the old world alone, and if not, together with what.
"""

from __future__ import annotations

import dataclasses
import heapq

from zeroin.cycle import Verdict
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Sequence
    from typing import Any

    Changes = frozenset[int]

MOST = 6  # changes that are tried one by one
ROUNDS = 5  # further changes that it may take


class Chain(NamedTuple):
    """Each with more put back: the first one fails, the last one works. Where does that change?"""

    sets: tuple[Changes, ...]
    chances: tuple[float, ...]  # of each to be the first that works


class Single(NamedTuple):
    """How does it go with these put back?"""

    put_back: Changes


class Edge(NamedTuple):
    """Positions in a chain: the last that fails, the first that works."""

    fails: int
    works: int


class Cured(NamedTuple):
    """What was found out."""

    put_back: Changes  # with these put back it works
    needed: Changes  # of these, the fewest that it takes,
    # One of each group that can't be apart: does it break the old world alone? None: who knows.
    alone: dict[int, bool | None]
    partners: dict[int, Changes]  # what one breaks together with, that does not alone


class Graph:
    """Which changes can be put back only together with which."""

    def __init__(self, count: int, implies: Iterable[tuple[int, int]]) -> None:
        self.count = count
        self._needs: list[set[int]] = [set() for _ in range(count)]
        self._needed_by: list[set[int]] = [set() for _ in range(count)]
        for one, other in implies:
            if one != other:
                self._needs[one].add(other)
                self._needed_by[other].add(one)

    @property
    def all(self) -> Changes:
        """Everything put back."""
        return frozenset(range(self.count))

    def with_needed(self, changes: Collection[int]) -> Changes:
        """These, and what has to be put back with them."""
        return _reached(self._needs, changes)

    def with_needing(self, changes: Collection[int]) -> Changes:
        """These, and what can't be put back while they are not."""
        return _reached(self._needed_by, changes)

    def steps(self, rank: Sequence[int]) -> list[Changes]:
        """All changes, so that what one needs is never behind it; by rank where there is a choice.

        Those that need one another are one step.
        """
        groups = {one: self.together(one) for one in range(self.count)}
        heads = {min(group): group for group in groups.values()}
        missing = {
            head: {min(groups[need]) for one in group for need in self._needs[one]} - {head}
            for head, group in heads.items()
        }
        waiting: dict[int, list[int]] = {}
        for head, needs in missing.items():
            for need in needs:
                waiting.setdefault(need, []).append(head)
        ready = [
            (min(rank[one] for one in heads[head]), head) for head in heads if not missing[head]
        ]
        heapq.heapify(ready)
        found = []
        while ready:
            _, head = heapq.heappop(ready)
            found.append(heads[head])
            for other in waiting.get(head, ()):
                missing[other].discard(head)
                if not missing[other]:
                    heapq.heappush(ready, (min(rank[one] for one in heads[other]), other))
        return found

    def together(self, one: int) -> Changes:
        """It, and what can be put back only with it, and it only with that."""
        return self.with_needed([one]) & self.with_needing([one])


def _reached(links: Sequence[Collection[int]], starts: Collection[int]) -> Changes:
    found, left = set(starts), list(starts)
    while left:
        for other in links[left.pop()]:
            if other not in found:
                found.add(other)
                left.append(other)
    return frozenset(found)


@dataclasses.dataclass
class Cure:
    """The search: a generator of questions, which is sent an `Edge` or a `Verdict` for each."""

    graph: Graph
    chances: Sequence[float]  # how suspicious each change is
    rank: Sequence[int]  # which to put back first

    def search(self) -> Generator[Chain | Single, Edge | Verdict, Cured]:
        """From a world that fails with nothing put back, and works with everything put back."""
        steps = self.graph.steps(self.rank)
        needed: Changes = frozenset()
        put_back: Changes = frozenset()
        limit = self.graph.all
        for _ in range(ROUNDS):
            chain = self._chain(steps, put_back, limit)
            edge = yield chain
            if not isinstance(edge, Edge):
                raise TypeError("a chain is answered with an edge")
            limit = chain.sets[edge.works]
            group = limit - chain.sets[edge.fails]
            needed, works = yield from self._fewest(needed, group)
            put_back = self.graph.with_needed(needed)
            if works or put_back == limit:
                break
        else:
            put_back = limit
        alone: dict[int, bool | None] = {}
        partners: dict[int, Changes] = {}
        for some in self._together(needed, lambda some: -self._chance(some))[:ROUNDS]:
            one = max(some, key=lambda one: self.chances[one])
            alone[one], found = yield from self._breaks(steps, one)
            if found:
                partners[one] = found
        return Cured(put_back, needed, alone, partners)

    def _chain(self, steps: Sequence[Changes], start: Changes, limit: Changes) -> Chain:
        sets, chances = [start], [0.0]
        for step in steps:
            more = sets[-1] | (step & limit)
            if more != sets[-1]:
                chances.append(sum(self.chances[one] for one in more - sets[-1]))
                sets.append(more)
        return Chain(tuple(sets), tuple(chances))

    def _fewest(
        self, before: Changes, group: Changes
    ) -> Generator[Chain | Single, Edge | Verdict, tuple[Changes, bool]]:
        """Of a group that cures together with much else: what cures by itself, if anything does."""
        whole = self.graph.with_needed
        ones = self._together(group, lambda some: (len(whole(some)), -self._chance(some)))
        for some in ones[:MOST] if len(ones) > 1 else ():
            verdict = yield Single(whole(before | some))
            if verdict is Verdict.PASSED:
                return before | some, True
        verdict = yield Single(whole(before | group))
        return before | group, verdict is Verdict.PASSED

    def _together(self, changes: Changes, key: Callable[[Changes], Any]) -> list[Changes]:
        """In groups that can't be apart."""
        found = {self.graph.together(one) for one in changes}
        return sorted(found, key=lambda some: (key(some), min(some)))

    def _chance(self, changes: Changes) -> float:
        return max(self.chances[one] for one in changes)

    def _breaks(
        self, steps: Sequence[Changes], one: int
    ) -> Generator[Chain | Single, Edge | Verdict, tuple[bool | None, Changes]]:
        """Whether it breaks the old world alone; else what it breaks it with."""
        new = self.graph.with_needing([one])
        found: Changes = frozenset()
        for number in range(ROUNDS):
            old = self.graph.all - new
            verdict = yield Single(old)
            if verdict is Verdict.SAME:
                return number == 0, found
            if verdict is Verdict.OTHER:
                return None, found
            chain = self._chain([step - new for step in steps], frozenset(), old)
            edge = yield chain
            if not isinstance(edge, Edge):
                raise TypeError("a chain is answered with an edge")
            group = chain.sets[edge.works] - chain.sets[edge.fails]
            partner = max(group, key=lambda one: self.chances[one])
            found |= {partner}
            new |= self.graph.with_needing([partner])
        return False, found

"""The first bad one of commits that branch and merge."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.cycle import Verdict
from zeroin.search.bisection import Bisection
from zeroin.search.graph import Graph


@st.composite
def histories(draw):
    """Each commit has one or two parents before it; all lead to the last one."""
    count = draw(st.integers(2, 40))
    parents = [()]
    for number in range(1, count):
        own = {draw(st.integers(max(0, number - 5), number - 1))}
        if draw(st.booleans()):
            own.add(draw(st.integers(0, number - 1)))
        parents.append(tuple(sorted(own, reverse=True)))
    loose = set(range(count - 1)) - {one for own in parents for one in own}
    parents[-1] = tuple(sorted({*parents[-1], *loose}, reverse=True))
    return parents


def ancestors(parents, position):
    """With itself."""
    found, left = set(), [position]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += parents[one]
    return found


def run(parents, answer, workers, seed=0, likely=()):
    """Ask to the end; whoever is ready first answers."""
    search = Graph.of(parents).expecting(likely)
    running, drawn, tries = [], random.Random(seed), 0
    while True:
        running = [one for one in running if not search.is_useless(one)]
        new = search.plan(running, workers - len(running))
        assert not set(new) & set(running)
        assert not any(map(search.is_useless, new))
        running += new
        if not running:
            return search, tries
        one = running.pop(drawn.randrange(len(running)))
        search, tries = search.told(one, answer(one)), tries + 1


@given(histories(), st.data(), st.integers(1, 4), st.integers(0, 9))
def test_the_culprit_is_found(parents, data, workers, seed):
    """Whatever branches there are, and whoever answers first."""
    last = len(parents) - 1
    culprit = data.draw(st.integers(1, last))
    likely = data.draw(st.sets(st.integers(0, last), max_size=4))

    def answer(one):
        return Verdict.SAME if culprit in ancestors(parents, one) else Verdict.PASSED

    search, _ = run(parents, answer, workers, seed, likely)
    assert search.candidates == [culprit]
    assert search.bad == culprit
    assert culprit not in ancestors(parents, search.good)


@pytest.mark.parametrize("kind", ["graph", "line"])
def test_what_is_likely_is_tried_first(kind):
    """One of five that are likely takes a few tries of a thousand; any other not many more."""
    parents = [(), *((one,) for one in range(999))]
    likely = [100, 300, 500, 700, 900]

    def tries(culprit, expected):
        if kind == "graph":
            search = Graph.of(parents).expecting(expected)
        else:
            search = Bisection.expecting(999, expected)
        count = 0
        while new := search.plan((), 1):
            count += 1
            same = new[0] >= culprit
            search = search.told(new[0], Verdict.SAME if same else Verdict.PASSED)
        assert search.bad == culprit
        return count

    assert max(tries(one, likely) for one in likely) <= 6
    plain = max(tries(one, ()) for one in (1, 333, 998))
    assert max(tries(one, likely) for one in (1, 299, 333, 998)) <= plain + 3


@given(histories(), st.data(), st.integers(1, 3))
def test_what_can_not_be_tested(parents, data, workers):
    """The culprit is among the candidates, and all others of them tell nothing."""
    last = len(parents) - 1
    culprit = data.draw(st.integers(1, last))
    mute = data.draw(st.sets(st.integers(1, last - 1))) if last > 1 else set()

    def answer(one):
        if one in mute:
            return Verdict.OTHER
        return Verdict.SAME if culprit in ancestors(parents, one) else Verdict.PASSED

    search, _ = run(parents, answer, workers)
    assert culprit in search.candidates
    assert set(search.candidates) <= mute | {search.bad}


@pytest.mark.parametrize("workers", [1, 4])
def test_few_tries(workers):
    """On a history as real ones are, about as many as in a line of the same length."""
    drawn = random.Random(1)
    parents, mainline = [()], 0
    while len(parents) < 1000:
        start, tip = mainline, mainline
        for _ in range(drawn.randrange(1, 6)):  # a branch, and what is merged meanwhile
            parents.append((tip,))
            tip = len(parents) - 1
        parents.append((start if drawn.random() < 0.5 else mainline, tip))
        mainline = len(parents) - 1
    rounds = []
    for _ in range(30):
        culprit = drawn.randrange(1, len(parents))
        last = len(parents) - 1
        if culprit not in ancestors(parents, last):
            continue
        known = {one: culprit in ancestors(parents, one) for one in range(len(parents))}
        search, count = Graph.of(parents), 0
        while new := search.plan((), workers):
            count += 1
            for one in new:
                search = search.told(one, Verdict.SAME if known[one] else Verdict.PASSED)
        assert search.candidates == [culprit]
        rounds.append(count)
    assert sum(rounds) / len(rounds) < 1.35 * math.log(len(parents), workers + 1) + 1

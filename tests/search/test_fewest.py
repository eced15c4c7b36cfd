"""The fewest parts that are needed, whatever depends on what."""

import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.search import ahead, asking
from zeroin.search.fewest import Fewest
from zeroin.search.ranges import cut, every, members, size, without

COUNTS = st.integers(0, 60)


class Asked:
    """Answers by a rule on the set of parts, and keeps count."""

    def __init__(self, rule):
        self.rule = rule
        self.seen = []

    def __call__(self, question):
        assert question not in self.seen, "asked twice"
        self.seen.append(question)
        return self.rule(frozenset(members(question)))


def _needs(needed):
    return lambda parts: needed <= parts


def _by_chance(count, seed, share):
    """Any rule at all, by which everything together is enough."""
    everything = frozenset(range(count))

    def rule(parts):
        if parts == everything:
            return True
        drawn = hashlib.sha256(f"{seed} {sorted(parts)}".encode()).digest()[0]
        return drawn < share * 256

    return rule


@st.composite
def some(draw):
    count = draw(COUNTS)
    numbers = draw(st.sets(st.integers(0, max(0, count - 1)), max_size=count))
    return count, frozenset(numbers) if count else frozenset()


@given(some())
def test_what_is_needed_is_found_exactly(one):
    """Where parts don't depend on one another, there is one answer."""
    count, needed = one
    done = asking.run(Fewest.of(count), Asked(_needs(needed)))
    assert frozenset(members(done.kept)) == needed


@given(COUNTS, st.integers(), st.sampled_from([0.02, 0.2, 0.5, 0.9]))
def test_the_result_is_1_minimal_for_any_rule(count, seed, share):
    """It still happens with the parts that are kept, and without any one of them it does not."""
    rule = _by_chance(count, seed, share)
    done = asking.run(Fewest.of(count), Asked(rule))
    kept = frozenset(members(done.kept))
    assert rule(kept)
    assert not [part for part in kept if rule(kept - {part})]


@given(some())
def test_few_questions_for_few_parts(one):
    """About log₂ n for each part that is needed, and one more each to be sure."""
    count, needed = one
    asked = Asked(_needs(needed))
    asking.run(Fewest.of(count), asked)
    most = 1 + len(needed) * (2 * math.log2(max(2, count)) + 4)
    assert len(asked.seen) <= most


def test_two_of_ten_million():
    """However many parts there are, no list of them is made."""
    needed = (1_234_567, 8_765_432)
    asked = []

    def answer(question):
        asked.append(question)
        return all(any(a <= one < b for a, b in question) for one in needed)

    done = asking.run(Fewest.of(10_000_000), answer)
    assert members(done.kept) == list(needed)
    assert len(asked) <= 60


@given(COUNTS, st.integers(), st.sampled_from([0.02, 0.2, 0.5]), st.integers(1, 8))
def test_workers_that_try_ahead_change_nothing(count, seed, share, workers):
    """The result is that of one worker, and so is what is asked for."""
    rule = _by_chance(count, seed, share)
    alone = asking.run(Fewest.of(count), Asked(rule))
    known = {}
    search, waits = Fewest.of(count), 0
    while search.question is not None:
        if search.question not in known:
            waits += 1
            wanted = ahead.questions(search, workers, known.get)
            assert wanted[0] == search.question
            assert len(set(wanted)) == len(wanted) <= workers
            known.update({one: rule(frozenset(members(one))) for one in wanted})
        search = search.told(known[search.question])
    assert search == alone


def test_four_workers_wait_less_than_half_as_often():
    """What is tried ahead is what is asked next, often enough."""
    needed = {777, 2500, 4321}
    waits = {}
    for workers in (1, 4):
        known, search, waits[workers] = {}, Fewest.of(5000), 0
        while search.question is not None:
            if search.question not in known:
                waits[workers] += 1
                for one in ahead.questions(search, workers, known.get):
                    known[one] = needed <= set(members(one))
            search = search.told(known[search.question])
    assert waits[4] <= 0.5 * waits[1]


def test_nothing_to_ask():
    """There is no question about nothing, and no answer to none."""
    assert Fewest.of(0).question is None
    with pytest.raises(ValueError, match="over"):
        Fewest.of(0).told(yes=True)


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 45), st.integers(0, 45))
def test_ranges_are_what_lists_would_be(flags, one, other):
    """Leaving out, counting, and what is left."""
    wanted = [at for at, flag in enumerate(flags) if flag]
    ranges = every(len(flags))
    for at in sorted(set(range(len(flags))) - set(wanted), reverse=True):
        ranges = cut(ranges, at, at + 1)
    assert members(ranges) == wanted
    assert size(ranges) == len(wanted)
    assert members(without(len(flags), ranges)) == [at for at, flag in enumerate(flags) if not flag]
    first, behind = min(one, other), max(one, other)
    assert members(cut(ranges, first, behind)) == wanted[:first] + wanted[behind:]

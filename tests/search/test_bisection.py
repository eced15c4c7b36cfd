"""The first bad one of a range, whoever answers first and whatever can't be tested."""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroin.cycle import Verdict
from zeroin.search.bisection import Bisection


def _rule(first, skipped=frozenset()):
    def verdict(position):
        if position in skipped:
            return Verdict.OTHER
        return Verdict.SAME if position >= first else Verdict.PASSED

    return verdict


def _search(start, verdict, workers=1, length=lambda: 1.0, in_step=False):
    """The end of a search, how long it took and how many tries it began."""
    state, now, running, tries, numbers = start, 0.0, {}, 0, itertools.count()
    while not state.is_over:
        if not (in_step and running):
            for place in state.plan(list(running), workers - len(running)):
                assert place not in running
                assert not state.is_useless(place)
                running[place] = (now + length(), next(numbers))
                tries += 1
        place = min(running, key=running.get)
        now = running.pop(place)[0]
        state = state.told(place, verdict(place))
        if not in_step:
            running = {one: end for one, end in running.items() if not state.is_useless(one)}
    return state, now, tries


def _uneven(seed):
    drawn = random.Random(seed)
    return lambda: drawn.lognormvariate(-0.32, 0.8)  # 1 in the mean


@st.composite
def ranges(draw):
    """A last position, the first bad one, and those that can't be tested, in stretches."""
    last = draw(st.integers(1, 90))
    first = draw(st.integers(1, last))
    stretches = draw(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 40)), max_size=4))
    skipped = {one for start, size in stretches for one in range(start, start + size)}
    return last, first, frozenset(skipped & set(range(1, last)))


@settings(deadline=None)
@given(ranges(), st.integers(1, 8), st.integers())
def test_any_number_of_workers_in_any_order_find_the_same(one, workers, seed):
    """The last that passes and the first that fails, of those that can be tested: nothing else."""
    last, first, skipped = one
    done, _, _ = _search(Bisection.of(last), _rule(first, skipped), workers, _uneven(seed))
    testable = [place for place in range(last + 1) if place not in skipped]
    assert done.good == max(place for place in testable if place < first)
    assert done.bad == min(place for place in testable if place >= first)
    assert list(done.candidates) == list(range(done.good + 1, done.bad + 1))
    assert first in done.candidates
    assert set(done.candidates[:-1]) <= done.skipped <= skipped


@settings(deadline=None)
@given(ranges(), st.integers(1, 8), st.integers())
def test_the_same_search_is_the_same_again(one, workers, seed):
    """Nothing is drawn by chance: the same answers at the same times, the same tries."""
    last, first, skipped = one
    again = [
        _search(Bisection.of(last), _rule(first, skipped), workers, _uneven(seed)) for _ in "12"
    ]
    assert again[0] == again[1]


@settings(deadline=None)
@given(ranges(), st.data())
def test_a_plan_uses_every_worker_that_can_be_of_use(one, data):
    """As many places as workers, or all there are; none twice, none running, none useless."""
    last, first, skipped = one
    state = Bisection.of(last)
    for place in data.draw(st.lists(st.integers(0, last), max_size=12)):
        state = state.told(place, _rule(first, skipped)(place))
    running = data.draw(st.sets(st.integers(0, last), max_size=6))
    free = data.draw(st.integers(0, 10))
    planned = state.plan(running, free)
    useful = [place for place in range(last + 1) if not state.is_useless(place)]
    assert len(set(planned)) == len(planned) == min(free, len(set(useful) - running))
    assert set(planned) <= set(useful) - running
    assert state.is_over == (not useful)


@settings(deadline=None)
@given(ranges(), st.data())
def test_useless_answers_change_nothing(one, data):
    """Nor does a second answer about the same place, even if it is another one."""
    last, first, skipped = one
    state = Bisection.of(last)
    for place in data.draw(st.lists(st.integers(0, last), max_size=12)):
        state = state.told(place, _rule(first, skipped)(place))
        assert state.is_useless(place)
        for verdict in Verdict:
            assert state.told(place, verdict) is state


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
def test_rounds_of_equal_length_are_as_few_as_can_be(workers):
    """Where all tries take the same time: the logarithm to the base n + 1, and hardly more."""
    least = math.log(1024, workers + 1)
    rounds = [_search(Bisection.of(1024), _rule(n), workers)[1] for n in range(1, 1025, 31)]
    assert statistics.mean(rounds) <= 1.15 * least
    assert max(rounds) <= math.ceil(least) + 1


def test_nobody_waits_for_a_round_to_end():
    """With uneven lengths four workers take less than half of what one takes, or four in step."""
    took = {}
    for name, workers, in_step in (("one", 1, False), ("four", 4, False), ("step", 4, True)):
        took[name] = statistics.mean(
            _search(Bisection.of(1024), _rule(seed * 17 + 1), workers, _uneven(seed), in_step)[1]
            for seed in range(60)
        )
    assert took["four"] < 0.45 * took["one"]
    assert took["four"] < 0.55 * took["step"]


@pytest.mark.parametrize("size", [1, 30, 300, 700])
def test_a_stretch_in_the_middle_costs_few_tries(size):
    """About the logarithm of its length more, not one for each member."""
    start = (1024 - size) // 2
    stretch = frozenset(range(start, start + size))
    # Also right before and right behind it, where it takes both its ends to tell.
    for first in [*range(start - 1, 0, -29), *range(start + size + 1, 1025, 29)]:
        done, _, tries = _search(Bisection.of(1024), _rule(first, stretch))
        assert list(done.candidates) == [first]
        assert tries <= 11 + 2 * math.log2(size + 1)


@pytest.mark.parametrize("size", [2, 30, 200])
def test_a_stretch_over_the_first_bad_one_ends_with_the_honest_range(size):
    """Each of it is tried, and little else: the first bad one could be any of them."""
    for start in range(1, 1024 - size, 101):
        stretch = frozenset(range(start, start + size))
        first = start + size // 2
        done, _, tries = _search(Bisection.of(1024), _rule(first, stretch))
        assert list(done.candidates) == list(range(start, start + size + 1))
        assert done.skipped == stretch
        assert tries <= size + 16


def test_chances_that_are_right_save_tries_and_wrong_ones_cost_few():
    """Ten of a thousand are likely: about log₂ 10 tries if it is one of them."""
    likely = range(50, 1000, 97)
    chances = [1.0 if place in likely else 0.0 for place in range(1025)]

    def mean(firsts):
        searches = [_search(Bisection.of(1024, chances), _rule(first)) for first in firsts]
        assert all(done.bad == first for (done, _, _), first in zip(searches, firsts, strict=True))
        return statistics.mean(tries for _, _, tries in searches)

    assert mean(likely) <= 6
    assert mean(range(1, 1024, 13)) <= 18


def test_a_range_of_bytes():
    """However many positions there are, they are never gone through."""
    stretch = range(400 * 10**9, 600 * 10**9)
    state, tries = Bisection.of(10**12), 0
    while not state.is_over:
        (place,) = state.plan((), 1)
        state = state.told(place, _rule(765_432_109_876, stretch)(place))
        tries += 1
    assert list(state.candidates) == [765_432_109_876]
    assert tries <= 48
    assert 30 < Bisection.of(10**12).tries_left(1) < 50


def test_what_is_left_is_told_about_right():
    """The estimate at the start is near what it takes, and is 0 at the end."""
    for workers in (1, 4):
        took = statistics.mean(
            _search(Bisection.of(1000), _rule(first), workers)[1] for first in range(1, 1000, 41)
        )
        assert Bisection.of(1000).tries_left(workers) == pytest.approx(took, rel=0.15)
    done, _, _ = _search(Bisection.of(1000), _rule(314))
    assert done.tries_left(4) == 0
    likely = Bisection.of(1000, [9.0 if one == 3 else 0.001 for one in range(1001)])
    assert likely.tries_left(1) < 0.3 * Bisection.of(1000).tries_left(1)
    # In a stretch most tries are in vain.
    inside = Bisection.of(20)
    for place in range(4, 17, 3):
        inside = inside.told(place, Verdict.OTHER)
    assert inside.tries_left(1) > 2 * Bisection.of(20).tries_left(1)


def test_a_range_has_a_good_and_a_bad_end():
    """One position is no range, and each position has its chance."""
    with pytest.raises(ValueError, match="nothing between"):
        Bisection.of(0)
    for chances in ([1.0] * 4, [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match="6 numbers"):
            Bisection.of(5, chances)
    assert Bisection.of(1).is_over
    assert list(Bisection.of(1).candidates) == [1]

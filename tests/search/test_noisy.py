"""Failures that show only in some runs: what is found, and how sure it is."""

import itertools
import math
import random
import statistics
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import run_size
from zeroin.search.noisy import Noisy

ENDS = 10  # runs of either end before a search


def _begun(last, bad, good, drawn, doubt=None):
    """Both ends were run, the bad one until it had failed twice."""
    ends = {"good": (sum(drawn.random() < good for _ in range(ENDS)), ENDS)}
    fails = runs = 0
    while runs < ENDS or fails < 2:
        runs, fails = runs + 1, fails + (drawn.random() < bad)
    return Noisy.of(last, bad=(fails, runs), **ends, **({} if doubt is None else {"doubt": doubt}))


def _search(seed, last, bad, good, workers=1, doubt=None):
    """The end of a search, what it was to find, how many runs and how many rounds it took."""
    drawn = random.Random(seed)
    first, state = drawn.randint(1, last), _begun(last, bad, good, drawn, doubt)
    runs = rounds = 0
    while not state.is_over:
        planned = state.plan((), workers)
        for place in planned:
            state = state.told(place, drawn.random() < (bad if place >= first else good))
        runs, rounds = runs + len(planned), rounds + 1
    return state, first, runs, rounds


def _by_repetition(seed, last, bad, repeats):
    """Plain bisection, in which one failure of so many runs makes a place bad."""
    drawn = random.Random(seed)
    first, low, high, runs = drawn.randint(1, last), 0, last, 0
    while high - low > 1:
        place = (low + high) // 2
        fails = [place >= first and drawn.random() < bad for _ in range(repeats)]
        runs += repeats
        low, high = (low, place) if any(fails) else (place, high)
    return high == first, runs


@pytest.mark.slow
def test_three_of_ten_runs_fail():
    """It is right in 95 of 100 searches, in fewer runs than if each place is run so often."""
    searches = [_search(seed, 128, 0.3, 0) for seed in range(100)]
    assert statistics.mean(state.answer == first for state, first, _, _ in searches) >= 0.95
    # So often that seven answers in a row are right with the same confidence.
    repeats = math.ceil(math.log(0.05 / 7) / math.log(0.7))
    plain = [_by_repetition(seed, 128, 0.3, repeats) for seed in range(200)]
    assert statistics.mean(right for right, _ in plain) >= 0.93
    ours = statistics.mean(runs for _, _, runs, _ in searches)
    assert ours < 0.8 * statistics.mean(runs for _, runs in plain)


RATES = [
    *((bad, 0) for bad in (0.1, 0.3, 0.6, 0.95, 1)),
    *((bad, 0.05) for bad in (0.3, 0.6, 0.95, 1)),
    *((bad, 0.2) for bad in (0.6, 0.95, 1)),
]


@pytest.mark.slow
def test_it_is_right_as_often_as_it_says():
    """For every rate, also where good ones fail: within what so many searches can show."""
    count, last = (200, 128) if run_size.ACCEPTANCE else (30, 32)
    rights = {
        rates: statistics.mean(
            state.answer == first
            for state, first, _, _ in (_search(seed, last, *rates) for seed in range(count))
        )
        for rates in RATES
    }
    for rates, share in rights.items():
        assert share >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / count), rates
    whole = count * len(RATES)
    assert statistics.mean(rights.values()) >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / whole)


COUNTS = st.lists(
    st.tuples(st.integers(0, 12), st.booleans()), max_size=14
)  # runs of a range of 12, and whether they failed


def _after(runs, last=12, **given_):
    state = Noisy.of(last, **given_)
    for place, failed in runs:
        state = state.told(place, failed)
    return state


@settings(max_examples=25, deadline=None)
@given(COUNTS, st.sampled_from([0.1, 0.8]))
def test_the_chances_are_those_of_all_rates_together(runs, doubt):
    """As summed up over a fine grid of both rates."""
    steps = 200
    # Equal steps of an angle: their squared sine has the density of the prior when bad.
    bads = [math.sin(math.pi / 2 * (at + 0.5) / steps) ** 2 for at in range(steps)]
    goods = [((at + 0.5) / steps) ** 2 for at in range(steps)]  # density like 1 / sqrt(rate)

    def likely(rate, seen):
        return math.prod(rate if failed else 1 - rate for failed in seen)

    weights = []
    for first in range(1, 13):
        bad = [failed for place, failed in runs if place >= first]
        good = [failed for place, failed in runs if place < first]
        sometimes = statistics.mean(likely(rate, good) for rate in goods)
        either = doubt * sometimes + (1 - doubt) * likely(0.0, good)
        weights.append(either * statistics.mean(likely(rate, bad) for rate in bads))
    posterior = _after(runs, doubt=doubt).posterior
    for group, first in itertools.product(posterior.groups, range(1, 13)):
        if group.before < first <= group.behind:
            assert group.each == pytest.approx(weights[first - 1] / sum(weights), abs=0.01)


@settings(deadline=None)
@given(COUNTS, st.integers(0, 12))
def test_what_a_run_tells_is_what_it_changes_in_the_mean(runs, place):
    """The gain is the bits that are lost in the mean, and never below 0."""

    def bits(state):
        return -sum(
            one.mass * math.log2(one.each) for one in state.posterior.groups if one.mass > 0
        )

    state = _after(runs)
    fails = state.posterior.fails(place)
    after = sum(
        share * bits(state.told(place, failed))
        for failed, share in ((True, fails), (False, 1 - fails))
    )
    assert state.posterior.gain(place) == pytest.approx(bits(state) - after, abs=1e-6)
    assert state.posterior.gain(place) >= -1e-9


@settings(deadline=None)
@given(COUNTS, st.randoms(use_true_random=False))
def test_the_order_of_answers_does_not_matter(runs, shuffler):
    """What is known is how often each place has failed, whoever was first."""
    mixed = list(runs)
    shuffler.shuffle(mixed)
    assert _after(mixed) == _after(runs)
    assert _after(mixed).plan([3], 3) == _after(runs).plan([3], 3)


def _with_halved_odds(chance):
    return chance / (chance + 2 * (1 - chance))


@settings(deadline=None)
@given(COUNTS)
def test_candidates_hold_the_answer_and_none_is_there_in_vain(runs):
    """Without the least probable ones of them they would hold too little."""
    state = _after(runs)
    groups = state.posterior.groups
    inside = [one for one in groups if one.behind in state.candidates]
    assert len(state.candidates) == sum(one.behind - one.before for one in inside)
    assert state.answer in state.candidates
    assert _with_halved_odds(sum(one.mass for one in inside)) >= state.confidence
    least = min(inside, key=lambda one: one.each)
    fewer = sum(one.mass for one in inside if one is not least)
    assert _with_halved_odds(fewer) < state.confidence
    assert min(one.each for one in inside) >= max(
        (one.each for one in groups if one not in inside), default=0
    )


def test_a_failure_at_the_good_end_ends_all_belief_in_never():
    """Whatever was thought before, both rates are unknown from then on."""
    seen = [
        [
            one.each
            for one in _after([(0, True), (5, False), (7, True)], doubt=doubt).posterior.groups
        ]
        for doubt in (0.01, 0.99)
    ]
    assert seen[0] == pytest.approx(seen[1])
    other = [
        _after([(0, False), (5, False), (7, True)], doubt=doubt).chance for doubt in (0.01, 0.99)
    ]
    assert other[0] > 1.05 * other[1]


@settings(deadline=None)
@given(st.integers(1, 60), st.data(), st.integers(1, 6))
def test_what_always_fails_is_found_whoever_answers_first(last, data, workers):
    """With untestable stretches: the honest candidates, and no place is planned in vain."""
    first = data.draw(st.integers(1, last))
    start, size = data.draw(st.tuples(st.integers(1, 60), st.integers(0, 20)))
    stretch = set(range(start, start + size)) & set(range(1, last))
    state, running = Noisy.of(last, good=(0, 9), bad=(9, 9)), []
    for _ in range(400):
        if state.is_over:
            break
        running += state.plan(running, workers - len(running))
        assert len(running) == workers
        assert not state.untestable & set(running)
        place = running.pop(data.draw(st.integers(0, workers - 1)))
        if place in stretch:
            state = state.told_untestable(place)
            running = [one for one in running if one != place]
        else:
            state = state.told(place, place >= first)
    assert state.is_over
    testable = [one for one in range(last + 1) if one not in stretch]
    low = max(one for one in testable if one < first)
    high = min(one for one in testable if one >= first)
    assert state.answer == high
    assert set(range(low + 1, high + 1)) <= set(state.candidates)


def test_four_workers_need_less_than_half_of_the_rounds():
    """What is running is thought of: four at once tell more than one four times."""
    alone = statistics.mean(_search(seed, 128, 0.6, 0)[3] for seed in range(25))
    four = statistics.mean(_search(seed, 128, 0.6, 0, workers=4)[3] for seed in range(25))
    assert four < 0.4 * alone


def test_a_plan_for_a_thousand_is_made_at_once():
    """Less than 20 ms of one processor, beside three that are running."""
    state = Noisy.of(1024, good=(0, 10), bad=(3, 10))
    drawn = random.Random(5)
    for _ in range(60):
        (place,) = state.plan((), 1)
        state = state.told(place, place >= 700 and drawn.random() < 0.3)
    took = []
    for place in range(5):
        started = time.process_time()
        state.told(500 + place, failed=False).plan([690, 700, 710], 1)
        took.append(time.process_time() - started)
    assert min(took) < 0.020


@settings(deadline=None)
@given(COUNTS, st.integers(1, 3))
def test_what_is_running_counts_as_what_was_planned(runs, first):
    """Four workers that become free one after the other get what four get at once."""
    state = _after(runs)
    together = state.plan((), 4)
    assert together[first:] == state.plan(together[:first], 4 - first)


def test_workers_spread_over_what_is_unknown():
    """Where runs tell much, no two are at one place; where they tell little, some may be."""
    assert len(set(Noisy.of(128, good=(0, 40), bad=(40, 40)).plan((), 4))) == 4


@settings(deadline=None)
@given(COUNTS, st.integers(0, 4))
def test_the_same_state_gives_the_same_plan(runs, free):
    """Nothing is drawn by chance."""
    assert _after(runs).plan([4, 4, 9], free) == _after(runs).plan([4, 4, 9], free)
    assert len(_after(runs).plan([], free)) == free


def test_what_can_not_be():
    """One position is no range, no more can fail than was run, and nothing is run outside."""
    with pytest.raises(ValueError, match="nothing between"):
        Noisy.of(0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Noisy.of(5, confidence=1)
    with pytest.raises(ValueError, match="can have failed"):
        Noisy.of(5, good=(3, 2))
    for place in (-1, 6):
        with pytest.raises(ValueError, match="not in the range"):
            Noisy.of(5).told(place, failed=True)
    tested = Noisy.of(5).told(3, failed=True)
    assert tested.told_untestable(3) is tested

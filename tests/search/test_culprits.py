"""Which changes are needed for a failure, where many combinations can't be tested."""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroin.cycle import Verdict
from zeroin.search import ahead, asking
from zeroin.search.culprits import Asks, Culprits, Question, advanced, tries
from zeroin.search.fewest import Fewest
from zeroin.search.ranges import members, packed


def _found(count, rule, workers=1):
    """What is kept at the end, all verdicts that were asked for, and how many rounds it took."""
    verdicts, search, rounds = {}, advanced(Culprits.of(count), {}), 0
    while search.question is not None:
        wanted = tries(search, workers, verdicts)
        assert wanted[0] == search.question.parts
        assert len(set(wanted)) == len(wanted) <= workers
        assert not set(wanted) & set(verdicts), "asked twice"
        assert () not in wanted, "nothing at all is known to pass"
        verdicts.update((parts, rule(frozenset(members(parts)))) for parts in wanted)
        search, rounds = advanced(search, verdicts), rounds + 1
    return search, verdicts, rounds


def _needing(culprits, needs):
    """A change without those that it needs can't be tested."""

    def rule(parts):
        if any(not needs.get(one, frozenset()) <= parts for one in parts):
            return Verdict.OTHER
        return Verdict.SAME if culprits <= parts else Verdict.PASSED

    return rule


def _with_needs(culprits, needs):
    """The culprits, and all that they can't be tested without: the one smallest answer."""
    whole = set(culprits)
    while more := set().union(*(needs.get(one, ()) for one in whole)) - whole:
        whole |= more
    return tuple(sorted(whole))


def _by_chance(count, seed, shares):
    """Any rule at all, by which everything fails and nothing passes."""

    def rule(parts):
        if len(parts) == count:
            return Verdict.SAME
        drawn = hashlib.sha256(f"{seed} {sorted(parts)}".encode()).digest()[0] / 256
        same, other = shares
        return Verdict.SAME if drawn < same else Verdict.OTHER if drawn < other else Verdict.PASSED

    return rule


SHARES = st.sampled_from([(0.02, 0.5), (0.02, 0.95), (0.3, 0.9), (0.5, 0.6)])


@settings(deadline=None)
@given(st.integers(1, 24), st.integers(), SHARES)
def test_the_result_was_seen_to_fail_and_no_change_of_it_can_go(count, seed, shares):
    """Whatever can be tested: it is the same failure, and without any one change it is not."""
    rule = _by_chance(count, seed, shares)
    search, verdicts, _ = _found(count, rule)
    kept = search.kept
    assert len(kept) == count or verdicts[packed(kept)] is Verdict.SAME
    for gone in kept:
        rest = [one for one in kept if one != gone]
        assert not rest or rule(frozenset(rest)) is not Verdict.SAME


@st.composite
def culprits(draw, most=30):
    count = draw(st.integers(2, most))
    return count, frozenset(draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=3)))


@settings(deadline=None)
@given(culprits(), st.data())
def test_pairs_that_need_each_other_are_no_part_of_the_result(one, data):
    """Wherever the two stand; and both are there where one of them is a culprit."""
    count, needed = one
    order = data.draw(st.permutations(range(count)))
    pairs = data.draw(st.integers(0, count // 2))
    needs = {}
    for first, second in zip(order[:pairs], order[pairs : 2 * pairs], strict=True):
        needs[first], needs[second] = frozenset([second]), frozenset([first])
    search, _, _ = _found(count, _needing(needed, needs))
    assert search.kept == _with_needs(needed, needs)


@settings(deadline=None)
@given(culprits(40), st.lists(st.sampled_from([1, 1, 2, 3, 4, 6, 8]), max_size=16))
def test_neighbours_that_need_each_other_are_no_part_of_the_result(one, sizes):
    """Groups of up to eight, side by side."""
    count, needed = one
    needs, start = {}, 0
    for size in sizes:
        group = frozenset(range(start, min(count, start + size)))
        if len(group) == size:
            needs |= {member: group - {member} for member in group}
        start += size
    search, _, _ = _found(count, _needing(needed, needs))
    assert search.kept == _with_needs(needed, needs)


@settings(deadline=None)
@given(culprits(), st.randoms(use_true_random=False), st.floats(0, 1))
def test_what_builds_on_one_another_goes_from_the_last(one, drawn, share):
    """Changes that need others, in any order but in no circle: exactly what must be there."""
    count, needed = one
    order = list(range(count))
    drawn.shuffle(order)
    needs = {
        order[at]: frozenset(drawn.sample(order[:at], min(at, drawn.randint(1, 3))))
        for at in range(1, count)
        if drawn.random() < share
    }
    search, _, _ = _found(count, _needing(needed, needs))
    assert search.kept == _with_needs(needed, needs)


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(), SHARES, st.integers(2, 8))
def test_workers_find_the_same(count, seed, shares, workers):
    """Any number of them, for any rule; and what one asks for, they have asked for too."""
    rule = _by_chance(count, seed, shares)
    alone, asked, _ = _found(count, rule)
    together, more, _ = _found(count, rule, workers)
    assert together == alone
    assert asked.items() <= more.items()


def _far_pairs(seed=3, count=60, pairs=10):
    drawn = random.Random(seed)
    ones = drawn.sample(range(count), 2 * pairs)
    needs = {}
    for first, second in zip(ones[::2], ones[1::2], strict=True):
        needs[first], needs[second] = frozenset([second]), frozenset([first])
    return count, needs, ones


def test_four_workers_wait_less_than_half_as_often_for_pairs():
    """What is tried ahead is what is asked next."""
    count, needs, ones = _far_pairs()
    rule = _needing(frozenset([ones[0], 5]), needs)
    _, _, alone = _found(count, rule)
    _, _, four = _found(count, rule, workers=4)
    assert four < 0.4 * alone


def test_one_by_one_is_not_enough_for_pairs():
    """The trap: a search that takes what can't be tested for needed keeps every pair."""
    count, needs, ones = _far_pairs()
    rule = _needing(frozenset([ones[0], 5]), needs)
    plain = asking.run(
        Fewest.of(count), lambda parts: rule(frozenset(members(parts))) is Verdict.SAME
    )
    search, verdicts, _ = _found(count, rule)
    assert len(members(plain.kept)) > 12
    assert len(search.kept) == 3
    assert len(verdicts) < 400


def test_all_that_is_in_the_way_goes_at_once():
    """Where no culprit is in it, one try ends a group of any size that stands anywhere."""
    group = frozenset([3, 9, 14, 15, 27, 40, 55])
    needs = {one: group - {one} for one in group}
    search, verdicts, _ = _found(60, _needing(frozenset([20, 41]), needs))
    assert search.kept == (20, 41)
    assert len(verdicts) < 70


def test_near_pairs_are_tried_first():
    """Of pairs that stand five apart, none of which can go as a block of neighbours."""
    needs = {}
    for first in (*range(5), *range(10, 15), *range(20, 25)):
        needs[first], needs[first + 5] = frozenset([first + 5]), frozenset([first])
    search, verdicts, _ = _found(30, _needing(frozenset([0, 10, 20]), needs))
    assert search.kept == (0, 5, 10, 15, 20, 25)
    assert len(verdicts) < 400  # 567 with the far ones first


@pytest.mark.parametrize(
    ("verdict", "same", "tested"),
    [
        (Verdict.SAME, True, True),
        (Verdict.PASSED, False, True),
        (Verdict.OTHER, False, False),
        (None, None, None),
    ],
)
def test_one_try_answers_both_questions(verdict, same, tested):
    """What failed in another way never counts as the failure, nor as tested."""
    assert Question(((0, 1),)).answer(verdict) is same
    assert Question(((0, 1),), Asks.TESTED).answer(verdict) is tested


def test_one_change_is_the_culprit_without_a_try():
    """Nothing passes and everything fails: with one change there is nothing to ask."""
    for count in (0, 1):
        search = Culprits.of(count)
        assert search.question is None
        assert search.kept == tuple(range(count))
        assert ahead.questions(search, 4, lambda _: None) == []
        with pytest.raises(ValueError, match="over"):
            search.told(yes=True)

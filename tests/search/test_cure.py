"""What to put back, where not everything goes with everything."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.cycle import Verdict
from zeroin.search.bisection import Bisection
from zeroin.search.cure import Chain, Cure, Edge, Graph

MIRROR = {Verdict.SAME: Verdict.PASSED, Verdict.PASSED: Verdict.SAME, Verdict.OTHER: Verdict.OTHER}


class World:
    """Fails if all changes of one of the bad sets are new; counts how often it is asked."""

    def __init__(self, graph, bad):
        self.graph, self.bad = graph, [frozenset(one) for one in bad]
        self.known = {}

    def verdict(self, put_back):
        if put_back not in self.known:
            self.known[put_back] = self._look(put_back)
        return self.known[put_back]

    def _look(self, put_back):
        new = self.graph.all - put_back
        return Verdict.SAME if any(one <= new for one in self.bad) else Verdict.PASSED

    def edge(self, chain):
        search = Bisection.of(len(chain.sets) - 1, chain.chances)
        while not search.is_over:
            (at,) = search.plan((), 1)
            search = search.told(at, MIRROR[self.verdict(chain.sets[at])])
        return Edge(search.good, search.bad)


def solve(world, chances=None, rank=None):
    count = world.graph.count
    cure = Cure(world.graph, chances or [1.0] * count, rank or list(range(count)))
    search = cure.search()
    assert world.verdict(frozenset()) is Verdict.SAME
    assert world.verdict(world.graph.all) is Verdict.PASSED
    question = next(search)
    while True:
        if isinstance(question, Chain):
            assert world.verdict(question.sets[0]) is Verdict.SAME
            assert world.verdict(question.sets[-1]) is Verdict.PASSED
            reply = world.edge(question)
        else:
            reply = world.verdict(question.put_back)
        try:
            question = search.send(reply)
        except StopIteration as over:
            return over.value


@st.composite
def graphs(draw, most=30):
    count = draw(st.integers(2, most))
    one = st.integers(0, count - 1)
    return Graph(count, draw(st.lists(st.tuples(one, one), max_size=2 * count)))


@given(graphs(), st.data())
def test_each_step_is_whole(graph, data):
    """Whatever the ranks, all steps up to any one can be put back together, and all come."""
    rank = data.draw(st.lists(st.integers(0, 9), min_size=graph.count, max_size=graph.count))
    steps = graph.steps(rank)
    assert sorted(itertools.chain(*steps)) == list(range(graph.count))
    for behind in range(len(steps) + 1):
        put_back = frozenset(itertools.chain(*steps[:behind]))
        assert graph.with_needed(put_back) == put_back


@given(graphs(), st.data())
def test_one_culprit(graph, data):
    """It is among what is put back, and whatever is put back cures."""
    culprit = data.draw(st.integers(0, graph.count - 1))
    world = World(graph, [[culprit]])
    found = solve(world)
    assert culprit in found.put_back
    assert world.verdict(found.put_back) is Verdict.PASSED
    assert culprit in found.needed
    assert world.verdict(graph.all - graph.with_needing([culprit])) is Verdict.SAME
    assert found.needed == graph.together(culprit)
    assert found.put_back == graph.with_needed([culprit])
    assert list(found.alone.values()) == [True]


@given(graphs(), st.data())
def test_what_cannot_be_together_is_never_tried(graph, data):
    """Each mix that is asked about has what it needs, whatever breaks."""
    one = st.integers(0, graph.count - 1)
    bad = data.draw(st.lists(st.sets(one, min_size=1, max_size=2), min_size=1, max_size=2))
    world = World(graph, bad)
    solve(world)
    assert [mix for mix in world.known if graph.with_needed(mix) != mix] == []


@given(st.integers(3, 40), st.data())
def test_two_that_break_only_together(count, data):
    """One is put back, and the other one is named with it."""
    pair = data.draw(st.sets(st.integers(0, count - 1), min_size=2, max_size=2))
    found = solve(World(Graph(count, []), [pair]))
    (one,) = found.needed
    assert found.alone == {one: False}
    assert found.partners == {one: pair - {one}}


@given(st.integers(3, 40), st.data())
def test_two_that_break_each_alone(count, data):
    """Both have to be put back."""
    pair = data.draw(st.sets(st.integers(0, count - 1), min_size=2, max_size=2))
    found = solve(World(Graph(count, []), [[one] for one in pair]))
    assert found.needed == found.put_back == pair
    assert found.alone == dict.fromkeys(pair, True)


@given(st.integers(4, 30), st.data())
def test_three_that_break_only_together(count, data):
    """Two partners of the one that is put back."""
    three = data.draw(st.sets(st.integers(0, count - 1), min_size=3, max_size=3))
    found = solve(World(Graph(count, []), [three]))
    (one,) = found.needed
    assert found.partners == {one: three - {one}}


@pytest.mark.parametrize("count", [150, 178])
def test_tries_for_one(count):
    """Wherever it is among so many: both ends, halving, the culprit alone, the old world."""
    for culprit in range(0, count, 7):
        world = World(Graph(count, []), [[culprit]])
        assert solve(world).needed == {culprit}
        assert len(world.known) <= 2 + math.ceil(math.log2(count)) + 2 <= 12


def test_tries_for_two():
    """Two that break together, among 150."""
    for first, second in itertools.combinations(range(0, 150, 29), 2):
        world = World(Graph(150, []), [[first, second]])
        solve(world)
        assert len(world.known) <= 22


def test_suspects_are_found_sooner():
    """Chances save tries, and where they are wrong it is found all the same."""
    chances = [20.0 if one in (40, 90) else 0.1 for one in range(150)]
    right, wrong = World(Graph(150, []), [[90]]), World(Graph(150, []), [[91]])
    assert solve(right, chances).needed == {90}
    assert len(right.known) <= 7
    assert solve(wrong, chances).needed == {91}
    assert len(wrong.known) <= 16


def test_mixes_that_tell_nothing():
    """Stretches that can't be tested widen what is looked at one by one, no more."""
    graph = Graph(20, [])
    world = World(graph, [[9]])
    blind = {frozenset(range(k)) for k in (9, 10, 11)}
    plain = world._look
    world._look = lambda put_back: Verdict.OTHER if put_back in blind else plain(put_back)
    found = solve(world)
    assert found.needed == {9}

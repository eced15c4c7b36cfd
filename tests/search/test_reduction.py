"""Payloads that get smaller round by round."""

import dataclasses
import hashlib

from hypothesis import given
from hypothesis import strategies as st

from zeroin.search import asking
from zeroin.search.ranges import members
from zeroin.search.reduction import Reduction


@dataclasses.dataclass(frozen=True)
class Tree:
    """Nested tuples of numbers: levels from the outside in, then numbers that become 0."""

    value: tuple

    def rounds(self):
        deep = _depth(self.value)
        return [*(Level(self, level) for level in range(1, deep + 1)), Zeros(self)]


@dataclasses.dataclass(frozen=True)
class Level:
    tree: Tree
    level: int

    @property
    def count(self):
        return len(list(_at(self.tree.value, self.level)))

    def keep(self, parts):
        kept = set(members(parts))
        numbers = iter(range(self.count))
        return Tree(_only(self.tree.value, self.level, lambda: next(numbers) in kept))


@dataclasses.dataclass(frozen=True)
class Zeros:
    tree: Tree

    @property
    def count(self):
        return sum(number != 0 for number in _leaves(self.tree.value))

    def keep(self, parts):
        kept = set(members(parts))
        numbers = iter(range(self.count))
        return Tree(_mapped(self.tree.value, lambda n: n if n and next(numbers) in kept else 0))


def _depth(value):
    return 1 + max(map(_depth, value), default=0) if isinstance(value, tuple) else 0


def _at(value, level):
    if isinstance(value, tuple):
        for one in value:
            yield from [one] if level == 1 else _at(one, level - 1)


def _only(value, level, wanted):
    if not isinstance(value, tuple):
        return value
    if level == 1:
        return tuple(one for one in value if wanted())
    return tuple(_only(one, level - 1, wanted) for one in value)


def _leaves(value):
    if not isinstance(value, tuple):
        yield value
        return
    for one in value:
        yield from _leaves(one)


def _mapped(value, change):
    if not isinstance(value, tuple):
        return change(value)
    return tuple(_mapped(one, change) for one in value)


NUMBERS = st.integers(1, 9)
TREES = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=5).map(tuple), max_leaves=25)


def _single_steps(payload):
    """All payloads that are one part smaller, in any round."""
    for one in payload.rounds():
        for part in range(one.count):
            yield one.keep(
                tuple(
                    (start, stop)
                    for start, stop in ((0, part), (part + 1, one.count))
                    if start < stop
                )
            )


def _reduced(payload, fails):
    return asking.run(Reduction.of(payload), lambda one: fails(one.payload())).payload


@given(st.lists(TREES, max_size=5).map(tuple), NUMBERS)
def test_one_number_is_left(value, needed):
    """With one number that matters, all that is left is what leads to it."""

    def fails(tree):
        return needed in _leaves(tree.value)

    start = Tree(value)
    if not fails(start):
        return
    done = _reduced(start, fails)
    assert list(_leaves(done.value)) == [needed]


@given(st.lists(TREES, max_size=4).map(tuple), st.integers(), st.sampled_from([0.1, 0.5]))
def test_nothing_more_can_go_in_any_round(value, seed, share):
    """The result fails, and no single part of any round can be left out of it."""
    start = Tree(value)

    def fails(tree):
        drawn = hashlib.sha256(f"{seed} {tree.value}".encode()).digest()[0]
        return tree == start or drawn < share * 256

    done = _reduced(start, fails)
    assert fails(done)
    assert not [one for one in _single_steps(done) if one != done and fails(one)]


def test_nothing_is_asked_of_an_empty_payload():
    assert Reduction.of(Tree(())).question is None

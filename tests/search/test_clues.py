"""Guesses by the words of a failure."""

import dataclasses
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.search.clues import MISSES, Clues
from zeroin.search.ranges import members
from zeroin.search.reduction import Reduction


@dataclasses.dataclass(frozen=True)
class Rows:
    """Texts, each of which can go, as a whole and then word by word."""

    rows: tuple[str, ...]

    def rounds(self):
        return [Whole(self), Words(self)]


@dataclasses.dataclass(frozen=True)
class Whole:
    of: Rows

    @property
    def count(self):
        return len(self.of.rows)

    def texts(self):
        return self.of.rows

    def keep(self, parts):
        return Rows(tuple(self.of.rows[one] for one in members(parts)))


@dataclasses.dataclass(frozen=True)
class Words:
    of: Rows

    @property
    def count(self):
        return len(self.texts())

    def texts(self):
        return [word for row in self.of.rows for word in row.split()]

    def keep(self, parts):
        kept, at, rows = set(members(parts)), 0, []
        for row in self.of.rows:
            words = row.split()
            rows.append(" ".join(word for n, word in enumerate(words, at) if n in kept))
            at += len(words)
        return Rows(tuple(rows))


def asked(payload, fails, clues):
    """What is left, and how many questions that took."""
    search, count = Reduction.of(payload, clues), 0
    while (question := search.question) is not None:
        count += 1
        search = search.told(fails(question.payload()))
    return search.payload, count


MANY = Rows(tuple(f"row {n} of {n * 7919 % 10007} things" for n in range(5000)))


def needs(*words):
    """It fails with rows that have all of them."""
    return lambda payload: set(words) <= {word for row in payload.rows for word in row.split()}


@pytest.mark.parametrize(
    ("said", "words"),
    [(["no price in row 4321"], ["4321"]), (["1234 > 3210"], ["1234", "3210"])],
    ids=["one", "two"],
)
def test_a_message_that_names_it(said, words):
    """Of five thousand rows those are left that hold its words, after a few questions."""
    left, count = asked(MANY, needs(*words), Clues.of([said]))
    found = [word for row in left.rows for word in row.split()]
    assert (sorted(found), len(left.rows) <= len(words)) == (words, True)
    without = asked(MANY, needs(*words), Clues.of([]))
    assert without[0] == left
    assert count <= without[1] - 12 * len(words)  # that is about log₂ n for each


def test_who_has_most_of_the_words_comes_first():
    """Each value of a row is in some other row, too; only it has them all."""
    values = ["row", "17", str(17 * 7919 % 10007), "1000", "2000", "3000", "things"]
    rows = Rows((*MANY.rows[:17], f"{MANY.rows[17]} 1000 2000 3000 bad", *MANY.rows[18:]))
    left, count = asked(rows, needs("bad"), Clues.of([values]))
    without, plain = asked(rows, needs("bad"), Clues.of([]))
    assert left == without == Rows(("bad",))
    assert count <= plain - 12


@pytest.mark.parametrize("kinds", [1, 2])
def test_what_misleads_costs_little(kinds):
    """Twice for each kind of words, then it is believed no more."""
    clues = Clues.of([["1 2 3 4"], ["5 6 7 8"]][:kinds])
    left, count = asked(MANY, needs("4321"), clues)
    without, plain = asked(MANY, needs("4321"), Clues.of([]))
    assert left == without
    assert plain <= count <= plain + MISSES * kinds


@given(
    st.lists(st.text("abc ", max_size=6), max_size=20).map(tuple),
    st.text("abc ", max_size=8),
    st.integers(),
    st.sampled_from([0.1, 0.5]),
)
def test_the_result_is_as_small_with_any_words(rows, said, seed, share):
    """It fails, and no single part of any round can be left out of it."""
    start = Rows(rows)

    def fails(payload):
        drawn = hashlib.sha256(f"{seed} {payload.rows}".encode()).digest()[0]
        return payload == start or drawn < share * 256

    left, _ = asked(start, fails, Clues.of([[said]]))
    assert fails(left)
    for one in left.rounds():
        for part in range(one.count):
            ranges = ((0, part), (part + 1, one.count))
            less = one.keep(tuple((a, b) for a, b in ranges if a < b))
            assert less == left or not fails(less)

"""Looking for one that works: further and further back, then between the steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_how_sure import FAILURE, SLOW, Workers, made_tries

from zeroin.cycle import Kind, Outcome, Signature
from zeroin.tools.bisect import backwards

OTHER = Signature(*["ImportError at <module>"] * 3)


class Row(Workers):
    """A letter a place, the newest first: bad, good, or broken in another way."""

    def __init__(self, letters: str) -> None:
        super().__init__(lambda _: False)
        self._letters = letters

    def _outcome(self, name):
        letter = self._letters[int(name)]
        if letter == "g":
            return Outcome(Kind.PASSED, 0, seconds=SLOW)
        failure = FAILURE if letter == "b" else OTHER
        return Outcome(Kind.FAILED, 1, failure, "it failed", SLOW)


def walked(letters, *, fixed=False, at_once=1):
    tries, _ = made_tries(lambda _: False, jobs=at_once)
    tries._pool = Row(letters)
    tries.run(["0"])
    found = backwards.walk(tries, [str(n) for n in range(len(letters))], fixed=fixed)
    return found, [trial.name for trial in tries._pool.started][1:]


@pytest.mark.parametrize(
    ("letters", "good", "bad", "tried"),
    [
        ("bg", "1", "0", ["1"]),
        ("bbbbgggggg", "4", "2", ["1", "2", "4"]),
        ("bbbbbbbbbbbb", "", "11", ["1", "2", "4", "8", "11"]),
        ("b", "", "0", []),
    ],
)
def test_each_step_is_twice_as_far(letters, good, bad, tried):
    """Until one works, or to the first of all; what fails in the same way is the new bad end."""
    found, started = walked(letters)
    assert (found.good, found.bad, started) == (good, bad, tried + started[len(tried) :])


def test_what_works_between_two_steps_is_found():
    """A step led past it, to where something else is broken."""
    found, started = walked("bbbbbgoooooooooooooooooooo")
    assert (found.good, found.otherwise) == ("5", "8")
    assert found.bad == "4"
    assert started == ["1", "2", "4", "8", "16", "25", "6", "5"]


def test_what_is_broken_in_another_way_is_told():
    """Where nothing works at all, after a bounded number of tries."""
    found, started = walked("bb" + "o" * 500)
    assert (found.good, found.bad, found.otherwise) == ("", "1", "2")
    assert len(started) <= 10 + backwards.BETWEEN


def test_what_failed_is_looked_for_where_a_repair_is_asked_for():
    """Then all is the other way round."""
    found, _ = walked("ggggb", fixed=True)
    assert (found.good, found.bad) == ("4", "2")


@given(st.text("bgo", max_size=60))
def test_the_answer_is_always_right(rest):
    """What is called good works, what is called bad fails in the same way, and is newer."""
    letters = "b" + rest
    found, started = walked(letters)
    assert letters[int(found.bad)] == "b"
    assert len(started) == len(set(started))
    if found.good:
        assert letters[int(found.good)] == "g"
        assert int(found.bad) < int(found.good)


@given(st.integers(0, 200), st.integers(1, 200))
def test_all_between_are_there_once(first, count):
    """In an order that begins in the middle."""
    order = backwards.spread(first, first + count)
    assert sorted(order) == list(range(first, first + count))
    assert order[0] == first + count // 2

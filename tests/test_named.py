"""Tuples with names are those of `typing`, but for what they cost at the start."""

import pickle
import typing

import pytest

from zeroin import named


class Place(named.NamedTuple):
    """Where something is."""

    file: str
    line: int = 1

    def text(self):
        return f"{self.file}:{self.line}"


class Theirs(typing.NamedTuple):
    """Where something is."""

    file: str
    line: int = 1


class Deep(Place):
    """One that adds to it."""


@pytest.mark.parametrize(
    "do",
    [
        lambda kind: kind("a.py"),
        lambda kind: kind("a.py", 2)._replace(line=3),
        lambda kind: kind(file="a.py")._asdict(),
        lambda kind: kind._make(["a.py", 4]),
        lambda kind: (kind._fields, kind._field_defaults, kind.__doc__, kind.__match_args__),
        lambda kind: kind("a.py").line,
        lambda kind: kind("a.py") == ("a.py", 1),
        lambda kind: repr(kind("a.py")).partition("(")[2],
    ],
)
def test_as_in_typing(do):
    """What is made, replaced, compared and shown is the same."""
    assert do(Place) == do(Theirs)


@pytest.mark.parametrize(
    "do",
    [
        lambda kind: kind(),
        lambda kind: kind("a.py", 1, 2),
        lambda kind: kind("a.py", column=2),
        lambda kind: kind("a.py")._replace(column=2),
    ],
)
def test_mistakes_are_told_as_in_typing(do):
    """With the same error."""
    with pytest.raises(Exception) as theirs:
        do(Theirs)
    with pytest.raises(theirs.type) as ours:
        do(Place)
    assert str(ours.value) == str(theirs.value).replace("Theirs", "Place")


def test_methods_heirs_and_pickles():
    """They have methods, can be inherited from, and come back from a pickle."""
    assert Deep("a.py", 3).text() == "a.py:3"
    assert type(Deep("a.py")._replace(line=2)) is Deep
    assert pickle.loads(pickle.dumps(Deep("a.py"))) == Deep("a.py")
    match Place("a.py", 5):
        case Place(file, line):
            assert (file, line) == ("a.py", 5)


def test_an_heir_that_is_made_first():
    """Makes no other kind of its parent."""

    class Parent(named.NamedTuple):
        name: str

    class Child(Parent):
        pass

    assert (repr(Child("x")), type(Parent("y")) is Parent) == ("Child(name='x')", True)

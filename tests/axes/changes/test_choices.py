"""Changes as the search wants them: choices, edits of code, groups, words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zeroin.axes.changes import words
from zeroin.axes.changes.choice import Choice, is_part, ranges, read
from zeroin.axes.changes.code import Code, File
from zeroin.axes.changes.groups import Place, function_at, levels

NUMBERS = st.sets(st.integers(0, 30)).map(sorted)


@given(NUMBERS, NUMBERS)
def test_names_and_parts(some: list[int], of: list[int]) -> None:
    """A choice is read back from its name; being part of another is being a subset."""
    choice = Choice(ranges(some))
    assert choice.numbers() == some
    assert read(choice.name) == choice.kept
    assert is_part(ranges(some), ranges(of)) == (set(some) <= set(of))
    assert Choice(ranges(of)).without(choice).numbers() == [n for n in of if n not in some]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "  c\n", "d = 1\n", "\n", "@x\n"]), max_size=12)


@given(LINES, LINES, st.integers(0, 2**20))
def test_edits_lead_from_the_old_file_to_the_new_one(
    old: list[str], new: list[str], chosen: int
) -> None:
    """No edit is the old file, all are the new one, and each choice has the lines of its edits."""
    before, after = (File("100644", "".join(side).encode()) for side in (old, new))
    code = Code({"x.py": before}, {"x.py": after})
    every = range(len(code.edits))
    assert code.mixed("x.py", ()) == before
    assert code.mixed("x.py", every) == after
    made = {n for n in every if chosen >> n & 1}
    gone = sum(code.edits[n].stop - code.edits[n].start for n in made)
    came = sum(len(code.edits[n].new) for n in made)
    mixed = code.mixed("x.py", made)
    assert mixed is not None
    assert mixed.content.count(b"\n") == len(old) - gone + came


def code_of(*files: tuple[str, str | None, str | None]) -> Code:
    sides = [
        {name: File("100644", pair[at].encode()) for name, *pair in files if pair[at] is not None}
        for at in (0, 1)
    ]
    return Code(sides[0], sides[1])


def test_what_belongs_together() -> None:
    """A new function and the call of it, a new module and its import, are one group; others not."""
    code = code_of(
        ("a.py", "x = 1\n\n\ny = 2\n", "def helper():\n    pass\n\n\ny = helper()\n"),
        ("b.py", "z = 1\n", "import fresh\nz = fresh.z\n"),
        ("fresh.py", None, "z = 1\n"),
        ("c.py", "w = 1\n", "w = 2\n"),
    )
    names = [code.change(n).name for n in range(len(code.edits))]
    groups = levels(code, (), 0)[1]
    told = [sorted({names[n].partition(":")[0] for n in group}) for group in groups]
    assert sorted(told) == [["a.py"], ["b.py", "fresh.py"], ["c.py"]]


def test_what_the_failure_went_through_comes_first() -> None:
    """Edits in a function of the traceback are the first group; else those of its files."""
    body = "def f():\n    return {}\n\n\ndef g():\n    return {}\n"
    code = code_of(("a.py", body.format(1, 1), body.format(2, 2)), ("b.py", "x = 1\n", "x = 2\n"))
    first = levels(code, [Place("a.py", 6, "g")], 1)[0]
    assert first == [[1], [0, 2, 3]]
    assert levels(code, [Place("b.py", 1, "<module>")], 0)[0][0] == [2]
    assert function_at(b"class A:\n    def f(self):\n        pass\n", 3) == "A.f"


def test_lines_that_follow_one_another_are_told_apart() -> None:
    """Lines changed next to each other are edits of their own, as statements that came are."""
    code = code_of(("a.py", "a = 1\nb = 1\n", "a = 2\nb = 2\n"))
    assert len(code.edits) == 2
    code = code_of(("a.py", "a = 1\n", "a = 1\nif a:\n    b = 1\nelse:\n    b = 2\nc = 3\n"))
    assert [len(edit.new) for edit in code.edits] == [4, 1]


WORDS = st.lists(st.sampled_from(["--a", "--b", "1", "2", "x"]), max_size=8)


@given(WORDS, WORDS)
def test_words_of_a_command(old: list[str], new: list[str]) -> None:
    """No swap is the old command, all are the new one."""
    swaps = words.swaps(old, new)
    assert words.swapped(old, swaps, ()) == tuple(old)
    assert words.swapped(old, swaps, range(len(swaps))) == tuple(new)


def test_an_option_goes_with_its_value() -> None:
    """Options that came are told one by one, and a value by the option in front of it."""
    old, new = ["run", "--lr", "1"], ["run", "--lr", "2", "--fast", "--size", "3"]
    told = [words.change(old, swap) for swap in words.swaps(old, new)]
    assert [(one.name, one.old, one.new) for one in told] == [
        ("--lr", "1", "2"),
        ("--fast", None, "--fast"),
        ("--size", None, "--size 3"),
    ]

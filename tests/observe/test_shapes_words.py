"""Shapes in words: forms, comments in a source, names of dimensions, what still holds."""

from __future__ import annotations

import ast
import json
import os
import sysconfig
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.observe.shapes import check, forms, names, text
from zeroin.observe.shapes.comments import Sheet, UnreadableError
from zeroin.observe.shapes.forms import Array, Dim, Each, Named, Plain, Several
from zeroin.observe.shapes.resized import Changes
from zeroin.observe.shapes.told import Told

# --- text -----------------------------------------------------------------------------------------


def entries(line: str) -> list[text.Entry]:
    found = text.parsed(line)
    assert found is not None, line
    return found


@pytest.mark.parametrize(
    "line",
    [
        "(batch=32, seq=128, 768) f32",
        "() f32",
        "(3,) i64",
        "(17..32, 768) bf16 cuda:0",
        "(12|32, ?) f64",
        "(891, 12) DataFrame",
        "(891,) f64 Series",
        "(4, 4) f32 sparse",
        "3 x (5..7, 2) f32",
        "2|6 x [(8..10,) i64, None]",
        "4 x [(2,) f32 | (3, 1) i64]",
        "{ids: (32, 128) i64, mask: (32, 128) bool}",
        "{a.weight: (3,) f32, ...}",
        "(4, 3) qint8 | (4, 3) quint8",
        "(5,) list",
        "5 x (2,) list",
        "(32,) f32 | (32, 1) f32",
        "q, k: (B=2, 3) f32; self.mask: (2,) bool; out[...]: () f32",
    ],
)
def test_a_line_is_read_as_it_was_written(line):
    """Each kind of form, there and back."""
    assert text.written(entries(line)) == line


@pytest.mark.parametrize(
    "line",
    [
        "(B, T, C)",
        "(32, 128)",
        "(32) f32",
        "shape (32,) f32",
        "see (32,) f32 above",
        "(32,) float",
        "list of things",
        "list of 5",
        "dict of 1",
        "a: tuple of 2",
        "(5, 6) list",
        "(n=5,) list",
        "(5,) list things",
        "x: the input",
        "(32,) f32,",
        "type: ignore",
        "TODO",
        "",
        "None",
        "[None",
        "{a}",
    ],
)
def test_comments_of_others_are_not_ours(line):
    """What people write about shapes is no form: the type is missing, or words are around it."""
    assert text.parsed(line) is None


SIZES = st.lists(st.integers(0, 2000), min_size=1, max_size=6, unique=True).map(sorted)
DIMS = st.builds(
    lambda sizes, name: Dim(tuple((one, 1) for one in sizes), name=name),
    SIZES,
    st.sampled_from(["", "batch", "T", "d_model"]),
)
ARRAYS = st.builds(
    Array,
    st.lists(DIMS, max_size=4).map(tuple),
    st.sampled_from(["f32", "bf16", "i64", "bool", "f8_e4m3fn", "datetime64[ns]", "weird type"]),
    st.sampled_from(["", "cuda:1", "meta"]),
    st.sampled_from(["", "sparse", "Series", "never heard of"]),
)
FORMS = st.recursive(
    ARRAYS | st.builds(Plain, st.sampled_from(["list", "set"]), DIMS),
    lambda inner: st.one_of(
        st.builds(Several, st.just("list"), DIMS, st.tuples(inner)),
        st.builds(
            Each, st.just("list"), st.lists(st.tuples(inner), min_size=2, max_size=3).map(tuple)
        ),
        st.builds(
            lambda pairs: Named(len(pairs), tuple(pairs)),
            st.lists(st.tuples(st.sampled_from(["a", "b.c", "x y"]), st.tuples(inner)), min_size=1),
        ),
    ),
    max_leaves=5,
)


@given(st.lists(FORMS, min_size=1, max_size=4))
def test_whatever_is_written_can_be_read(found):
    """No form makes a comment that would not be known again."""
    line = text.written([text.Entry((), tuple(found))])
    again = text.parsed(line)
    assert again is not None, line
    assert text.written(again) == line


# --- comments -------------------------------------------------------------------------------------

NOTE = "(batch=32, 10) f32"


def note_all(source: bytes) -> tuple[bytes, bytes, bytes]:
    sheet = Sheet(source)
    notes = dict.fromkeys(range(1, len(sheet.lines) + 1), NOTE)
    once = sheet.with_notes(notes)
    return once, Sheet(once).with_notes(notes), Sheet(once).without_notes()


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\n",
        b"x = 1",
        b"x = 1  # mine\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"if x:\n\ty = [\n\t\t1,\n\t]\n",
        b"x = 1   \n",
        b"x = 1 # one blank\n",
        b"x = '''a\n  # (3,) f32\nb'''; y = \\\n  2\n",
        b'f = f"""{x\n}"""\n',
        b"# coding: latin-1\nx = '\xe9'  # caf\xe9\n",
        b"\xef\xbb\xbfx = 1\n",
        b"x = 1\x0c\ny = '\xe2\x80\xa8'\n",
        b"def f(a,\n      b):  # type: ignore\n    return a\n",
        b"\n\n# only\n",
        b"",
    ],
)
def test_comments_come_and_go(source):
    """Twice is once; taken out, every byte is as before: ends of lines, tabs, encodings, marks."""
    once, twice, back = note_all(source)
    assert once == twice
    assert back == source
    assert ast.dump(ast.parse(once)) == ast.dump(ast.parse(source))


def test_comments_stand_where_they_may():
    """Behind code alone: not in strings, not behind a backslash or a formatter's instruction."""
    source = b"a = '''x\ny'''\nb = \\\n  2\nc = [1,\n  2]\nd = 4  # fmt: skip\n\n# only\n"
    once, _, _ = note_all(source)
    mark = b"  # " + NOTE.encode()
    assert once.splitlines() == [
        *(b"a = '''x", b"y'''" + mark, b"b = \\", b"  2" + mark),
        *(b"c = [1," + mark, b"  2]" + mark, b"d = 4  # fmt: skip", b"", b"# only"),
    ]


def test_the_users_own_comment_stays():
    """Ours comes behind it, changes, and goes alone."""
    sheet = Sheet(b"x = f()  # the embedding\n")
    once = sheet.with_notes({1: NOTE})
    assert once == b"x = f()  # the embedding  # (batch=32, 10) f32\n"
    assert Sheet(once).with_notes({1: "() f32"}) == b"x = f()  # the embedding  # () f32\n"
    assert Sheet(once).notes() == {1: NOTE}
    assert Sheet(once).with_notes({1: ""}) == sheet.source


def test_real_sources_come_back_byte_for_byte():
    """Files of the standard library, a comment at the end of each line that can bear one."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = [*sorted(folder.glob("*.py"))[::12], *sorted(folder.glob("test/test_*.py"))[::40]]
    done = 0
    for file in files:
        if file.stat().st_size > 60_000:
            continue
        source = file.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                once, twice, back = note_all(source)
            except UnreadableError:  # some are wrong on purpose
                continue
        assert once == twice, file
        assert back == source, file
        done += 1
    assert done > 10


def test_a_source_that_is_none():
    """A reason instead of an error of ours."""
    for source in (b"x = (", b"# coding: nowhere\n", b"\xff\xfe", b"x = 'a\n"):
        with pytest.raises(UnreadableError):
            Sheet(source)


# --- joining --------------------------------------------------------------------------------------


def joined(*told) -> str:
    return text.alternatives(forms.joined(forms.read(one) for one in told))


def test_sizes_of_one_rank_become_one_form():
    """Few values one by one, more of them as a range; another type stays apart."""
    arrays = [["a", [n, 8], "f32", "", ""] for n in (32, 17, 32)]
    assert joined(*arrays) == "(17|32, 8) f32"
    assert joined(*arrays, *(["a", [n, 8], "f32", "", ""] for n in (5, 9))) == "(5..32, 8) f32"
    assert joined(*arrays, ["a", [3], "i64", "", ""]) == "(17|32, 8) f32 | (3,) i64"
    assert joined(["a", [[2, 90]], "f32", "", ""], ["a", [5], "f32", "", ""]) == "(2..90,) f32"
    assert (
        joined(["d", 1, [["x", arrays[0]]]], ["d", 1, [["x", arrays[1]]]]) == "{x: (17|32, 8) f32}"
    )


# --- names ----------------------------------------------------------------------------------------


def named(source: str, seen: dict[str, list], arguments: str = "") -> dict[str, str]:
    """What is said of variables of `f`, given what each has seen, in order of their assignment."""
    tree = ast.parse(source)
    places, told = [], []
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.FunctionDef):
            found = [(one.arg, node.name, node.lineno, "argument") for one in node.args.args]
        elif isinstance(node, ast.Assign):
            targets = node.targets[0]
            elements = targets.elts if isinstance(targets, ast.Tuple) else [targets]
            function = "f" if node.col_offset else "<module>"
            found = [(ast.unparse(one), function, node.lineno, "assign") for one in elements]
        for label, function, line, how in found:
            at = len(places)
            told += [{"in": "1", "at": at, "counts": [[form, 1]]} for form in seen.get(label, [])]
            places.append([how, label, function, line, line, 0, False])
    head = {"file": "1", "path": "x", "digest": "", "places": places, "functions": [], "left": []}
    file = Told().read([json.dumps(one) for one in (head, *told)]).files["x"]
    by_number = names.named(file, tree)
    return {
        seen.place.label: text.alternatives(by_number[number])
        for number, seen in enumerate(file.places)
        if number in by_number
    }


def array(*sizes: int) -> list:
    return ["a", list(sizes), "f32", "", ""]


def number(value: int) -> list:
    return ["i", value]


def test_names_that_a_shape_is_unpacked_to():
    """They are for that variable, and for equal sizes of others in the function."""
    source = "def f(x):\n    B, T, C = x.shape\n    y = g(x)\n    return y\n"
    seen = {"x": [array(32, 128, 768)], "y": [array(32, 768, 10)]}
    seen |= {"B": [number(32)], "T": [number(128)], "C": [number(768)]}
    assert named(source, seen) == {
        "x": "(B=32, T=128, C=768) f32",
        "y": "(B=32, C=768, 10) f32",
    }


def test_two_names_for_one_size_are_not_guessed():
    """Where the axes are bound they have names; elsewhere the number stays."""
    source = "def f(x):\n    B, T = x.shape\n    y = g(x)\n"
    seen = {"x": [array(8, 8)], "y": [array(8, 3)], "B": [number(8)], "T": [number(8)]}
    assert named(source, seen) == {"x": "(B=8, T=8) f32", "y": "(8, 3) f32"}


def test_sizes_that_vary_alike_have_the_name():
    """Of two names of one size now and then, the one that varied as the dimension did."""
    source = "def f(x):\n    B, T = x.shape\n    y = g(x)\n"
    seen = {"x": [array(8, 8), array(3, 8)], "y": [array(8, 5), array(3, 5)]}
    seen |= {"B": [number(8), number(3)], "T": [number(8), number(8)]}
    assert named(source, seen) == {"x": "(B=3|8, T=8) f32", "y": "(B=3|8, 5) f32"}


def test_a_last_batch_is_smaller_and_a_ragged_list_is_no_batch():
    """A constant is the name of sizes that are smaller now and then, not of those of a list."""
    source = "def f(k):\n    x = g(k)\n    r = h(k)\n    s = h(k)\n"
    ragged = ["s", "list", 4, [array(1), array(2), array(3), array(4)]]
    seen = {"k": [number(4)], "x": [array(4), array(4), array(2)], "r": [ragged]}
    seen["s"] = [array(4), array(3), array(2)]
    assert named(source, seen) == {
        "x": "(k=2|4,) f32",
        "r": "4 x (1..4,) f32",
        "s": "(2..4,) f32",
    }


def test_names_that_a_shape_is_made_of():
    """`view(B, T, h)` and `zeros((n, m))` say which axis is whose, equal sizes or not."""
    source = "def f(x, h):\n    B, T = x.shape\n    y = x.view(B, T, h)\n    z = zeros((T, B))\n"
    seen = {"x": [array(8, 8)], "h": [number(8)], "y": [array(8, 8, 8)], "z": [array(8, 8)]}
    seen |= {"B": [number(8)], "T": [number(8)]}
    assert named(source, seen) == {
        "x": "(B=8, T=8) f32",
        "y": "(B=8, T=8, h=8) f32",
        "z": "(T=8, B=8) f32",
    }


def test_a_computed_size_makes_a_name_uncertain():
    """`C // heads` is 16 as well as T: then 16 is not called T."""
    source = (
        "def f(x, heads):\n    B, T, C = x.shape\n    d = x.view(B, T, heads, C // heads)\n"
        "    y = g(d)\n"
    )
    seen = {"x": [array(2, 16, 64)], "heads": [number(4)], "d": [array(2, 16, 4, 16)]}
    seen |= {"B": [number(2)], "T": [number(16)], "C": [number(64)], "y": [array(16, 64)]}
    found = named(source, seen)
    assert found["d"] == "(B=2, T=16, heads=4, 16) f32"
    assert found["y"] == "(16, C=64) f32"


def test_the_size_that_is_left_makes_a_name_uncertain():
    """The -1 of a view was 16 as well as B: then 16 is not called B, but where that is bound."""
    source = "def f(x, heads):\n    B, T, C = x.shape\n    q = x.view(B, T, heads, -1).flip(0)\n    y = g(q)\n"
    seen = {"x": [array(16, 20, 64)], "heads": [number(4)], "q": [array(16, 4, 20, 16)]}
    seen |= {"B": [number(16)], "T": [number(20)], "C": [number(64)], "y": [array(16, 20, 20)]}
    found = named(source, seen)
    assert found["x"] == "(B=16, T=20, C=64) f32"
    assert found["q"] == "(16, heads=4, T=20, 16) f32"
    assert found["y"] == "(16, T=20, T=20) f32"


def test_rows_are_not_repeated():
    """A name of the first axis is not given to a second one of the same size."""
    source = "def f(x):\n    B, C = x.shape\n    y = g(x)\n"
    seen = {"x": [array(16, 9)], "y": [array(16, 9, 16)], "B": [number(16)], "C": [number(9)]}
    assert named(source, seen)["y"] == "(B=16, C=9, 16) f32"


def test_a_width_is_no_batch_though_both_are_32():
    """A name that stands for another axis here is none for sizes that vary."""
    source = "dim = 32\ndef f(x):\n    y = g(x)\n"
    seen = {"x": [array(32, 7), array(32, 7), array(6, 7)]}
    assert named(source, seen) == {"x": "(dim=6|32, 7) f32"}
    seen["y"] = [array(32, 7, 32), array(32, 7, 32), array(6, 7, 32)]
    assert named(source, seen) == {"x": "(n=6|32, 7) f32", "y": "(n=6|32, 7, dim=32) f32"}


def test_a_name_means_what_is_nearest():
    """The `n` of the file has the right size, and is not what `n` is in the function."""
    source = "n: int = 20\ndef f(a, n):\n    y = g(a)\n"
    seen = {"a": [array(20, 3)], "n": [number(6)], "y": [array(6, 3)]}
    assert named(source, seen) == {"a": "(20, 3) f32", "y": "(n=6, 3) f32"}


def test_ints_in_reach_give_names_and_counts_do_not():
    """A constant of the file does; the number of epochs and a tiny one don't."""
    source = "batch_size = 32\nepochs = 50\nk = 2\ndef f(x):\n    y = g(x)\n"
    seen = {"x": [array(32, 50, 2)], "y": [array(32, 7), array(11, 7)]}
    assert named(source, seen) == {
        "x": "(batch_size=32, 50, 2) f32",
        "y": "(batch_size=11|32, 7) f32",
    }


def test_varying_sizes_without_a_name_get_a_letter():
    """Where two places vary alike, and not with the name of a variable of the function."""
    source = "def f(x):\n    n = None\n    y = g(x, n)\n    z = h(y)\n"
    seen = {"x": [array(5, 3), array(7, 3)], "y": [array(5), array(7)], "z": [array(6), array(9)]}
    assert named(source, seen) == {"x": "(m=5|7, 3) f32", "y": "(m=5|7,) f32", "z": "(6|9,) f32"}


# --- checking -------------------------------------------------------------------------------------


def broken(*lines: tuple[str, str]) -> list[int]:
    """Numbers of the lines, from 1 on, that don't hold: pairs of what they say and what was."""
    found = [
        check.Line(n, "f", entries(says), entries(was) if was else [])
        for n, (says, was) in enumerate(lines, 1)
    ]
    return [one.line for one in check.check(found, Changes([found])).broken]


@pytest.mark.parametrize(
    ("says", "was", "holds"),
    [
        ("(32, 8) f32", "(32, 8) f32", True),
        ("(32, 8) f32", "(16, 8) f32", False),
        ("(32, 8) f32", "(32, 8) f16", False),
        ("(32, 8) f32", "(32, 8) f32 cuda:0", False),
        ("(32, 8) f32", "(32,) f32", False),
        ("(32, 8) f32", "", False),
        ("(batch=32, 8) f32", "(64, 8) f32", True),
        ("(batch=32, 8) f32", "(64, 9) f32", False),
        ("(17..32, 8) f32", "(20, 8) f32", True),
        ("(17..32, 8) f32", "(33, 8) f32", False),
        ("(17|32, 8) f32", "(32, 8) f32", True),
        ("(17|32, 8) f32", "(20, 8) f32", False),
        ("(?, 8) f32", "(20, 8) f32", True),
        ("(8,) f32 | (8, 1) f32", "(8, 1) f32", True),
        ("(8,) f32", "(8,) f32 | (8, 1) f32", False),
        ("{a: (8,) f32}", "{a: (8,) f32}", True),
        ("{a: (8,) f32}", "{b: (8,) f32}", False),
        ("{a: (8,) f32, ...}", "{a: (8,) f32, b: (9,) f32}", True),
        ("3 x (5..7, 2) f32", "3 x (6, 2) f32", True),
        ("3 x (5..7, 2) f32", "4 x (6, 2) f32", False),
        ("[(8,) f32, None]", "[(8,) f32, None]", True),
        ("[(8,) f32, None]", "[(8,) f32, (8,) f32]", False),
        ("(5,) list", "(6,) list", False),
        ("q, k: (8,) f32", "q: (8,) f32; k: (8,) f32", True),
        ("q, k: (8,) f32", "q: (8,) f32; k: (9,) f32", False),
    ],
)
def test_what_holds(says, was, holds):
    """Numbers must be equal, ranges hold all, names may have any size."""
    assert (broken((says, was)) == []) == holds


def test_names_count_when_it_is_to_be_exact():
    """With a name or without, the sizes must be those that are written."""
    line = check.Line(1, "f", entries("(b=32, 8) f32"), entries("(64, 8) f32"))
    changes = Changes([[line]])
    assert check.check([line], changes).broken == []
    assert [one.line for one in check.check([line], changes, exact=True).broken] == [1]


def test_a_name_has_one_size_in_a_function():
    """Two lines that say `batch` must have seen the same; a subset is fine, as of an evaluation."""
    assert broken(("(b=32, 8) f32", "(64, 8) f32"), ("(b=32,) f32", "(64,) f32")) == []
    assert broken(("(b=32, 8) f32", "(64, 8) f32"), ("(b=32,) f32", "(32,) f32")) == [2]
    assert broken(("(b=32,) f32", "(9|64,) f32"), ("(b=32,) f32", "(64,) f32")) == []
    assert broken(("(b=32,) f32", "(64,) f32"), ("(b=32,) f32", "(9|64,) f32")) == []


FLOW = """\
ids: (32, 16) i64 -> (8, 16) i64
table: (100, 32) f32 -> (100, 32) f32
x: (32, 16, 32) f32 -> (8, 16, 32) f32 : ids table
flat: (512, 32) f32 -> (128, 32) f32 : x
cls: (32, 17, 32) f32 -> (8, 17, 32) f32 : x
twice: (64, 32) f32 -> (16, 32) f32 : flat
out: (n=32, 10) f32 -> (n=8, 10) f32 : x
"""


def flowing(told: str) -> list[check.Line]:
    """Lines `target: says -> was : used names`, of one function."""
    found = []
    for number, line in enumerate(told.splitlines(), 1):
        target, _, rest = line.partition(": ")
        shapes, _, used = rest.partition(" : ")
        says, was = (entries(one) for one in shapes.split(" -> "))
        found.append(check.Line(number, "f", says, was, (target,), tuple(used.split())))
    return found


def checked(told: str, *, exact: bool = False) -> tuple[list[int], dict[str, list[int]]]:
    """Lines that don't hold, and those of each size that changed everywhere."""
    lines = flowing(told)
    found = check.check(lines, Changes([lines]), exact=exact)
    resized = {f"{r.name} {r.before} {r.after}": at for r, at in found.resized.items()}
    return [one.line for one in found.broken], resized


def test_another_batch_breaks_no_comment():
    """32 became 8 in all that is made from the input; the width of 32 and products are known."""
    assert checked(FLOW) == ([], {"n 32 8": [1, 3, 4, 5, 6]})
    assert checked(FLOW, exact=True)[0] == [1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("line", "is_explained"),
    [
        ("y: (32, 4) f32 -> (8, 4) f32 : x", True),
        ("y: (32, 4) f32 -> (7, 4) f32 : x", False),  # another size than all others
        ("y: (32, 4) f32 -> (8, 5) f32 : x", False),  # one more has changed
        ("y: (32, 4) f32 -> (8, 4) f16 : x", False),
        ("y: (32, 4) f32 -> (8,) f32 : x", False),
        ("y: (32, 32) f32 -> (32, 8) f32 : table", False),  # the width, which is 32 in the table
        ("y: (32, 10) f32 -> (32, 8) f32 : table", False),
        ("y: (16, 16) f32 -> (16, 16) f32 : x", True),
        ("y: 4 x (32, 3) f32 -> 4 x (8, 3) f32 : x", True),
        ("y: {a: (32,) f32} -> {a: (8,) f32} : x", True),
        ("y: (32,) list -> (8,) list : x", True),
        ("y: (12|32, 3) f32 -> (4|8, 3) f32 : x", True),  # a last batch is smaller
    ],
)
def test_what_another_batch_explains(line, is_explained):
    """Only what is the same but for that size, and can have it from the input."""
    assert (checked(FLOW + line + "\n")[0] == []) == is_explained


def test_rows_that_are_cut_off_on_the_way_are_no_other_batch():
    """Where the input still has its size, a line that makes another one of it is wrong."""
    cut = "x: (32, 5) f32 -> (32, 5) f32\nh: (32, 9) f32 -> (8, 9) f32 : x\n"
    assert checked(cut + "y: (32, 3) f32 -> (8, 3) f32 : h\n") == ([2, 3], {})


def test_what_is_cut_off_at_an_axis_that_moved_is_no_other_size():
    """`y = att.transpose(1, 2)[:, 1:]`: `t` is known by its name, and `att` has all of it."""
    told = "att: (b=4, 4, t=10, 8) f32 -> (b=4, 4, t=10, 8) f32\n"
    told += "y: (b=4, t=10, 4, 8) f32 -> (b=4, 9, 4, 8) f32 : att\n"
    told += "out: (b=4, t=10, c=32) f32 -> (b=4, 9, c=32) f32 : y\n"
    assert checked(told) == ([2, 3], {})


def test_a_layer_of_another_width_is_no_other_batch():
    """The last axis changes where the line's own source has not; also beside another batch."""
    wide = "h: (32, 64) f32 -> ({0}, 128) f32 : x\nz: (32, 64) f32 -> ({0}, 128) f32 : h\n"
    for rows in (32, 8):
        head = f"x: (32, 5) f32 -> ({rows}, 5) f32\n"
        assert checked(head + wide.format(rows))[0] == [2, 3]


def test_rows_of_a_larger_table_may_be_fewer():
    """`x = data[:batch]` is where a batch begins."""
    rows = "data: (1000, 5) f32 -> (1000, 5) f32\nx: (32, 5) f32 -> (8, 5) f32 : data\n"
    assert checked(rows + "h: (32, 9) f32 -> (8, 9) f32 : x\n") == ([], {" 32 8": [2, 3]})


def test_a_single_line_with_another_size_is_wrong():
    """Nothing says that it is everywhere."""
    assert checked("x: (32, 5) f32 -> (8, 5) f32\n") == ([1], {})


def test_several_sizes_may_change():
    """Each is told once, also where both had the same size."""
    told = "ids: (32, 32) i64 -> (8, 64) i64\nx: (32, 32, 5) f32 -> (8, 64, 5) f32 : ids\n"
    told += "flat: (1024, 5) f32 -> (512, 5) f32 : x\n"
    found = checked(told)
    assert found[0] == []
    assert sorted(found[1]) == [" 32 64", " 32 8"]


def test_a_name_that_two_sizes_had_is_no_conflict():
    """The batch was called by the name of the width, as both were 32; one of them is 8 now."""
    told = "x: (d=32, d=32) f32 -> (8, d=32) f32\ny: (d=32, d=32) f32 -> (8, d=32) f32 : x\n"
    assert checked(told) == ([], {" 32 8": [1, 2]})
    assert checked(told.replace("(8, d=32) f32 : x", "(9, d=32) f32 : x"))[0] != []


def test_lines_of_a_killed_process_are_left_out():
    """Half a line is no reason to lose the others."""
    head = '{"file":"1","path":"x","digest":"","places":[["assign","x","f",1,1,0,false]],'
    head += '"functions":[],"left":[]}'
    told = Told().read([head, '{"in":"1","at":0,"form":["a",[3],"f32","",""]}', '{"in":"1","a'])
    assert text.alternatives(told.files["x"].places[0].forms) == "(3,) f32"
    assert os.path.basename(next(iter(told.files))) == "x"

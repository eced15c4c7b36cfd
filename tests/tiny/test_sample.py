"""A few of many rows."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroin.tiny import sample
from zeroin.tiny.opening import open_rows
from zeroin.tiny.rows import Row


def rows(values):
    return [Row(json.dumps(value) + "\\n", value) for value in values]


ORDINARY = [{"id": n, "name": f"name {n}", "kind": "ab"[n % 2]} for n in range(1000)]
ODD = {
    "null": {"id": 1, "name": None, "kind": "a"},
    "missing": {"id": 1, "kind": "a"},
    "type": {"id": "1", "name": "x", "kind": "a"},
    "empty": {"id": 1, "name": "", "kind": "a"},
    "longest": {"id": 1, "name": "x" * 500, "kind": "a"},
    "unicode": {"id": 1, "name": "größe", "kind": "a"},
    "least": {"id": -5, "name": "x", "kind": "a"},
    "greatest": {"id": 10**12, "name": "x", "kind": "a"},
    "fraction": {"id": 0.5, "name": "x", "kind": "a"},
    "category": {"id": 1, "name": "x", "kind": "c"},
    "nested": {"id": 1, "name": "x", "kind": "a", "more": {"deep": [None]}},
    "infinite": {"id": float("inf"), "name": "x", "kind": "a"},
}


@pytest.mark.parametrize("name", ODD)
def test_one_odd_row_is_found(name):
    """Wherever it stands, of a thousand others."""
    for place in (0, 500, 1000):
        values = [*ORDINARY[:place], ODD[name], *ORDINARY[place:]]
        found = sample.covering(iter(rows(values)), 12)
        assert ODD[name] in [row.value for row in found.rows]
        assert (found.seen, found.kinds) == (1001, found.shown)


def test_as_few_as_are_needed_come_first():
    """Ten rows are given though three would do; with three, all kinds are still shown."""
    values = [*ORDINARY, ODD["null"], ODD["unicode"]]
    assert len(sample.covering(iter(rows(values)), 10).rows) == 10
    few = sample.covering(iter(rows(values)), 6)
    assert few.kinds == few.shown


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(VALUES, max_size=40))
@settings(deadline=None)
def test_all_kinds_are_shown_if_there_is_room(values):
    """Whatever the rows are; and what is chosen are rows, in their order."""
    all_rows = rows(values)
    found = sample.covering(iter(all_rows), 1000)
    assert found.kinds == found.shown
    assert found.rows == all_rows


@given(st.integers(1, 50), st.integers(1, 20), st.integers())
def test_random_rows_are_rows(count, wanted, seed):
    """As many as are wanted, in order, the same for the same seed."""
    values = rows(range(count))
    found = sample.at_random(iter(values), wanted, seed)
    assert len(found.rows) == min(count, wanted)
    assert found.rows == sorted(found.rows, key=lambda row: row.value)
    assert found == sample.at_random(iter(values), wanted, seed)


def test_each_row_is_equally_likely():
    """Of ten rows, three, drawn often."""
    counts = dict.fromkeys(range(10), 0)
    for seed in range(3000):
        for row in sample.at_random(iter(rows(range(10))), 3, seed).rows:
            counts[row.value] += 1
    assert all(750 < count < 1050 for count in counts.values()), counts


def test_memory_does_not_grow_with_the_file():
    """Rows that are not needed are forgotten."""
    drawn = random.Random(1)
    seen = sample._Seen()
    for number in range(20_000):
        value = {"id": number, "x": drawn.random(), "name": str(drawn.random())}
        seen.look(number, Row("", value))
    assert len(seen.rows) < 100


FILES = {
    "a.jsonl": b'{"a": 1}\n\n{"a": 2}\n{broken\n{"a": 3}',
    "a.csv": b'x,y\r\n1,"a\r\nb"\r\n2,"c, ""d"""\r\n3,e',
    "a.json": b'[{"a": 1}, {"a": [1, 2]}, {"a": null}]',
    "a.txt": "eins\nzwei \u00fc\n\ndrei".encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_all_rows_give_the_file_again(tmp_path, name):
    """Rows are copied, not written anew."""
    path, target = tmp_path / name, tmp_path / "b"
    path.write_bytes(FILES[name])
    with open_rows(str(path), None) as opened:
        size = opened.write(list(opened.rows), str(target))
    written = target.read_bytes()
    assert written.rstrip() == FILES[name].replace(b"\n\n{", b"\n{").rstrip()
    assert size == len(written)

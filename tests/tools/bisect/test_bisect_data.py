"""`bisect data`: which rows of a new file break what worked with the old one."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.axes.changes.align import differences
from zeroin.axes.changes.rows import Rows

if TYPE_CHECKING:
    from pathlib import Path

    import support


def ask(zeroin: support.Zeroin, cwd: Path, *args: str, code: int = 0) -> dict:
    done = zeroin("bisect", "data", *args, cwd=cwd, timeout=200)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def names(told: dict) -> list[tuple[str, str | None, str | None]]:
    assert told["verdict"] == "found"
    assert told["confirmed"]
    return [(one["name"], one["old"], one["new"]) for one in told["culprits"]]


LOAD = """\
import sys

for number, row in enumerate(open(sys.argv[1])):
    if number:
        float(row.split(",")[1])
"""


def test_one_row_of_a_hundred_thousand(zeroin: support.Zeroin, project: Path) -> None:
    """Of 20,000 rows that differ, among 100,000, the one is found in about log₂ n rounds."""
    (project / "load.py").write_text(LOAD)
    rows = ["id,value", *(f"{n},{n % 97}.5" for n in range(100_000))]
    (project / "a.csv").write_text("\n".join(rows) + "\n")
    for at in random.Random(1).sample(range(1, 100_000), 20_000):
        rows[at] += "1"
    rows[70_123] = "70122,oops"
    rows.insert(500, "x,3")
    del rows[900]
    (project / "b.csv").write_text("\n".join(rows) + "\n")
    words = ("a.csv", "b.csv", "--json", "-j", "1", "--", "python", "load.py", "b.csv")
    told = ask(zeroin, project, *words)
    ((where, _, new),) = names(told)
    assert (where, new) == ("row 70,124", "70122,oops")
    assert told["about"]["changes"] > 19_000
    assert told["tries"] <= 26


def test_rows_that_came_and_went_together(zeroin: support.Zeroin, project: Path) -> None:
    """A row that came breaks it only while another one is gone: both are named."""
    (project / "load.py").write_text(
        "import sys\nrows = [r.strip() for r in open(sys.argv[1])]\n"
        "assert 'guard' in rows or 'bomb' not in rows, 'boom'\n"
    )
    old = [f"line {n}" for n in range(40)]
    new = [*old[:5], "fuse", *old[5:30], "bomb", *old[31:]]
    old.insert(20, "guard")
    (project / "a.txt").write_text("\n".join(old) + "\n")
    (project / "b.txt").write_text("\n".join(new) + "\n")
    told = ask(zeroin, project, "a.txt", "b.txt", "--json", "--", "python", "load.py", "b.txt")
    assert names(told) == [
        ("line 21 of the old file", "guard", None),
        ("line 32", "line 30", "bomb"),
    ]


KINDS = {
    "rows.jsonl": lambda rows: "".join(json.dumps({"id": n, "v": v}) + "\n" for n, v in rows),
    "rows.json": lambda rows: json.dumps([{"id": n, "v": v} for n, v in rows], indent=2),
    "rows.tsv": lambda rows: "id\tv\n" + "".join(f"{n}\t{v}\n" for n, v in rows),
}
READ = """\
import json, sys
text = open(sys.argv[1]).read()
if sys.argv[1].endswith('tsv'):
    rows = [row.split('\\t')[1] for row in text.splitlines()[1:]]
elif sys.argv[1].endswith('jsonl'):
    rows = [json.loads(row)['v'] for row in text.splitlines()]
else:
    rows = [row['v'] for row in json.loads(text)]
assert 'bad' not in rows, 'a bad row'
"""


@pytest.mark.parametrize("name", KINDS)
def test_each_format(zeroin: support.Zeroin, project: Path, name: str) -> None:
    """JSON Lines, a list in JSON, TSV: the one row that came."""
    rows = [(n, f"v{n}") for n in range(30)]
    (project / f"old-{name}").write_text(KINDS[name](rows))
    rows[3] = (3, "other")
    del rows[7]
    rows.insert(20, (99, "bad"))
    (project / name).write_text(KINDS[name](rows))
    (project / "read.py").write_text(READ)
    words = (f"old-{name}", name, "--json", "--", "python", "read.py", name)
    ((where, old, new),) = names(ask(zeroin, project, *words))
    assert old is None
    assert "bad" in new
    assert where.endswith(" 22" if name.endswith("tsv") else " 21")


def test_what_can_not_be_answered(zeroin: support.Zeroin, project: Path) -> None:
    """The same rows, no text, two kinds of files, a file that nobody reads: each is said."""

    def said(*args: str, code: int) -> str:
        done = zeroin("bisect", "data", *args, "--", "python", "load.py", args[1], cwd=project)
        assert done.returncode == code, done.stderr
        return done.stderr + done.stdout

    (project / "load.py").write_text(LOAD)
    (project / "a.csv").write_text("id,v\n1,1\n2,2\n")
    (project / "b.csv").write_text("id,v\n1,1\n2,2\n")
    assert "have the same rows" in said("a.csv", "b.csv", code=2)
    (project / "b.csv").write_bytes(b"\0\1\2" * 50)
    assert "b.csv is no text" in said("a.csv", "b.csv", code=2)
    (project / "b.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    assert "is CSV and b.jsonl is JSON Lines" in said("a.csv", "b.jsonl", code=2)
    (project / "b.csv").write_text("id,v\n1,1\n2,3\n")
    assert "both work" in said("a.csv", "b.csv", code=1)
    (project / "b.csv").write_text("id,v\n1,1\n2,x\n")
    assert "swap the two" in said("b.csv", "a.csv", code=1)


ROWS = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@given(ROWS, ROWS, st.integers(0, 2**30))
def test_mixtures_of_rows(old: list[str], new: list[str], chosen: int) -> None:
    """None of the changes is the old file, all are the new one, and any choice can be written."""
    contents = ["".join(f"{row}\n" for row in side).encode() for side in (old, new)]
    rows = Rows(contents[0], contents[1], ("a", "b"))
    count = len(rows.swaps)
    assert rows.content(()) == contents[0]
    assert rows.content(((0, count),) if count else ()) == contents[1]
    made = tuple((n, n + 1) for n in range(count) if chosen >> n & 1)
    expected, at = [], 0
    for n, (start, stop, new_start, new_stop) in enumerate(rows.swaps):
        expected += old[at:start]
        expected += new[new_start:new_stop] if chosen >> n & 1 else old[start:stop]
        at = stop
    assert rows.content(made).decode().split() == expected + old[at:]


@given(ROWS, ROWS)
def test_differences_lead_from_the_old_rows_to_the_new_ones(old: list[str], new: list[str]) -> None:
    """Putting each block's new rows in the place of its old ones gives the new list."""
    found, at = [], 0
    for a, b, c, d in differences(old, new):
        found += old[at:a] + new[c:d]
        at = b
    assert found + old[at:] == new


def test_many_rows_are_compared_quickly() -> None:
    """Two lists of 200,000 rows, a quarter of which differ or come twice: seconds, not hours."""
    pick = random.Random(3)
    old = [str(pick.randrange(100_000)) for _ in range(200_000)]
    new = [row if pick.random() < 0.8 else str(pick.random()) for row in old]
    began = time.process_time()
    blocks = differences(old, new)
    assert time.process_time() - began < 20
    assert sum(b - a for a, b, _, _ in blocks) < 60_000

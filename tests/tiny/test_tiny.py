"""`zeroin tiny data` and `zeroin fake`."""

import gzip
import json
import subprocess

import pytest


@pytest.fixture
def table(tmp_path):
    """A large table with one odd row."""
    path = tmp_path / "train.csv"
    rows = [f"{n},name{n},{'a' if n != 777 else ''}" for n in range(5000)]
    path.write_text("id,name,label\n" + "\n".join(rows) + "\n")
    return path


def test_a_sample_that_covers(zeroin, table):
    """The header, and among ten rows the one without a label."""
    done = zeroin("tiny", "data", "train.csv", "-n", "10", cwd=table.parent)
    assert done.returncode == 0, done.stderr
    lines = (table.parent / "train.tiny.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("id,name,label", 11)
    assert "777,name777," in lines
    assert done.stdout.startswith("train.tiny.csv  10 rows of 5,000")


def test_packed_and_named(zeroin, table):
    """`.gz` is unpacked on the way; -o says where it goes."""
    packed = table.parent / "train.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    words = ["tiny", "data", "train.csv.gz", "--first", "-n", "2"]
    done = zeroin(*words, "-o", "two.csv", cwd=table.parent)
    assert done.stdout.startswith("two.csv  the first 2 rows  ")
    assert zeroin(*words, "-o", "-", cwd=table.parent).returncode == 2
    assert (table.parent / "two.csv").read_text() == "id,name,label\n0,name0,a\n1,name1,a\n"


def test_random_rows_by_a_seed(zeroin, table):
    """The same seed, the same rows."""
    said = []
    for seed in ("1", "1", "2"):
        words = ["tiny", "data", "train.csv", "-n", "5", "--random", "--seed", seed]
        zeroin(*words, cwd=table.parent)
        said.append((table.parent / "train.tiny.csv").read_text())
    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["data", "nothing.csv"], "no such file"),
        (["data", "train.csv", "-n", "0"], "at least one row"),
        (["data", "train.csv", "-o", "no/where.csv"], "no such file or directory"),
        (["data", "binary"], "can't be read as text"),
        (["data", "broken.json"], "begins as JSON, and is none"),
    ],
)
def test_what_can_not_be(zeroin, table, words, text):
    """A message, and exit code 2."""
    (table.parent / "binary").write_bytes(b"\xff\xfe\x00")
    (table.parent / "broken.json").write_text('[{"a": 1},\n')
    done = zeroin("tiny", *words, cwd=table.parent)
    assert (done.returncode, text in done.stderr) == (2, True), done.stderr


def test_an_empty_file(zeroin, tmp_path):
    """Gives an empty file."""
    (tmp_path / "empty.jsonl").write_text("")
    done = zeroin("tiny", "data", "empty.jsonl", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "empty.tiny.jsonl").read_text()) == (0, "")


def test_rows_that_count(zeroin, tmp_path):
    """Each value says which it is."""
    done = zeroin(
        "fake", "id:int,name:str,tags:[str],at:{x:float},on:bool", "-n", "2", cwd=tmp_path
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"id": 1, "name": "name1", "tags": ["tags1", "tags2"], "at": {"x": 1.0}, "on": True},
        {"id": 2, "name": "name2", "tags": ["tags3", "tags4"], "at": {"x": 2.0}, "on": False},
    ]


def test_rows_like_those_of_a_file(zeroin, table):
    """The same fields, the same kinds."""
    zeroin("fake", "--like", "train.csv", "-n", "2", "-o", "fake.csv", cwd=table.parent)
    assert (
        table.parent / "fake.csv"
    ).read_text() == "id,name,label\n1,name1,label1\n2,name2,label2\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"]
)
def test_arrays_that_numpy_reads(zeroin, tmp_path, libs, kind):
    """Of the kind and shape that was asked for."""
    zeroin("fake", f"{kind}[2,3]", "-o", "x.npy", cwd=tmp_path)
    code = (
        "import numpy as np; x = np.load('x.npy'); print(x.dtype, x.shape, x.astype(int).tolist())"
    )
    done = subprocess.run(
        [libs, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    values = [[1, 1, 1], [1, 1, 1]] if kind == "bool" else [[1, 2, 3], [4, 5, 6]]
    assert done.stdout == f"{kind} (2, 3) {values}\n"


@pytest.mark.parametrize(
    "words", [["x:foo"], ["a"], [], ["a:int", "--like", "x"], ["a:int", "-o", "x.npy"], ["a:[int"]]
)
def test_what_is_no_schema(zeroin, tmp_path, words):
    """Exit code 2."""
    done = zeroin("fake", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stdout

"""Rows of JSON, XML, HTML, YAML and TOML, of texts in other codecs, and of packed ones."""

import bz2
import gzip
import io
import json
import lzma
import os
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import support
from zeroin.axes.payload.tree import Codec
from zeroin.tiny import lists
from zeroin.tiny.rows import UnreadableError
from zeroin.tiny.source import Source

COUNT = 200
ODD = 123  # the row that is unlike the others

FRUITS = "".join(
    f'# fruit {n}\n[[fruit]]\nname = "{"" if n == ODD else "x"}"\n\n[[fruit.kind]]\nk = {n}\n\n'
    for n in range(COUNT)
)
ITEMS = "".join(
    f'    <!-- {n} -->\n    <item id="{n}">\n      <name>{"" if n == ODD else "x &amp; y"}</name>\n    </item>\n'
    for n in range(COUNT)
)
ENTRIES = "".join(
    f"# entry {n}\n- id: {n}\n  name: {'null' if n == ODD else 'x'}\n  tags: [a, b]\n"
    for n in range(COUNT)
)
TEXTS = {
    "inside.json": json.dumps(
        {
            "version": 1,
            "rows": [{"id": n, "v": None if n == ODD else "a"} for n in range(COUNT)],
            "end": {"a": 1, "b": "x"},
        },
        indent=2,
    ),
    "keys.json": json.dumps({f"u{n}": {"v": None if n == ODD else n} for n in range(COUNT)}),
    "list.json": json.dumps([{"id": n, "v": None if n == ODD else "a"} for n in range(COUNT)]),
    "feed.xml": f'<?xml version="1.0"?>\n<rss>\n  <channel>\n    <title>T</title>\n{ITEMS}  </channel>\n</rss>\n',
    "page.html": "<!DOCTYPE html>\n<html><body><div>a</div><div>b</div><table>\n"
    + "".join(f"<tr><td>{'' if n == ODD else n}<td>x<br></tr>\n" for n in range(COUNT))
    + "</table></body></html>\n",
    "list.yaml": f"# all\nversion: 1\nitems:\n{ENTRIES}other: 2\n",
    "stream.yaml": "".join(
        f"---\nkind: {'B' if n == ODD else 'A'}\nspec:\n  n: {n}\n" for n in range(COUNT)
    ),
    "keys.yaml": "".join(
        f"u{n}:\n  v: {'null' if n == ODD else 'x'}\n  n: 1\n" for n in range(COUNT)
    ),
    "tables.toml": f'title = "x"\n\n{FRUITS}[end]\nx = 1\n',
    "array.toml": "x = [\n"
    + "".join(f"  {-1 if n == ODD else n},\n" for n in range(COUNT))
    + "]\ny = 1\n",
}
READ = {".json": json.loads, ".xml": ET.fromstring, ".toml": tomllib.loads}
NOUNS = {".xml": "element", ".html": "element"}


@pytest.mark.parametrize("name", TEXTS)
def test_the_odd_row_is_found_in_the_largest_list(tmp_path, tiny, name):
    """Of two hundred rows six are left, the odd one among them, and the rest of the text stays."""
    path = tmp_path / name
    path.write_text(TEXTS[name])
    report = tiny(path, 6)
    assert (report.rows, report.seen, report.shown) == (6, COUNT, report.kinds)
    assert report.noun == NOUNS.get(path.suffix, "item")
    left = Path(report.result).read_text()
    READ.get(path.suffix, str)(left)
    kept = iter(TEXTS[name].splitlines(keepends=True) if "\n" in TEXTS[name] else [])
    if "\n" in TEXTS[name] and "json" not in name:  # there, a comma goes with the last
        assert all(line in kept for line in left.splitlines(keepends=True))
    marks = ("null", '""', "<name></name>", "<td><td>", "kind: B", "-1")
    assert any(mark in left for mark in marks)
    assert len(left) == report.size


@pytest.mark.parametrize("name", TEXTS)
def test_all_rows_are_the_text_as_it_was(tmp_path, tiny, name):
    """Byte for byte."""
    path = tmp_path / name
    path.write_text(TEXTS[name])
    assert Path(tiny(path, 1000).result).read_text() == TEXTS[name]


def test_what_a_row_of_each_format_says(tmp_path, rows_of):
    """Its values by name, as far as covering needs them."""
    said = {}
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
        said[name] = rows_of(tmp_path / name)[7]
    assert said == {
        "inside.json": {"id": 7, "v": "a"},
        "keys.json": {"key": "u7", "value": {"v": 7}},
        "list.json": {"id": 7, "v": "a"},
        "feed.xml": {"@id": 7, "name": "x & y"},
        "page.html": {"td": 7, "td.td": "x"},
        "list.yaml": {"id": 7, "name": "x", "tags": ["a", "b"]},
        "stream.yaml": {"kind": "A", "spec.n": 7},
        "keys.yaml": {"key": "u7", "value": {"v": "x", "n": 1}},
        "tables.toml": {"name": "x", "kind": [{"k": 7}]},
        "array.toml": 7,
    }


KEPT = {
    "anchors.yaml": "base: &b\n  x: 1\n" + "".join(f"u{n}:\n  <<: *b\n" for n in range(9)),
    "block.yaml": "text: |\n"
    + "  a line\n" * 20
    + "rows:\n"
    + "".join(f"- {n}\n" for n in range(9)),
    "flow.yaml": "key: [\n"
    + "  1,\n" * 20
    + "]\nrows:\n"
    + "".join(f"  - {n}\n" for n in range(9)),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_others_stand_on_is_no_row(tmp_path, tiny, name):
    """An anchor, the lines of a text, something in brackets over several lines: all of it stays."""
    (tmp_path / name).write_text(KEPT[name])
    report = tiny(tmp_path / name, 2)
    left = Path(report.result).read_text()
    assert (report.rows, report.seen) == (2, 9)
    whole = KEPT[name].partition("u0" if name == "anchors.yaml" else "rows:")[0]
    assert left.startswith(whole)


def test_what_is_in_a_row_is_not_a_row(tmp_path, tiny):
    """Three records are three rows, however much each of them holds."""
    rows = [{"id": n, "tags": ["x"] * 10, **{f"f{k}": 1 for k in range(9)}} for n in range(3)]
    (tmp_path / "a.json").write_text(json.dumps({"rows": rows}))
    entries = "".join(f"- id: {n}\n  tags: [1, 2, 3, 4, 5]\n  a: 1\n  b: 2\n" for n in range(3))
    (tmp_path / "a.yaml").write_text(f"rows:\n{entries}")
    assert tiny(tmp_path / "a.json", 2).seen == tiny(tmp_path / "a.yaml", 2).seen == 3


@pytest.mark.parametrize("name", ["record.json", "nothing.json"])
def test_a_record_has_no_rows(zeroin, tmp_path, name):
    """Then that is said: exit code 2."""
    (tmp_path / name).write_text('{"a": 1, "b": "x"}' if name == "record.json" else "{}")
    done = zeroin("tiny", "data", name, cwd=tmp_path)
    assert (done.returncode, "no list in it" in done.stderr) == (2, True), done.stderr


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(VALUES), st.sampled_from([None, 0, 2]), st.integers(1, 40), st.booleans())
@settings(deadline=None, max_examples=200)
def test_a_list_is_read_in_pieces_of_any_size(values, indent, piece, ascii_only):
    """Wherever a piece ends, in a number or in an escape; and it is written as it was."""
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only) + "\n"
    before, lists.PIECE = lists.PIECE, piece
    try:
        frame = lists.Frame()
        rows = list(lists._Elements(io.StringIO(text), frame).rows())
    finally:
        lists.PIECE = before
    assert [row.value for row in rows] == values
    assert frame.head + frame.joint.join(row.kept for row in rows) + frame.tail == text


@pytest.mark.parametrize("text", ["[1,]", "[1", "[1 2]", "[1] x", "[", '[{"a":}]', "[1,", "[1.]"])
def test_a_broken_list(text):
    """What is wrong is said, also where it is at the end of a piece."""
    opened = lists.json_list(io.StringIO(text), Codec())
    with pytest.raises(UnreadableError, match="begins as JSON, and is none"):
        list(opened.rows)


@pytest.mark.parametrize("codec", ["utf-16", "utf-8-sig", "latin-1"])
def test_a_text_in_another_codec(tmp_path, tiny, codec):
    """Is read as what it is, and written so."""
    text = "name,id\n" + "".join(f"größe {n},{n}\n" for n in range(50))
    (tmp_path / "a.csv").write_bytes(text.encode(codec))
    report = tiny(tmp_path / "a.csv", 1, how="first")
    assert Path(report.result).read_bytes() == "name,id\ngröße 0,0\n".encode(codec)


PACKERS = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


@pytest.mark.parametrize("end", PACKERS)
@pytest.mark.parametrize("name", ["a.jsonl", "inside.json", "list.json", "list.yaml"])
def test_packed_texts(tmp_path, tiny, end, name):
    """As if they were not packed; the result is packed alike."""
    text = TEXTS.get(name) or "".join(f'{{"id": {n}}}\n' for n in range(COUNT))
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}{end}").write_bytes(PACKERS[end](text.encode()))
    plain = Path(tiny(tmp_path / name, 5).result)
    report = tiny(tmp_path / f"{name}{end}", 5)
    assert report.result == f"{plain}{end}"
    with Source(report.result).open() as file:
        assert file.read() == plain.read_bytes()
    assert Path(report.result).read_bytes()[:3] == PACKERS[end](b"x")[:3]


def test_packed_with_what_this_python_lacks(zeroin, tmp_path):
    """Exit code 2, and what to install."""
    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.compress(b'{"id": 1}\n'))
    done = zeroin("tiny", "data", "a.jsonl.zst", cwd=tmp_path, driver=support.bare_driver())
    assert (done.returncode, "pip install 'zeroin[zstd]'" in done.stderr) == (2, True), done.stderr


def test_several_frames_are_one_file(tmp_path, rows_of):
    """As `cat a.zst b.zst` makes them."""
    frames = [zstandard.compress(f'{{"id": {n}}}\n'.encode()) for n in range(3)]
    (tmp_path / "a.jsonl.zst").write_bytes(b"".join(frames))
    assert rows_of(tmp_path / "a.jsonl.zst") == [{"id": 0}, {"id": 1}, {"id": 2}]


@pytest.mark.parametrize("name", [f"a.jsonl{end}" for end in PACKERS])
def test_a_packed_file_that_is_cut_off(zeroin, tmp_path, name):
    """Exit code 2, and no traceback."""
    packed = PACKERS[name[7:]](b'{"id": 1}\n' * 5000)
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    done = zeroin("tiny", "data", name, cwd=tmp_path)
    assert (done.returncode, "can't be read" in done.stderr) == (2, True), done.stderr


def test_a_cell_that_is_longer_than_the_csv_module_likes(tmp_path, rows_of):
    """A text of 200,000 characters in a table."""
    (tmp_path / "a.csv").write_text(f'id,text\n1,"{"x" * 200_000}"\n2,b\n')
    assert len(rows_of(tmp_path / "a.csv")[0]["text"]) == 200_000


@pytest.mark.parametrize("length", [100_000, 2_000_000])
def test_a_first_line_that_is_longer_than_the_sample(tmp_path, tiny, length):
    """Rows of 100 KB, or of 2 MB, are rows all the same."""
    row = json.dumps({"text": "x" * length}) + "\n"
    (tmp_path / "a.jsonl").write_text(row * 3)
    report = tiny(tmp_path / "a.jsonl", 2)
    assert (report.kind, report.rows, report.seen) == ("JSON Lines", 2, 3)


def test_lines_that_begin_with_a_bracket_are_lines(tmp_path, tiny):
    """A log is no JSON."""
    (tmp_path / "a.log").write_text("".join(f"[{n}/9] step\n" for n in range(9)))
    assert (tiny(tmp_path / "a.log", 2).kind, tiny(tmp_path / "a.log", 2).noun) == ("text", "line")


WRONG = {
    "missing": (None, "no such file"),
    "pipe": (None, "neither a file nor a folder"),
    "image": (b"\x89PNG\r\n\x1a\n" + bytes(100), "zeroin shrink"),
    "bytes": (bytes(range(256)) * 10, "can't be read as text"),
    "empty.npy": (b"", "can't be read as text"),
    "cut.npy": (b"\x93NUMPY\1\0", "broken"),
    "cut.zip": (b"PK\3\4" + bytes(50), "can't be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_has_no_rows(zeroin, tmp_path, name):
    """A message that says why, and exit code 2."""
    content, said = WRONG[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    elif name == "pipe":
        os.mkfifo(tmp_path / name)
    done = zeroin("tiny", "data", name, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_it_does_not_write_over_what_it_reads(zeroin, tmp_path):
    """Under whichever name."""
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "link").symlink_to("a.jsonl")
    done = zeroin("tiny", "data", "a.jsonl", "-o", "link", cwd=tmp_path)
    assert (done.returncode, "what it is made of" in done.stderr) == (2, True), done.stderr
    assert (tmp_path / "a.jsonl").read_text() == '{"a": 1}\n'


@pytest.mark.parametrize("name", ["a.jsonl", "folder"])
def test_what_may_not_be_read(plain, name):
    """A message that says how to get at it, and exit code 2."""
    (plain.project / "folder").mkdir()
    (plain.project / "folder" / "inner").mkdir()
    (plain.project / "a.jsonl").write_text('{"a": 1}\n')
    plain.own()
    (plain.project / "a.jsonl").chmod(0)
    (plain.project / "folder" / "inner").chmod(0)
    done = plain("tiny", "data", name)
    assert (done.returncode, "may not be read" in done.stderr) == (2, True), done.stderr
    assert "chmod u+r" in done.stderr

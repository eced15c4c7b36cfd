"""Arrays, archives and large files: as what is in them, whatever the order, the kind or the size."""

import gzip
import io
import json
import struct
import zipfile

import pytest

from zeroin.axes.payload import read, read_file
from zeroin.axes.payload.huge import SMALL
from zeroin.axes.payload.npy import Npy, read_head
from zeroin.search import asking
from zeroin.search.reduction import Reduction


def content(payload):
    return b"".join(payload.pieces())


def npy(kind, shape, data, *, columns_first=False):
    return Npy(b"\1\0", kind, columns_first, shape, 0).head(shape) + data


def smallest(whole, name, fails):
    """What is left of a content."""
    search = asking.run(Reduction.of(read(whole, name)), lambda one: fails(content(one.payload())))
    return content(search.payload)


def test_columns_first():
    """An array in the order of its columns loses rows and columns, and stays in that order."""
    numbers = [0.0] * 600
    numbers[7 * 20 + 5] = 9.5  # column 7, row 5
    whole = npy("<f4", (20, 30), struct.pack("<600f", *numbers), columns_first=True)
    assert read(whole).parts == 20

    def fails(one):
        head = read_head(one)
        wants = head is not None and head.columns_first and len(head.shape) == 2
        return wants and struct.pack("<f", 9.5) in one[head.start :]

    least = smallest(whole, "a.npy", fails)
    assert read_head(least).shape == (1, 1)
    assert least.endswith(struct.pack("<f", 9.5))


def test_records():
    """Of records, rows go, then fields, then values; an array may be one of the fields."""
    kind = [("id", "<i4"), ("name", "<U3"), ("at", "<M8[ns]"), ("xy", "<f4", (2,))]
    rows = [
        struct.pack("<i", n) + "abc".encode("utf-32-le") + struct.pack("<qff", n, n, 0.5)
        for n in range(50)
    ]
    whole = npy(kind, (50,), b"".join(rows))

    def fails(one):
        head = read_head(one)
        return any(name == "xy" for name, *_ in head.kind) and head.shape[0] > 0

    least = smallest(whole, "a.npy", fails)
    assert read_head(least).kind == [("xy", "<f4", (2,))]
    assert least[read_head(least).start :] == bytes(8)


@pytest.mark.parametrize(
    ("kind", "width"), [("<U4", 16), ("|S4", 4), ("<M8[ns]", 8), ("<c16", 16), ("|V3", 3)]
)
def test_what_is_no_number(kind, width):
    """Texts, dates, complex numbers: rows go, and what is left is zero."""
    whole = npy(kind, (40, 2), bytes(range(1, width + 1)) * 80)
    least = smallest(whole, "a.npy", lambda one: read_head(one).shape[0] > 2)
    assert least[read_head(least).start :] == b""
    assert read_head(least).shape == (3, 0)
    least = smallest(whole, "a.npy", lambda one: min(read_head(one).shape) > 0)
    assert least[read_head(least).start :] == bytes(width)


def test_many_numbers():
    """Where no row can go, many numbers become zero block by block: few questions, not millions."""
    whole = npy("<i2", (400, 500), b"\7\0" * 200_000)
    search = Reduction.of(read(whole, "a.npy"))
    asked = []

    def fails(one):
        asked.append(one)
        return read_head(content(one.payload())).shape == (400, 500)

    least = asking.run(search, fails).payload
    assert content(least)[-400_000:] == bytes(400_000)
    assert len(asked) < 3000


def test_the_whole_is_as_it_was():
    """What is tried first is the user's own file, to the last byte of its packing."""
    packed = gzip.compress(b'{"a": 1}\n{"b": 2}\n', 1, mtime=12345)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("folder/", "")
        archive.writestr("folder/a.txt", "one\ntwo\n")
    for name, whole in (("a.jsonl.gz", packed), ("a.zip", out.getvalue())):
        payload = read(whole, name)
        assert content(payload) == whole
        assert payload.size == len(whole)
        less = next(one for one in payload.rounds() if one.count).keep(())
        assert content(less) != whole


@pytest.fixture
def large():
    """A list of rows, longer than what is held of a file that has lines."""
    row = json.dumps({"text": "x" * 1000})
    return [row] * (SMALL // 1000 + 1)


def nobody(_path, _kind):
    return None


@pytest.mark.parametrize(
    ("name", "noun", "made"),
    [
        ("a.json", "member", lambda rows: f'{{"a": 1, "b": [{", ".join(rows)}]}}'.encode()),
        ("a.npy", "row", lambda _: npy("|u1", (20, 1 << 20), bytes(20 << 20))),
        ("a.jsonl", "block", lambda rows: "\n".join(rows).encode()),
        ("a.jsonl.gz", "block", lambda rows: gzip.compress("\n".join(rows).encode(), 1)),
        ("cut.json", "block", lambda rows: f"[{', '.join(rows)}".encode()),
    ],
)
def test_a_large_file(tmp_path, large, name, noun, made):
    """It has its parts however large it is; what has lines is taken by blocks of them at first."""
    whole = made(large)
    (tmp_path / name).write_bytes(whole)
    payload = read_file(str(tmp_path / name), nobody)
    assert payload.noun == noun
    assert content(payload) == whole
    less = next(one for one in payload.rounds() if one.count).keep(((0, 1),))
    assert 0 < less.size < len(whole)


def test_what_differs_has_another_name():
    """Also where no number is left and only shapes differ: a try is known by its name."""
    shapes = {"a": [2, 2], "b": [2, 3]}
    told, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * shape[1]
        told[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    header = json.dumps(told).encode()
    whole = len(header).to_bytes(8, "little") + header + bytes(at)
    names = {}
    waiting = [read(whole, "a.safetensors")]
    while waiting:
        payload = waiting.pop()
        written, name = content(payload), b"\0".join(payload.identity())
        if name in names:
            assert names[name] == written
            continue
        names[name] = written
        for one in payload.rounds():
            waiting += [one.keep(((0, part),) if part else ()) for part in range(one.count)]
    assert len(names) > 20

"""Rows of `.npy`, `.npz` and safetensors, compared with what NumPy and torch read."""

import gzip
import io
import math
import struct
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from left_out import heavy
from zeroin.axes.payload.npy import Npy, read_head, width_of
from zeroin.tiny import fake_arrays
from zeroin.tiny.arrays import npy
from zeroin.tiny.numbers import Numbers, described


def made(kind, shape, numbers):
    return fake_arrays.npy(fake_arrays.Array(kind, shape), numbers)


MAKE = """
import numpy as np
n = 300
wide = np.arange(n * 30, dtype="float32").reshape(n, 30)
wide[211, 7] = np.nan
np.save("wide.npy", wide)
np.save("columns.npy", np.asfortranarray(wide))
np.save("big.npy", wide.astype(">f8"))
np.save("half.npy", wide.astype("float16"))
np.save("cube.npy", wide.reshape(n, 5, 6))
np.save("texts.npy", np.array(["x" if i != 211 else "\\u00fc long one" for i in range(n)]))
np.save("complex.npy", np.where(np.arange(n) == 211, np.nan, 1 + 1j))
np.save("dates.npy", np.datetime64("2020-01-01") + np.where(np.arange(n) == 211, -9000, 1))
records = np.zeros(n, dtype=[("id", "<i4"), ("at", "<f8", (2,))])
records["id"][211] = 7
np.save("records.npy", records)
np.save("flat.npy", np.where(np.arange(n) == 211, -1, 1))
np.savez("several.npz", x=wide, y=np.arange(n), classes=np.arange(5), objects=np.array([None]))
np.savez_compressed("packed.npz", x=wide)
"""
SAVE = """
import torch
from safetensors.torch import save_file
n = 300
wide = torch.arange(n * 30.0).reshape(n, 30)
wide[211, 7] = float("nan")
save_file({"x": wide.bfloat16(), "y": torch.arange(n), "c": torch.arange(5)},
          "a.safetensors", metadata={"note": "kept"})
"""
CHECK = """
import sys, numpy as np
old, new = np.load(sys.argv[1], allow_pickle=True), np.load(sys.argv[2], allow_pickle=True)
if not sys.argv[1].endswith("z"):
    old, new = {"": old}, {"": new}
assert list(old) == list(new)
count = None
for name in old:
    a, b = old[name], new[name]
    assert (a.dtype, a.shape[1:], a.flags.f_contiguous) == (b.dtype, b.shape[1:], b.flags.f_contiguous)
    if len(a) != 300:
        assert (a == b).all()
        continue
    rows = [row.tobytes() for row in a]
    places = [rows.index(row.tobytes()) for row in b]
    assert places == sorted(places) and 211 in places, places
    assert count in (None, len(b))
    count = len(b)
print(count)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, warm_tables):
    """What NumPy saved, made once."""
    found = tmp_path_factory.mktemp("arrays")
    subprocess.run([warm_tables, "-W", "ignore", "-c", MAKE], cwd=found, check=True)
    return found


NAMES = [
    *("wide.npy", "columns.npy", "big.npy", "half.npy", "cube.npy", "texts.npy", "complex.npy"),
    *("dates.npy", "records.npy", "flat.npy", "several.npz", "packed.npz"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_numpy_reads_what_is_left(tiny, folder, warm_tables, name):
    """Rows as they were, the odd one among them; other arrays of the file stay whole."""
    report = tiny(folder / name, 12)
    assert (report.rows, report.seen, report.noun) == (12, 300, "row")
    command = [warm_tables, "-c", CHECK, name, report.result]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("12\n", 0), done.stderr


@heavy("torch")
@pytest.mark.slow
def test_tensors_go_together(tiny, tmp_path, warm_torch):
    """Those of one length are cut alike, bfloat16 too; the others and the notes stay."""
    subprocess.run([warm_torch, "-c", SAVE], cwd=tmp_path, check=True)
    report = tiny(tmp_path / "a.safetensors", 6)
    code = """
import sys, torch
from safetensors import safe_open
with safe_open(sys.argv[1], "pt") as file:
    x, y, c = map(file.get_tensor, "xyc")
    print(x.dtype, tuple(x.shape), tuple(y.shape), c.tolist(), file.metadata())
print(torch.isnan(x).sum().item(), y[torch.isnan(x).any(1)].item())
"""
    done = subprocess.run(
        [warm_torch, "-c", code, report.result], capture_output=True, text=True, check=False
    )
    assert done.stdout == (
        "torch.bfloat16 (6, 30) (6,) [0, 1, 2, 3, 4] {'note': 'kept'}\n1 211\n"
    ), done.stderr


def test_an_array_that_is_packed(tmp_path, tiny, rows_of):
    """Is unpacked on the way, and the result is packed alike."""
    content = made("int64", (50, 2), list(range(100)))
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(content))
    report = tiny(tmp_path / "a.npy.gz", 3, how="first")
    assert report.result == str(tmp_path / "a.tiny.npy.gz")
    assert rows_of(report.result) == [{"0": 0, "1": 1}, {"0": 2, "1": 3}, {"0": 4, "1": 5}]


def test_an_array_that_is_cut_off(zeroin, tmp_path):
    """Exit code 2, and it is said."""
    (tmp_path / "a.npy").write_bytes(made("int64", (50, 2), list(range(100)))[:-5])
    done = zeroin("tiny", "data", "a.npy", cwd=tmp_path)
    assert (done.returncode, "in the middle" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("shape", [(), (0,), (0, 3)])
def test_an_array_without_rows(zeroin, tmp_path, shape):
    """An empty one gives an empty one; one without axes has none."""
    (tmp_path / "a.npy").write_bytes(made("int64", shape, [1] if not shape else []))
    done = zeroin("tiny", "data", "a.npy", cwd=tmp_path)
    assert done.returncode == (0 if shape else 2), done.stderr
    if shape:
        assert (tmp_path / "a.tiny.npy").read_bytes() == (tmp_path / "a.npy").read_bytes()


@given(st.lists(st.integers(-100, 100), min_size=1), st.integers(1, 4))
@settings(deadline=None)
def test_all_rows_give_the_array_again(tmp_path_factory, values, wide):
    """Byte for byte."""
    values *= wide
    content = made("int8", (len(values) // wide, wide), values)
    target = tmp_path_factory.mktemp("array") / "a.npy"
    opened = npy(io.BytesIO(content))
    size = opened.write(list(opened.rows), str(target))
    assert (target.read_bytes(), size) == (content, len(content))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([1.0, 2.0], (False, False, 1.0, 2.0, False, False)),
        ([NAN, 0.0], (True, False, 0.0, 0.0, True, True)),
        ([INF, -INF, 1.0], (False, True, 1.0, 1.0, False, True)),
        ([1e308, 1e308, 5.0], (False, False, 5.0, 1e308, False, False)),
    ],
)
def test_what_is_special_about_many_numbers(numbers, told):
    """NaN, infinity, least and greatest, zeros, all equal; a sum that is too large is no infinity."""
    assert tuple(described(numbers).values()) == told


def test_numbers_of_all_kinds():
    """Bytes in either order, the half of a float, texts."""
    assert list(Numbers("h", ">", 2, ">i2").read(b"\1\0\0\2")) == [256, 2]
    assert list(Numbers("bf", "<", 2, "").read(b"\x80\x3f\x00\xc0")) == [1.0, -2.0]
    assert list(Numbers("", "<", 8, "<U2").read("aü".encode("utf-32-le"))) == ["aü"]
    assert width_of([("a", "<i4"), ("b", "<f8", (2,)), ("c", [("d", "|S3")])]) == 23
    assert width_of([("a", "<i4"), ("b", "|O")]) == 0


def test_records_by_their_fields(tmp_path, tiny):
    """The one record whose field is NaN is chosen: it is a kind of value that no other shows."""
    kind = [("id", "<i4"), ("xy", [("x", "<f8"), ("y", "<f4", (2,))]), ("name", "<U2")]
    records = [
        struct.pack("<idff", n, math.nan if n == 77 else 1.5, 0, 1) + "ab".encode("utf-32-le")
        for n in range(100)
    ]
    whole = Npy(b"\1\0", kind, False, (100,), 0).head((100,)) + b"".join(records)
    (tmp_path / "a.npy").write_bytes(whole)
    tiny(tmp_path / "a.npy", 6, out=str(tmp_path / "b.npy"))
    left = (tmp_path / "b.npy").read_bytes()
    assert read_head(left).shape == (6,)
    assert records[77] in left

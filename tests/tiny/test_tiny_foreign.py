"""Rows of Parquet, Arrow and `.pt`: told and written by an interpreter that has the library."""

import os
import subprocess

import pytest

from left_out import heavy

MAKE = """
import datetime, decimal
import pyarrow as pa, pyarrow.feather as ft, pyarrow.parquet as pq
n = 3000
table = pa.table({
    "id": pa.array(range(n), pa.int32()),
    "at": [datetime.datetime(2020, 1, 1)] * n,
    "price": [decimal.Decimal("1.50")] * n,
    "name": pa.array([None if i == 2111 else "ab"[i % 2] for i in range(n)]).dictionary_encode(),
    "vector": [[float(i)] * 50 for i in range(n)],
    "body": [b"xx"] * n,
}).replace_schema_metadata({"note": "kept"})
pq.write_table(table, "a.parquet", row_group_size=700, compression="zstd")
ft.write_feather(table, "a.arrow", compression="uncompressed")
with pa.ipc.new_stream("stream.arrow", table.schema) as out:
    out.write_table(table, max_chunksize=700)
"""
SAVE = """
import torch
n = 3000
x = torch.arange(n * 30.0).reshape(n, 30)
x[2111, 7] = float("nan")
torch.save(x, "tensor.pt")
torch.save({"x": x, "y": torch.arange(n), "lr": 0.1, "c": torch.arange(5)}, "dict.pt")
torch.save((x, torch.arange(n)), "tuple.pt")
nested = {"data": {"x": x, "y": torch.arange(n)}, "lr": 0.1, "c": torch.arange(5)}
torch.save({"split": (nested, [1, 2, 3])}, "nested.pt")
torch.save([{"x": torch.ones(3 if i != 2111 else 0)} for i in range(n)], "list.pt")
torch.save(x, "old.pt", _use_new_zipfile_serialization=False)
torch.save({"lr": 0.1}, "nothing.pt")
torch.save(Exception, "code.pt")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, warm_tables):
    """The tables, made once."""
    found = tmp_path_factory.mktemp("foreign")
    subprocess.run([warm_tables, "-W", "ignore", "-c", MAKE], cwd=found, check=True)
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory, warm_torch):
    """What torch saved, made once."""
    found = tmp_path_factory.mktemp("saved")
    subprocess.run([warm_torch, "-W", "ignore", "-c", SAVE], cwd=found, check=True)
    return found


TABLES = {
    "a.parquet": "pq.read_table",
    "a.arrow": "ft.read_table",
    "stream.arrow": "(lambda path: pa.ipc.open_stream(path).read_all())",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_table_keeps_its_schema(tiny, folder, warm_tables, name):
    """Types, dictionaries, notes; the row without a name is found in a late group of rows."""
    report = tiny(folder / name, 9, python=warm_tables)
    assert (report.rows, report.seen, report.noun) == (9, 3000, "row")
    read = TABLES[name]
    code = f"""
import sys, pyarrow as pa, pyarrow.feather as ft, pyarrow.parquet as pq
old, new = {read}(sys.argv[1]), {read}(sys.argv[2])
assert old.schema.equals(new.schema, check_metadata=True), new.schema
ids = new["id"].to_pylist()
assert ids == sorted(ids)
assert old.take(ids).to_pylist() == new.to_pylist()
print(len(ids), 2111 in ids)
if sys.argv[1].endswith("parquet"):
    print(pq.ParquetFile(sys.argv[2]).metadata.row_group(0).column(0).compression)
"""
    command = [warm_tables, "-W", "ignore", "-c", code, name, report.result]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    packed = "ZSTD\n" if name == "a.parquet" else ""
    assert done.stdout == f"9 True\n{packed}", done.stderr


SAVED = {
    "tensor.pt": "(6, 30) 1",
    "old.pt": "(6, 30) 1",
    "dict.pt": "(6, 30) 1 (6,) True 0.1 [0, 1, 2, 3, 4]",
    "tuple.pt": "(6, 30) 1 (6,) True",
    "list.pt": "6 1",
}


@heavy("torch")
@pytest.mark.slow
@pytest.mark.parametrize("name", SAVED)
def test_what_torch_saved_is_cut_along_its_first_axis(tiny, saved, warm_torch, name):
    """Tensors of one length together, items of a list; the row with NaN is among them."""
    report = tiny(saved / name, 6, python=warm_torch)
    assert (report.rows, report.seen) == (6, 3000)
    assert report.noun == ("item" if name == "list.pt" else "row")
    assert report.size < 10_000
    code = """
import sys, torch
value = torch.load(sys.argv[1])
if isinstance(value, list):
    print(len(value), sum(not len(one["x"]) for one in value))
    sys.exit()
x, *rest = [value] if isinstance(value, torch.Tensor) else value.values() if isinstance(value, dict) else value
print(tuple(x.shape), torch.isnan(x).sum().item(), end="")
if rest:
    y, *more = rest
    print("", tuple(y.shape), y[torch.isnan(x).any(1)].item() == 2111, end="")
    for one in more:
        print("", one.tolist() if isinstance(one, torch.Tensor) else one, end="")
print()
"""
    command = [warm_torch, "-W", "ignore", "-c", code, report.result]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == SAVED[name], done.stderr


@heavy("torch")
@pytest.mark.slow
def test_tensors_in_dicts_in_tuples(tiny, saved, warm_torch):
    """Those that are equally long are cut, wherever they lie; all else stays where it is."""
    report = tiny(saved / "nested.pt", 6, python=warm_torch)
    assert (report.rows, report.seen, report.noun) == (6, 3000, "row")
    code = """
import sys, torch
(first, rest) = torch.load(sys.argv[1])["split"]
x, y = first["data"]["x"], first["data"]["y"]
print(tuple(x.shape), y[torch.isnan(x).any(1)].item(), first["lr"], first["c"].tolist(), rest)
"""
    command = [warm_torch, "-W", "ignore", "-c", code, report.result]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(6, 30) 2111 0.1 [0, 1, 2, 3, 4] [1, 2, 3]", done.stderr


@pytest.mark.slow
def test_which_interpreter_reads_it(zeroin, folder, libs, tmp_path):
    """That of --python, an environment's folder too; else of the active one; else python3."""
    home = os.path.dirname(os.path.dirname(libs))
    for words, env in (
        (["--python", libs], {}),
        (["--python", home], {}),
        ([], {"VIRTUAL_ENV": home}),
    ):
        target = tmp_path / "out.parquet"
        command = ["tiny", "data", "a.parquet", "-n", "2", "-o", target, *words]
        done = zeroin(*command, cwd=folder, env=env)
        assert done.returncode == 0, done.stderr
        target.unlink()
    done = zeroin("tiny", "data", "a.parquet", cwd=folder)
    assert (done.returncode, "has no pyarrow" in done.stderr) == (2, True), done.stderr
    assert "--python" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.parquet", "--python", "no-such-python"], "command not found"),
        (["a.parquet", "--python", "/bin/true"], "ended without an answer"),
        (["a.parquet", "--python", "/etc/passwd"], "permission denied"),
        (["a.parquet", "-o", "no/where.parquet"], "no such file or directory"),
        (["cut.parquet"], "can't do it: ArrowInvalid"),
    ],
)
def test_what_an_interpreter_can_not_do(zeroin, folder, warm_tables, words, said):
    """A message, exit code 2."""
    (folder / "cut.parquet").write_bytes((folder / "a.parquet").read_bytes()[:500])
    given = [] if "--python" in words else ["--python", warm_tables]
    done = zeroin("tiny", "data", *words, *given, cwd=folder)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


@heavy("torch")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing.pt", "neither a list nor a tensor"), ("code.pt", "can't do it")],
)
def test_what_torch_can_not_do(zeroin, saved, warm_torch, name, said):
    """A message, exit code 2; and nothing that a file holds is ever run."""
    done = zeroin("tiny", "data", name, "--python", warm_torch, cwd=saved)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr

"""`zeroin fake` in all formats, from a line or like a file, read by the libraries they are for."""

import gzip
import json
import subprocess

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import warm_libraries
from left_out import heavy
from zeroin.tiny import fake_arrays
from zeroin.tiny.fake_arrays import KINDS, ONLY, Array

SHOW = {
    ".npy": "import numpy as np; x = {'': np.load(name)}; cast = lambda a: a.astype(float).tolist()",
    ".npz": "import numpy as np; x = np.load(name); cast = lambda a: a.astype(float).tolist()",
    ".safetensors": "from safetensors.torch import load_file; x = load_file(name); cast = lambda a: a.double().tolist()",
    ".pt": "import torch; x = torch.load(name); x = x if isinstance(x, dict) else {'': x}; cast = lambda a: a.double().tolist()",
}


@pytest.fixture
def shown(tmp_path):
    """Names, kinds, shapes and numbers of a file, as its library has them."""

    def show(python, name, numbers=True):
        end = name[name.rindex(".") :]
        code = (
            f"import sys, json; name = sys.argv[1]; {SHOW[end]}\n"
            "print(json.dumps({k: [str(x[k].dtype).removeprefix('torch.'), list(x[k].shape), cast(x[k])] for k in x}))"
        )
        done = subprocess.run(
            [python, "-W", "ignore", "-c", code, name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        return told if numbers else {name: one[:2] for name, one in told.items()}

    return show


TWO = {"x": ["float32", [2, 3], [[1, 2, 3], [4, 5, 6]]], "y": ["int64", [2], [1, 2]]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warm_python", "end"),
    [
        pytest.param((), ".npz", id=".npz"),
        pytest.param(warm_libraries.TORCH, ".safetensors", id=".safetensors", marks=heavy("torch")),
        pytest.param(warm_libraries.TORCH, ".pt", id=".pt", marks=heavy("torch")),
    ],
    indirect=["warm_python"],
)
def test_several_arrays(zeroin, tmp_path, libs, warm_python, shown, end):
    """By name, each counting from 1."""
    words = ["x:float32[2,3], y:int64[2]", "-o", f"a{end}", "--python", warm_python]
    done = zeroin("fake", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert shown(warm_python, f"a{end}") == TWO


@heavy("torch")
@pytest.mark.slow
@pytest.mark.parametrize("end", [".safetensors", ".pt"])
def test_every_kind_of_number(zeroin, tmp_path, warm_torch, shown, end):
    """Those that NumPy lacks as well."""
    spec = ",".join(f"{kind}:{kind}[2,2]" for kind in KINDS)
    done = zeroin("fake", spec, "-o", f"a{end}", "--python", warm_torch, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert shown(warm_torch, f"a{end}") == {
        kind: [kind, [2, 2], [[1, 1], [1, 1]] if kind == "bool" else [[1, 2], [3, 4]]]
        for kind in KINDS
    }


MAKE = """
import numpy as np, torch
from safetensors.torch import save_file
x, y, c = torch.randn(50, 3), torch.arange(50, dtype=torch.int32), torch.arange(4)
np.save("one.npy", x.numpy().astype(">f8"))
np.savez("all.npz", x=x, y=y, c=c)
save_file({"x": x.bfloat16(), "y": y, "c": c}, "all.safetensors")
torch.save(x.half(), "one.pt")
torch.save({"x": x, "y": y, "c": c}, "all.pt")
"""
LIKE = {
    "one.npy": {"": [">f8", [7, 3]]},
    "all.npz": {"x": ["float32", [7, 3]], "y": ["int32", [7]], "c": ["int64", [4]]},
    "all.safetensors": {"c": ["int64", [4]], "y": ["int32", [7]], "x": ["bfloat16", [7, 3]]},
    "one.pt": {"": ["float16", [7, 3]]},
    "all.pt": {"x": ["float32", [7, 3]], "y": ["int32", [7]], "c": ["int64", [4]]},
}


@heavy("torch")
@pytest.mark.slow
def test_arrays_like_those_of_a_file(zeroin, tmp_path, warm_torch, shown):
    """The same names, kinds and shapes; those that are equally long have the new length."""
    subprocess.run([warm_torch, "-W", "ignore", "-c", MAKE], cwd=tmp_path, check=True)
    for name, told in LIKE.items():
        words = ["--like", name, "-n", "7", "-o", f"fake.{name}", "--python", warm_torch]
        done = zeroin("fake", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        seen = shown(warm_torch, f"fake.{name}")
        assert {key: one[:2] for key, one in seen.items()} == told
        assert all(one[2][0] in (1, [1, 2, 3]) for one in seen.values())
    done = zeroin(
        "fake", "--like", "all.pt", "-n", "2", "-o", "a.npz", "--python", warm_torch, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert shown(warm_torch, "a.npz", numbers=False)["x"] == ["float32", [2, 3]]
    done = zeroin("fake", "--like", "one.npy", "-n", "2", cwd=tmp_path)
    assert json.loads(done.stdout) == [[1, 2, 3], [4, 5, 6]]


NESTED = """
import sys, torch
if len(sys.argv) == 1:
    model = {"w": torch.randn(50, 2), "b": torch.zeros(2)}
    torch.save({"model": model, "epoch": 3, "extra": ([torch.ones(4)], None)}, "check.pt")
else:
    made = torch.load(sys.argv[1])
    print(made["model"]["w"].tolist(), made["model"]["b"].tolist(), made["epoch"], made["extra"])
"""


@heavy("torch")
@pytest.mark.slow
def test_a_checkpoint_like_another(zeroin, tmp_path, warm_torch):
    """Tensors are made up wherever they lie; what is none stays."""
    show = [warm_torch, "-W", "ignore", "-c", NESTED]
    subprocess.run(show, cwd=tmp_path, check=True)
    words = ["--like", "check.pt", "-n", "3", "-o", "fake.pt", "--python", warm_torch]
    done = zeroin("fake", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    show.append("fake.pt")
    seen = subprocess.run(show, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert seen.stdout == (
        "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] [1.0, 2.0] 3 ([tensor([1., 2., 3., 4.])], None)\n"
    ), seen.stderr


TABLE = """
import datetime, decimal, pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as ft
S = pa.schema([
    pa.field("i8", pa.int8(), nullable=False), ("u64", pa.uint64()), ("f16", pa.float16()), ("f", pa.float32()),
    ("s", pa.string()), ("ls", pa.large_string()), ("b", pa.bool_()), ("bin", pa.binary()),
    ("fix", pa.binary(4)), ("ts", pa.timestamp("ns", "Europe/Berlin")), ("t", pa.timestamp("ms")),
    ("day", pa.date32()), ("clock", pa.time64("us")), ("span", pa.duration("s")),
    ("dec", pa.decimal128(5, 2)), ("none", pa.null()), ("cat", pa.dictionary(pa.int32(), pa.string())),
    ("many", pa.list_(pa.int16())), ("pair", pa.list_(pa.float64(), 3)),
    ("st", pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])), ("m", pa.map_(pa.string(), pa.int8())),
], metadata={"note": "kept"})
pq.write_table(S.empty_table(), "a.parquet")
ft.write_feather(S.empty_table(), "a.arrow", compression="uncompressed")
"""
CHECK = """
import sys, pyarrow.parquet as pq, pyarrow.feather as ft
read = pq.read_table if sys.argv[1].endswith("parquet") else ft.read_table
old, new = read(sys.argv[1]), read(sys.argv[2])
assert old.schema.equals(new.schema, check_metadata=True), (old.schema, new.schema)
new.validate(full=True)
for name in ("i8", "s", "cat", "many", "st", "t"):
    print(name, *new[name].to_pylist())
"""
ROWS = """\
i8 1 2 3
s s1 s2 s3
cat cat1 cat2 cat3
many [1, 2] [3, 4] [5, 6]
st {'a': 1, 'b': ['b1', 'b2']} {'a': 2, 'b': ['b3', 'b4']} {'a': 3, 'b': ['b5', 'b6']}
t 2000-01-01 00:00:01 2000-01-01 00:00:02 2000-01-01 00:00:03
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_tables_like_those_of_a_file(zeroin, tmp_path, warm_tables, name):
    """The same schema to the last type, with its notes; values count, or are random by a seed."""
    subprocess.run([warm_tables, "-W", "ignore", "-c", TABLE], cwd=tmp_path, check=True)
    command = ["fake", "--like", name, "-n", "3", "--python", warm_tables, "-o"]
    done = zeroin(*command, f"fake.{name}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = [warm_tables, "-W", "ignore", "-c", CHECK, name, f"fake.{name}"]
    seen = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (seen.stdout, seen.returncode) == (ROWS, 0), seen.stderr
    made = []
    for seed in ("1", "1", "2"):
        zeroin(*command, f"fake.{name}", "--random", "--seed", seed, cwd=tmp_path)
        made.append((tmp_path / f"fake.{name}").read_bytes())
    assert made[0] == made[1] != made[2]


@pytest.mark.slow
def test_rows_of_a_line_as_parquet(zeroin, tmp_path, libs):
    """With lists and objects."""
    spec = "id:int,tags:[str],at:{x:float}"
    done = zeroin("fake", spec, "-n", "2", "-o", "a.parquet", "--python", libs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    code = "import pyarrow.parquet as pq; print(pq.read_table('a.parquet').to_pylist())"
    command = [libs, "-c", code]
    seen = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert seen.stdout == (
        "[{'id': 1, 'tags': ['tags1', 'tags2'], 'at': {'x': 1.0}}, "
        "{'id': 2, 'tags': ['tags3', 'tags4'], 'at': {'x': 2.0}}]\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "row"),
    [
        ("a.yaml", "- id: 7\n  name: x\n- id: 8\n  name: y\n", {"id": 1, "name": "name1"}),
        ("a.xml", '<r><i id="7">x</i><i id="8">y</i></r>', {"@id": 1, "": "text1"}),
        ("a.json", '{"v": 1, "rows": [{"id": 7}, {"id": 8}]}', {"id": 1}),
        ("a.toml", "[[r]]\nid = 7\n[[r]]\nid = 8\n", {"id": 1}),
    ],
)
def test_rows_like_those_of_any_text(zeroin, tmp_path, name, text, row):
    """As JSON Lines."""
    (tmp_path / name).write_text(text)
    words = ["fake", "--like", name, "-n", "1", "-o", "fake.jsonl"]
    done = zeroin(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "fake.jsonl").read_text()) == row


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (b"gr\xf6\xdfe,id\n1,2\n3,4\n", b'{"gr\xf6\xdfe": 1, "id": 1}\n'),
        (b'{"\\ud800": 1}\n{"\\ud800": 2}\n', b'{"?": 1}\n'),
    ],
)
def test_names_that_are_no_text(zeroin, tmp_path, text, made):
    """Stay as they are in the file; half a character becomes a question mark."""
    (tmp_path / "a").write_bytes(text)
    done = zeroin("fake", "--like", "a", "-n", "1", "-o", "b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b").read_bytes() == made


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,name\n1,name1\n"),
        ("a.tsv", "id\tname\n1\tname1\n"),
        ("a.json", '[\n {\n  "id": 1,\n  "name": "name1"\n }\n]\n'),
        ("a.jsonl", '{"id": 1, "name": "name1"}\n'),
    ],
)
def test_text_by_the_end_of_the_name(zeroin, tmp_path, name, text):
    """And packed, if the name says so."""
    for end, unpack in (
        ("", bytes),
        (".gz", gzip.decompress),
        (".zst", lambda one: zstandard.ZstdDecompressor().decompress(one)),
    ):
        done = zeroin("fake", "id:int,name:str", "-n", "1", "-o", f"{name}{end}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert unpack((tmp_path / f"{name}{end}").read_bytes()).decode() == text


def test_random_arrays_differ_from_one_another(zeroin, tmp_path):
    """And are the same for the same seed."""
    words = ["fake", "x:int64[20],y:int64[20]", "--random", "--seed"]
    first, again, other = (
        json.loads(zeroin(*words, seed, cwd=tmp_path).stdout) for seed in ("1", "1", "2")
    )
    assert first == again != other
    assert first["x"] != first["y"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x:float32[2],y:int8[2]", "-o", "a.npy"], "holds one array"),
        (["bfloat16[2]", "-o", "a.npy"], "NumPy has no bfloat16"),
        (["x:float31[2]"], "no such kind"),
        (["float32[2]", "-o", "a.csv"], "arrays are no rows"),
        (["a:int", "-o", "a.safetensors"], "rows are no array"),
        (["a:int", "-o", "a.yaml"], "not made up"),
        (["a:int", "-o", "a.parquet.gz"], "not packed once more"),
        (["a:int", "-o", "no/where.parquet"], "no such file or directory"),
        (["a:int", "-o", "a.parquet", "--python", "no-such"], "command not found"),
        (["texts.npy"], "zeroin fake --like texts.npy"),
        (["--like", "folder"], "files are not made up"),
        (["--like", "nothing.npy"], "no such file"),
        (["--like", "texts.npy"], "<U5"),
        (["--like", "broken.npz"], "can't be read"),
    ],
)
def test_what_is_not_made(zeroin, tmp_path, words, said):
    """A message, and exit code 2."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("x")
    head = fake_arrays.Npy(b"\1\0", "<U5", False, (1,), 0)
    (tmp_path / "texts.npy").write_bytes(head.head((1,)) + bytes(20))
    (tmp_path / "broken.npz").write_bytes(b"PK\3\4 and no more")
    done = zeroin("fake", *words, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_the_interpreter_lacks_the_library(zeroin, tmp_path, python):
    """On every Python: what is missing is named, and the option."""
    done = zeroin("fake", "a:int", "-o", "a.parquet", "--python", python, cwd=tmp_path)
    assert (done.returncode, "has no pyarrow" in done.stderr) == (2, True), done.stderr
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    done = zeroin("tiny", "data", "a.parquet", "--python", python, cwd=tmp_path)
    assert (done.returncode, "has no pyarrow" in done.stderr) == (2, True), done.stderr
    assert "--python PATH" in done.stderr


NAMES = st.text("abcxyz_0.", min_size=1, max_size=5)
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


@given(st.dictionaries(NAMES, st.tuples(st.sampled_from(sorted(KINDS)), SHAPES), min_size=1))
def test_a_line_is_read_as_it_is_meant(wanted):
    """Whatever names, kinds and shapes."""
    spec = ",".join(
        f"{name}:{kind}[{','.join(map(str, shape))}]" for name, (kind, shape) in wanted.items()
    )
    assert fake_arrays.parse(spec) == {name: Array(*one) for name, one in wanted.items()}
    assert fake_arrays.parse("int8[2]") == {ONLY: Array("int8", (2,))}
    assert fake_arrays.parse("x:int,y:[str]") is None

"""`zeroin shapes`: real libraries, files written and checked, crashes, and odd command lines."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import support
from left_out import heavy

LISTS = """\
import sys


def pairs(rows):
    halves = rows[::2]
    return halves


result = pairs([1, 2, 3, 4, 5, 6])
print(sys.argv[1:])
"""


class Shapes:
    """Runs `zeroin shapes` in a folder, with a `python` of choice first on PATH."""

    def __init__(self, zeroin: support.Zeroin, folder: Path, python: str) -> None:
        self.zeroin = zeroin
        self.folder = folder
        self.path = f"{os.path.dirname(python)}{os.pathsep}{os.environ['PATH']}"

    def __call__(self, *words: str, **options):
        env = {"PATH": self.path, "VIRTUAL_ENV": ""}
        return self.zeroin("shapes", *words, cwd=self.folder, env=env, **options)

    def lines(self, *words: str) -> dict[str, str]:
        """What is said of each line, by the text of its code."""
        done = self("--json", *words)
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)
        out: dict[str, str] = {}
        for file in found["files"]:
            source = Path(file["file"]).read_text().splitlines()
            out |= {source[int(n) - 1].strip(): note for n, note in file["lines"].items()}
        return out

    def write(self, name: str, source: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
        return path


@pytest.fixture
def shapes(zeroin, tmp_path) -> Shapes:
    folder = tmp_path / "work"
    folder.mkdir()
    return Shapes(zeroin, folder, support.base_python())


@pytest.fixture
def real(zeroin, tmp_path, libs) -> Shapes:
    folder = tmp_path / "work"
    folder.mkdir()
    return Shapes(zeroin, folder, libs)


# --- the command line -----------------------------------------------------------------------------


def test_the_source_with_what_was_seen(shapes):
    """Functions and statements, numbered, with the shapes beside; the program's output aside."""
    shapes.write("lists.py", LISTS)
    done = shapes("lists.py", "--no-record")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "lists.py",
        " 4  def pairs(rows):  # rows: (6,) list",
        " 5      halves = rows[::2]  # (3,) list",
        " 6      return halves  # (3,) list",
        "",
        " 9  result = pairs([1, 2, 3, 4, 5, 6])  # (3,) list",
    ]
    assert "[]" in done.stderr


def test_options_of_ours_and_of_the_script(shapes):
    """Ours wherever they stand; what is not ours is the script's, in its order."""
    shapes.write("lists.py", LISTS)
    done = shapes("--no-record", "lists.py", "a", "--epochs", "3", "--func", "pairs", "-x", "b")
    assert "['a', '--epochs', '3', '-x', 'b']" in done.stderr
    assert "result" not in done.stdout


def test_files_and_a_command(shapes):
    """Only the files before `--` are looked at, in whatever the command starts."""
    shapes.write("pack/__init__.py", "")
    shapes.write("pack/model.py", "def f():\n    x = [1, 2, 3]\n    return x\n")
    shapes.write("pack/main.py", "from pack import model\ny = model.f()\n")
    for words in (["python", "-m", "pack.main"], ["sh", "-c", "python -m pack.main"]):
        assert shapes.lines("--no-record", "pack/model.py", "--", *words) == {
            "x = [1, 2, 3]": "(3,) list",
            "return x": "(3,) list",
        }


def test_own_modules_are_shown_where_they_have_arrays(shapes):
    """Of files that were not named, lists are left out."""
    shapes.write("own.py", "import array\nnames = [1, 2]\nnumbers = array.array('d', names)\n")
    shapes.write("main.py", "import own\nmine = [1, 2, 3]\n")
    assert shapes.lines("--no-record", "main.py") == {
        "mine = [1, 2, 3]": "(3,) list",
        "numbers = array.array('d', names)": "(2,) f64",
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "which script?"),
        (["nowhere.py"], "nowhere.py: no such script"),
        (["--", "python", "x.py"], "which files shall be looked at?"),
        (["nowhere.py", "--", "python", "x.py"], "nowhere.py: no such file to look at"),
        (["--bogus", "lists.py"], "--bogus"),
        (["lists.py", "--exact"], "--exact goes with --check"),
        (["lists.py", "--check", "--write"], "leave out --write"),
        (["--remove", "lists.py", "--func", "pairs"], "leave out --func"),
        (["--remove", "nowhere.py"], "no such file"),
    ],
)
def test_what_can_not_be_meant(shapes, words, says):
    """A message, and the right code."""
    shapes.write("lists.py", LISTS)
    done = shapes(*words)
    assert done.returncode == (1 if says == "no such file" else 2)
    assert says in done.stderr


def test_a_file_that_is_never_loaded(shapes):
    """It is said, with the command that tells which files are."""
    shapes.write("other.py", "x = [1, 2]\n")
    shapes.write("lists.py", LISTS)
    done = shapes("--no-record", "other.py", "--", "python", "lists.py")
    assert "other.py: the command never loaded it" in done.stderr
    assert "zeroin files --opened -- python lists.py" in done.stderr
    assert "no tensors" in done.stdout


def test_a_function_that_is_not_there(shapes):
    """It is said, with the name that is nearest."""
    shapes.write("lists.py", LISTS)
    done = shapes("--no-record", "lists.py", "--func", "pear", "--func", "pairs")
    assert "no function is called pear in what was loaded" in done.stderr
    assert "did you mean: --func pairs" in done.stderr
    assert "halves = rows[::2]  # (3,) list" in done.stdout


LIBRARY = "site-packages/tensors/inner/layers.py"


@pytest.fixture
def library(shapes) -> Shapes:
    """A program that uses the class of an installed library, which a package exports."""
    layers = "class Layer:\n    def forward(self, x):\n        y = x * 2\n        return y\n"
    shapes.write(LIBRARY, layers + "\n\ndef other(x):\n    z = x + x\n    return z\n")
    shapes.write("site-packages/tensors/__init__.py", "from tensors.inner.layers import Layer\n")
    shapes.write("site-packages/tensors/inner/__init__.py", "")
    head = "import sys\nsys.path.append('site-packages')\nimport tensors\n"
    shapes.write("main.py", head + "out = tensors.Layer().forward([1, 2, 3])\n")
    return shapes


@pytest.mark.parametrize(
    "name",
    ["forward", "Layer.forward", "Layer", "tensors.Layer.forward", "inner.layers.Layer.forward"],
)
def test_a_function_of_a_library_is_found(library, name):
    """In whatever module the program loads, with or without the name that the library gives it."""
    assert library.lines("--no-record", "main.py", "--func", name) == {
        "def forward(self, x):": "x: (3,) list",
        "y = x * 2": "(6,) list",
        "return y": "(6,) list",
    }


@pytest.mark.parametrize("name", ["Other.forward", "numbers.Layer.forward", "Layer.backward"])
def test_a_function_that_no_library_has(library, name):
    """A name of which only a part fits is not found."""
    done = library("--no-record", "main.py", "--func", name)
    assert f"no function is called {name} in what was loaded" in done.stderr


def test_ones_own_function_comes_before_that_of_a_library(library):
    """Of two with the name, the user's own is meant; the library's can be named by its module."""
    with (library.folder / "main.py").open("a") as main:
        main.write("def forward(x):\n    mine = x + x\n    return mine\nforward([1, 2])\n")
    found = library.lines("--no-record", "main.py", "--func", "forward")
    assert "mine = x + x" in found
    assert "y = x * 2" not in found
    assert "y = x * 2" in library.lines("--no-record", "main.py", "--func", "Layer.forward")


def test_a_library_is_written_into_only_if_its_file_is_named(library):
    """`--func` alone shows it, and says so; below the folder as everywhere."""
    before = (library.folder / LIBRARY).read_text()
    done = library("--no-record", "main.py", "--func", "Layer.forward", "--write")
    assert "not written: it is a library's; to write into it, name the file" in done.stderr
    assert done.stdout == "nothing was written\n"
    assert (library.folder / LIBRARY).read_text() == before
    named = library("--no-record", LIBRARY, "--write", "--", "python", "main.py")
    assert named.stdout.startswith(f"{LIBRARY}: ")


def test_a_function_of_the_standard_library_that_was_loaded_before(shapes):
    """Modules that Python itself has loaded are modules that the program uses."""
    shapes.write("main.py", "import os\nos.path.commonprefix(['a', 'ab', 'abc'])\n")
    found = shapes.lines("--no-record", "main.py", "--func", "genericpath.commonprefix")
    assert found["def commonprefix(m):"] == "m: (3,) list"


@heavy("torch")
@pytest.mark.parametrize("name", ["MultiheadAttention.forward", "torch.nn.Linear.forward"])
def test_a_function_of_torch_is_found(real, name):
    """By its class, and by the name under which torch exports it."""
    real.write(
        "main.py",
        """\
        import torch
        torch.nn.Linear(6, 8)(torch.ones(3, 6))
        layer = torch.nn.MultiheadAttention(8, 2)
        layer(*[torch.ones(5, 3, 8)] * 3)
        """,
    )
    found = real.lines("--no-record", "main.py", "--func", name)
    if name.startswith("Multihead"):
        assert found["query: Tensor,"] == "query: (5, 3, 8) f32"
    else:
        assert (
            found["def forward(self, input: Tensor) -> Tensor:"] == "input: (3, in_features=6) f32"
        )


BATCHES = """\
import sys
import numpy as np

rows = int(sys.argv[1])


def layer(x, weight):
    h = x @ weight
    return np.maximum(h, 0)


data = np.ones((1000, 32), "f4")
weight = np.ones((32, 64), "f4")
x = data[:rows] + 0
h = layer(x, weight)
pairs = np.concatenate([h, h])
"""


def test_another_batch_is_told_once_and_is_no_wrong_comment(real):
    """All hold in a run with 8 rows; those that are cut off on the way, or wider, don't."""
    script = real.write("train.py", BATCHES)
    real("--no-record", "train.py", "32", "--write")
    done = real("--no-record", "train.py", "8", "--check")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "✓ 8 hold, 0 no longer")
    assert done.stdout.count("32 → 8 in this run") == 1
    assert real("--no-record", "train.py", "8", "--check", "--exact").returncode == 1
    script.write_text(script.read_text().replace("h = layer(x, ", "h = layer(x[:5], "))
    cut = real("--no-record", "train.py", "32", "--check", "--json")
    (found,) = json.loads(cut.stdout)["check"]
    assert cut.returncode == 1
    assert [one["says"] for one in found["broken"]] == ["(rows=32, 64) f32"]


@pytest.mark.parametrize("words", [["python", "-I", "lists.py"], ["true"]])
def test_nobody_lets_us_in(shapes, words):
    """A Python without its environment, and no Python at all, are told as such."""
    shapes.write("lists.py", LISTS)
    done = shapes("--no-record", "lists.py", "--", *words)
    assert "no Python program of the command let zeroin in" in done.stderr
    assert done.returncode == 0


# --- writing --------------------------------------------------------------------------------------


def test_write_twice_check_and_remove(shapes):
    """The second time writes nothing, the check holds, and every byte comes back."""
    script = shapes.write("lists.py", LISTS)
    script.chmod(0o754)
    before = script.read_bytes()
    first = shapes("--no-record", "lists.py", "--write")
    assert first.stdout == "lists.py: 4 lines\n"
    written = script.read_bytes()
    assert b"    return halves  # (3,) list\n" in written
    assert shapes("--no-record", "lists.py", "--write").stdout.startswith("nothing to write")
    assert script.read_bytes() == written
    assert stat.S_IMODE(script.stat().st_mode) == 0o754
    check = shapes("--no-record", "lists.py", "--check")
    assert (check.returncode, check.stdout) == (0, "✓ 4 hold, 0 no longer\n")
    assert shapes("--remove", "lists.py").stdout == "lists.py: 4 lines\n"
    assert script.read_bytes() == before
    assert sorted(os.listdir(shapes.folder)) == ["lists.py"]


def test_diff_writes_nothing(shapes):
    """What would be written, as a patch that can be applied."""
    script = shapes.write("lists.py", LISTS)
    done = shapes("--no-record", "lists.py", "--diff")
    assert script.read_text() == LISTS
    subprocess.run(["patch", "-p1"], cwd=shapes.folder, input=done.stdout, text=True, check=True)
    assert "# rows: (6,) list" in script.read_text()


def test_a_check_that_fails(shapes):
    """The line, what it says and what was; what was not reached is told and no failure."""
    source = LISTS.replace("return halves", "return halves  # (2,) list")
    source += "if False:\n    never = [1]  # (7,) list\nprint()  # (8,) list\n"
    shapes.write("lists.py", source)
    done = shapes("--no-record", "lists.py", "--check")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "lists.py:6  says (2,) list, was (3,) list",
        "lists.py:12  never reached in this run",
        "lists.py:13  no assignment stands there",
        "✗ 0 hold, 1 no longer",
    ]


def test_a_check_where_nothing_has_a_shape(shapes):
    """It was reached, so the comment is wrong: for a call, an argument, a result, a constant."""
    source = """\
    def load(path):  # path: (2,) list
        return path or None  # (2,) list


    x = load([])  # (2,) list
    y = 5  # (2,) list
    z = [1, 2]  # z: (2,) list
    v = [1, 2]  # other: (2,) list
    """
    shapes.write("nothing.py", source)
    done = shapes("--no-record", "nothing.py", "--check")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "nothing.py:1  says path: (2,) list, was nothing with a shape",
        "nothing.py:2  says (2,) list, was nothing with a shape",
        "nothing.py:5  says (2,) list, was nothing with a shape",
        "nothing.py:6  says (2,) list, was nothing with a shape",
        "nothing.py:8  says other: (2,) list, was (2,) list",
        "✗ 1 holds, 5 no longer",
    ]


def test_why_nothing_was_written(shapes):
    """That the comments say what was seen is only said where they do."""
    shapes.write("fails.py", "x = [1, 2]  # (2,) list\n")
    assert "the comments say what was seen" in shapes("--no-record", "fails.py", "--write").stdout
    shapes.write("fails.py", "import nowhere\n\nx = [1, 2]\n")
    done = shapes("--no-record", "fails.py", "--write")
    assert done.stdout == "nothing to write: the program failed before anything was seen\n"


def test_a_file_that_changed_meanwhile_is_left_alone(shapes):
    """A program that is edited while it runs is not written to."""
    script = shapes.write("self.py", "x = [1, 2]\nopen(__file__, 'a').write('# edited\\n')\n")
    done = shapes("--no-record", "self.py", "--write")
    assert "it has changed since it was run" in done.stderr
    assert "the comments say" not in done.stdout
    assert script.read_text().endswith("# edited\n")
    assert "(2,) list" not in script.read_text()


def test_odd_files_are_written_as_they_are(shapes):
    """Line ends of Windows and of old Macs, tabs, an old encoding, a link: all stay."""
    real = shapes.folder / "real.py"
    real.write_bytes(b"# coding: latin-1\r\nif True:\r\n\tx = ['\xe9', 2]  # caf\xe9\r\n")
    (shapes.folder / "link.py").symlink_to("real.py")
    shapes("--no-record", "link.py", "--write")
    assert real.read_bytes().endswith(b"\tx = ['\xe9', 2]  # caf\xe9  # (2,) list\r\n")
    assert (shapes.folder / "link.py").is_symlink()
    real.write_bytes(b"x = [1, 2]\ry = 1\r")
    shapes("--no-record", "link.py", "--write")
    assert real.read_bytes() == b"x = [1, 2]  # (2,) list\ry = 1\r"


def test_formatted_code_stays_formatted(shapes):
    """What ruff has formatted, it leaves as it is after comments were written."""
    script = shapes.write("lists.py", LISTS)
    ruff = Path(sys.executable).parent / "ruff"
    shapes("--no-record", "lists.py", "--write")
    subprocess.run([ruff, "format", "--check", "--isolated", script], check=True)


def test_a_file_that_may_not_be_written(plain):
    """The reason, and what to do; the file and its folder stay as they are."""
    folder = plain.project / "closed"
    folder.mkdir()
    (folder / "lists.py").write_text(LISTS)
    plain.own()
    folder.chmod(0o555)
    done = plain("shapes", "--no-record", "closed/lists.py", "--write")
    assert done.returncode == 1
    assert "can't be written: permission denied" in done.stderr
    assert "--diff" in done.stderr
    assert [(one.name, one.read_text()) for one in folder.iterdir()] == [("lists.py", LISTS)]


def test_syntax_that_is_newer_than_ours(shapes):
    """It is shown as it ran; writing is refused, with the reason."""
    newer = [v for v in support.interpreters() if support.as_numbers(v) > sys.version_info[:2]]
    if not newer or sys.version_info >= (3, 12):
        pytest.skip("needs a newer Python than ours, with newer syntax")
    script = shapes.write(
        "new.py", "type T = int\ndef f[X](a: X):\n    b = [a]\n    return b * 2\nf(1)\n"
    )
    before = script.read_bytes()
    words = ("new.py", "--", support.interpreters()[newer[-1]], "new.py")
    done = shapes("--no-record", *words)
    assert "4      return b * 2  # (2,) list" in done.stdout
    assert "new.py: not written, not checked: zeroin's own Python can't read it" in done.stderr
    shapes("--no-record", "--write", *words)
    assert script.read_bytes() == before


# --- ends -----------------------------------------------------------------------------------------


def test_a_crash_shows_what_was_seen_until_then(shapes):
    """With the operands of the line that failed; the exit code is the program's."""
    shapes.write(
        "crash.py",
        """\
        import array
        class Net:
            def __init__(self):
                self.weight = array.array("d", [1.0, 2.0])
            def forward(self, x):
                y = x * 2
                return self.weight[len(y)] + y.nothing
        Net().forward(array.array("i", [1, 2, 3]))
        """,
    )
    done = shapes("--no-record", "crash.py")
    assert done.returncode == 1
    shown = done.stdout.splitlines()
    at = next(n for n, line in enumerate(shown) if "✗ IndexError" in line)
    assert shown[at - 1].endswith("return self.weight[len(y)] + y.nothing")
    told = [line.strip() for line in shown[at + 1 : at + 3]]
    assert told == ["self.weight: (2,) f64", "y: (6,) i32"]


def test_ctrl_c_shows_what_was_seen_until_then(shapes, zeroin):
    """A long training is looked at for as long as one likes."""
    shapes.write(
        "long.py",
        "import time\nx = [1, 2, 3]\nopen('ready', 'w').close()\nwhile True:\n    time.sleep(1)\n",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "zeroin", "shapes", "--no-record", "long.py"],
        cwd=shapes.folder,
        env={**zeroin.env, "PATH": shapes.path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 30
    while not (shapes.folder / "ready").exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert "x = [1, 2, 3]  # (3,) list" in out
    assert process.returncode == -signal.SIGINT


# --- real libraries -------------------------------------------------------------------------------

TRANSFORMER = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

batch_size = 4


class Attention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)).softmax(-1)
        y = (scores @ v).transpose(1, 2).reshape(B, T, C)
        return y


class Model(nn.Module):
    def __init__(self, vocabulary, d_model=64):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.attention = Attention(d_model, 4)
        self.head = nn.Linear(d_model, 3)

    def forward(self, ids, mask=None):
        h = self.embedding(ids)
        h = h + self.attention(h)
        return {"logits": self.head(h.mean(1)), "hidden": h}


class Words(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        ids = torch.arange(12)
        return ids


def main():
    model = Model(100)
    model.eval()
    for ids in DataLoader(Words(), batch_size=batch_size, num_workers=2):
        out = model(ids)
        loss = out["logits"].sum()
        loss.backward()


if __name__ == "__main__":
    main()
"""


@heavy("torch")
@pytest.mark.slow
def test_a_transformer_with_workers(real):
    """Names of the program where they are certain, sizes that vary, what workers have seen."""
    real.write("train.py", TRANSFORMER)
    found = real.lines("--no-record", "train.py")
    assert found["def forward(self, x):"] == "x: (B=2|4, T=12, C=64) f32"
    assert found["q, k, v = self.qkv(x).chunk(3, dim=-1)"] == "q, k, v: (B=2|4, T=12, C=64) f32"
    assert (
        found["scores = (q @ k.transpose(-2, -1)).softmax(-1)"]
        == "(B=2|4, heads=4, T=12, T=12) f32"
    )
    assert found["ids = torch.arange(12)"] == "(T=12,) i64"
    assert found['loss = out["logits"].sum()'] == "() f32"
    assert found["out = model(ids)"].startswith("{logits: (batch_size=2|4, 3) f32, hidden: (batch_")
    q = found["q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)"]
    assert q == "(B=2|4, heads=4, T=12, 16) f32"


KINDS = """\
import collections, dataclasses
import numpy as np
import pandas as pd
import polars as pl
import torch


@dataclasses.dataclass
class Config:
    hidden_size: int = 48


class ModelOutput(collections.OrderedDict):
    pass


def forward(config):
    hidden = np.zeros((7, config.hidden_size), dtype=np.float16)
    return hidden


frame = pd.DataFrame({"a": range(10), "b": list("abcdefghij")})
column = frame["a"]
index = frame.index
table = pl.DataFrame({"x": [1, 2, 3]})
series = table["x"]
sparse = torch.eye(4).to_sparse()
nested = torch.nested.nested_tensor([torch.zeros(5, 3), torch.zeros(9, 3)])
scalar = np.float64(3.0)
zero = np.array(2)
structured = np.zeros(3, dtype=[("x", "f4"), ("y", "i4")])
texts = np.array(["ab", "c"])
half = torch.zeros(2, 2, dtype=torch.bfloat16)
meta = torch.zeros(2, 2, device="meta")
output = ModelOutput(logits=half, loss=None)
parameter = torch.nn.Parameter(torch.zeros(3))
ragged = [torch.zeros(n, 2) for n in (5, 6, 7)]
result = forward(Config())
mask = half > 0
"""


@heavy("torch", "polars")
@pytest.mark.slow
def test_every_kind_of_array(real):
    """torch, numpy, pandas, polars: shape, type, what else there is; scalars have none."""
    real.write("kinds.py", KINDS)
    found = {code.partition(" = ")[0]: note for code, note in real.lines("kinds.py").items()}
    assert found.pop("hidden") == "(7, hidden_size=48) f16"
    assert found == {
        "frame": "(10, 2) DataFrame",
        "column": "(10,) i64 Series",
        "index": "(10,) i64 Index",
        "table": "(3, 1) DataFrame",
        "series": "(3,) i64 Series",
        "sparse": "(4, 4) f32 sparse",
        "nested": "(2, ?, 3) f32 nested",
        "zero": "() i64",
        "structured": "(3,) record",
        "texts": "(2,) str",
        "half": "(2, 2) bf16",
        "meta": "(2, 2) f32 meta",
        "output": "{logits: (2, 2) bf16}",
        "parameter": "(3,) f32",
        "ragged": "3 x (5..7, 2) f32",
        "return hidden": "(7, hidden_size=48) f16",
        "result": "(7, 48) f16",
        "mask": "(2, 2) bool",
    }


@heavy("torch")
@pytest.mark.slow
def test_a_mismatch_shows_both_sides(real):
    """Where "mat1 and mat2 shapes cannot be multiplied": the input, and the layer's weights."""
    real.write(
        "crash.py",
        """\
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.second = torch.nn.Linear(65, 5)
            def forward(self, h):
                return self.second(h)
        Net()(torch.randn(32, 64))
        """,
    )
    done = real("--no-record", "crash.py")
    assert done.returncode == 1
    shown = [line.strip() for line in done.stdout.splitlines()]
    at = shown.index("✗ RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x64 and 65x5)")
    assert shown[at + 1] == "self.second.weight: (5, 65) f32"
    assert shown[at + 3] == "h: (32, 64) f32"


@heavy("torch", "numba")
@pytest.mark.slow
def test_what_compiles_or_traces_code_still_works(real, warm_torch):
    """numba, torch.compile, torch.jit, fx, functorch, and modes that see every call."""
    script = real.write(
        "compiled.py",
        """\
        import numba, numpy as np, torch
        from torch.overrides import TorchFunctionMode

        @numba.njit
        def fast(x):
            y = x * 2
            return y.sum()

        @torch.compile(fullgraph=True)
        def compiled(x):
            y = x * 2
            return y

        @torch.jit.script
        def scripted(x):
            y = x * 2
            return y

        class Tracked(torch.Tensor):
            calls = []
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                cls.calls.append(func.__name__)
                return super().__torch_function__(func, types, args, kwargs or {})

        class Counting(TorchFunctionMode):
            calls = []
            def __torch_function__(self, func, types, args=(), kwargs=None):
                self.calls.append(getattr(func, "__name__", "?"))
                return func(*args, **(kwargs or {}))

        class Module(torch.nn.Module):
            def forward(self, x):
                y = x + 1
                return y

        def squared(x):
            y = x ** 2
            return y.sum()

        @np.vectorize
        def each(x):
            pair = np.ones(2)
            return x

        def traced(x):
            rows, width = x.shape
            y = x * rows
            return y

        print(torch.jit.trace(traced, torch.ones(2, 3)).graph, each(np.ones(2)))
        print(fast(np.ones(3)), compiled(torch.ones(2)), scripted(torch.ones(2)))
        print(torch.fx.symbolic_trace(Module())(torch.ones(2)))
        print(torch.vmap(squared)(torch.ones(4, 3)), torch.func.grad(squared)(torch.ones(3)))
        tracked = torch.ones(3).as_subclass(Tracked)
        doubled = tracked * 2
        with Counting():
            inside = torch.ones(2) + 1
            more = inside * 2
        print(Tracked.calls, Counting.calls)
        """,
    )
    env = {**os.environ, "TORCHDYNAMO_DISABLE": "1"}
    plain = subprocess.run(
        [warm_torch, script], capture_output=True, text=True, check=True, env=env, timeout=200
    )
    done = real("--no-record", "compiled.py")
    assert plain.stdout in done.stderr
    assert "TracerWarning" not in done.stderr
    assert "pair = np.ones(2)  # (2,) f64" in done.stdout
    assert "(?" not in done.stdout
    assert "compiled.py:5: fast is compiled by numba, so it is not looked at" in done.stderr
    assert "doubled = tracked * 2  # (3,) f32" in done.stdout
    assert "more = inside * 2  # (2,) f32" in done.stdout


@pytest.mark.slow
def test_functions_that_are_sent_by_value(real):
    """Taken apart by cloudpickle they are small, and work where nothing of ours is."""
    real.write(
        "sent.py",
        """\
        import pickle, subprocess, sys
        import cloudpickle

        def work(n):
            rows = [0] * n
            total = rows + rows
            return total

        data = cloudpickle.dumps(work)
        again = pickle.loads(data)
        print(again(3), len(data) < 5000, flush=True)
        code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(2))"
        subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path}; {code}"], input=data, env={})
        work(4)
        """,
    )
    done = real("--no-record", "sent.py")
    assert "[0, 0, 0, 0, 0, 0] True\n[0, 0, 0, 0]\n" in done.stderr, done.stderr
    assert "rows = [0] * n  # (4,) list" in done.stdout


@pytest.mark.slow
def test_under_pytest(real):
    """Files that tests import, and test files themselves, whose asserts pytest rewrites."""
    real.write(
        "model.py", "import numpy as np\ndef f(n):\n    x = np.zeros((n, 3))\n    return x\n"
    )
    real.write(
        "test_model.py",
        "from model import f\ndef test_f():\n    y = f(4)\n    assert y.sum() == 0\n",
    )
    words = ("--no-record", "model.py", "test_model.py", "--", "python", "-m", "pytest", "-q")
    found = real.lines(*words)
    assert found["x = np.zeros((n, 3))"] == "(n=4, 3) f64"
    assert found["y = f(4)"] == "(4, 3) f64"


@heavy("jax")
@pytest.mark.slow
def test_jax_also_while_it_traces(real):
    """Arrays, and inside of `jit`, `vmap` and `grad` what they trace with."""
    ask = "from importlib.util import find_spec; print(find_spec('jax') is not None)"
    if subprocess.check_output([support.libs_python(), "-c", ask]) != b"True\n":
        pytest.skip("needs jax: make setup")
    real.write(
        "traced.py",
        """\
        import jax
        import jax.numpy as jnp

        batch, features = 16, 8

        @jax.jit
        def predict(params, x):
            h = jnp.tanh(x @ params["w"])
            return h.sum(-1)

        def loss(params, x):
            return predict(params, x).mean()

        params = {"w": jnp.ones((features, 3))}
        x = jnp.ones((batch, features), dtype=jnp.bfloat16)
        value, grads = jax.value_and_grad(loss)(params, x)
        """,
    )
    found = real.lines("--no-record", "traced.py")
    assert found['h = jnp.tanh(x @ params["w"])'] == "(batch=16, 3) f32"
    assert found["return predict(params, x).mean()"] == "() f32"
    assert found["x = jnp.ones((batch, features), dtype=jnp.bfloat16)"] == (
        "(batch=16, features=8) bf16"
    )
    assert found["value, grads = jax.value_and_grad(loss)(params, x)"] == (
        "value: () f32; grads: {w: (features=8, 3) f32}"
    )

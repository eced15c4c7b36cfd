"""`peek` at tensors, arrays and tables of the real libraries; in IPython, and in pytest."""

from __future__ import annotations

import re

import pytest
from looking import run, start

import support
from left_out import heavy

pytestmark = pytest.mark.xdist_group("peek_libraries")  # they share a run

PROGRAM = support.ROOT / "tests" / "programs" / "look_libraries.py"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the program printed, by the text of the expression."""
    if reason := support.lack_of_libs():
        pytest.skip(reason)
    done = start([support.libs_python(), str(PROGRAM)], tmp_path_factory.mktemp("libs"))
    assert done.returncode == 0, done.stderr
    pairs = re.findall(r"^(?:  |look_libraries\.py:\d+  )(.+?) = (.+)$", done.stderr, re.MULTILINE)
    return dict(pairs)


@heavy("torch", "scikit-learn")
@pytest.mark.slow
def test_tensors_and_arrays(told):
    """Shape, short type, device, mean, deviation, bounds, and what is not finite."""
    assert told["x"] == "Tensor[2, 4] f32 cpu  μ 4 σ 2 [1, 7]  ✗ 1 NaN"
    assert told["x.mean()"] == "Tensor[] f32 cpu ✗ nan"
    assert told["torch.arange(8).reshape(2, 4)"] == "Tensor[2, 4] i64 cpu  μ 3.5 σ 2.29 [0, 7]"
    assert told["torch.ones(3, 3, dtype=torch.bfloat16)"] == "Tensor[3, 3] bf16 cpu  all 1"
    assert told["np.array([-1.5, 0.5, np.inf, 2.0, 3.0, 4.0, 5.0])"] == (
        "ndarray[7] f64  μ 2.17 σ 2.17 [-1.5, 5]  ✗ 1 inf"
    )
    assert told["np.arange(8, dtype=np.uint8)"] == "ndarray[8] u8  μ 3.5 σ 2.29 [0, 7]"
    assert told["np.ma.array([1, 2, 3], mask=[0, 1, 0])"] == "MaskedArray[3] i64  1 of 3 masked"
    assert told['np.array(["2020", "NaT", "2021", "2022"], dtype="M8[D]")'] == (
        "ndarray[4] datetime64[D]  [2020-01-01, NaT, 2021-01-01, …]"
    )
    assert told["np.array([1e308, 1e308, 0.0])"].startswith(
        "ndarray[3] f64  μ 6.67e+307 σ 4.71e+307 [0, 1e+308]"
    )
    assert told['torch.empty(2, 3, device="meta")'] == "Tensor[2, 3] f32 meta"
    assert told["torch.nn.Linear(3, 4).eval()"] == "Linear  16 parameters f32 cpu  eval"


@heavy("torch", "scikit-learn")
@pytest.mark.slow
def test_all_nan_of_a_large_array(told):
    """The spread is of a sample; what is not finite is counted in all of it, also transposed."""
    for text in ("wide.T", "wide.half()", "wide.double().numpy()"):
        assert re.search(r"all 0  \(of a sample of [\d,]+\)  ✗ 1 NaN 2 inf$", told[text]), text
    assert told["torch.ones(300, 300).to(torch.float8_e4m3fn)"].startswith(
        "Tensor[300, 300] float8_e4m3fn cpu  all 1  (of a sample of "
    )
    assert told["wide[:, ::2]"].endswith(")") or "✗" in told["wide[:, ::2]"]


@heavy("torch", "scikit-learn")
@pytest.mark.slow
def test_sparse_ragged_and_nested(told):
    """How much is stored, and the shapes of what lies inside."""
    sparse = "4 stored (0.25 of all)  all 1  [1, 1, 1, 1]"
    assert told["torch.eye(4).to_sparse()"] == f"Tensor[4, 4] f32 cpu sparse_coo  {sparse}"
    assert told["torch.eye(4).to_sparse_csr()"] == f"Tensor[4, 4] f32 cpu sparse_csr  {sparse}"
    assert told["sp.eye(100).tocsr()"] == (
        "csr_matrix[100, 100] f64 csr  100 stored (0.01 of all)  all 1"
    )
    assert told["sp.eye(3).todok()"] == "dok_matrix[3, 3] f64 dok  3 stored (0.33 of all)"
    assert told["sp.eye(3).tolil()"] == "lil_matrix[3, 3] f64 lil"
    assert told["ragged"] == "[Tensor[5, 2] f32 cpu, Tensor[7, 2] f32 cpu]"
    assert told["Output(torch.tensor(0.5), torch.zeros(4, 4))"] == (
        "Output(loss=Tensor[] f32 cpu 0.5, logits=Tensor[4, 4] f32 cpu)"
    )
    frame = told['pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]})']
    assert frame.startswith("DataFrame[2, 2]  a f64 (1 null), b ")


@heavy("torch", "scikit-learn")
@pytest.mark.slow
def test_what_is_no_number(told):
    """The first texts, dates and records; of strangers the class, and never more than a bit."""
    assert told["odd"] == f"ndarray[4] object  [module, '{'x' * 40}'…, 2, …]"
    assert told["odd[2:]"] == "ndarray[2] object  [2, int]"
    assert told["record"] == "ndarray[1] structured(a, b)  [(1, 2.5)]"
    assert told['np.array([["ab", "c"], ["d", "e"]])'] == "ndarray[2, 2] <U2  ['ab', 'c', 'd', …]"
    assert told['np.array([], dtype="U3")'] == "ndarray[0] <U3  empty"
    assert (
        told["numbers"] == "Series[3] f64 (1 null)  μ 2.25 σ 0.75 [1.5, 3]  ✗ 1 NaN  [1.5, nan, 3]"
    )
    assert re.fullmatch(r"Series\[4\] (str|object)  \['a', 'b', 'c', …\]", told["texts"])
    assert re.search(r" \(1 null\)  \[2024-01-01.*, NaT\]$", told["dates"])
    assert told["nulls"] == "Series[2] Int64 (1 null)  [1, <NA>]"


@pytest.mark.slow
def test_in_ipython(libs, tmp_path):
    """Cells have their text, and lines go where the notebook shows them."""
    source = """
        import sys, io
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("from zeroin import peek")
        sys.stderr = seen = io.StringIO()  # as a kernel's stream, no descriptor behind it
        shell.run_cell("x = 4\\npeek(x); peek(x + 1)\\ndef f(): return peek(x * 2)\\nf()")
        sys.stderr = sys.__stderr__
        print(seen.getvalue())
    """
    done = run(libs, tmp_path, source, env={"IPYTHONDIR": str(tmp_path / "ipython")})
    assert re.findall(r"^cell:\d+(?: f)?  .*$", done.stdout, re.MULTILINE) == [
        "cell:2  x = 4",
        "cell:2  x + 1 = 5",
        "cell:3 f  x * 2 = 8",
    ]


TRACED = """
    import sys, warnings
    import torch
    from zeroin import peek, section
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", module="torch.*", category=DeprecationWarning)
    def step(x):
        with section("step"):
            return peek(x * 2) + 1
    x = torch.ones(4)
    off = len(sys.argv) > 1
    if not off:
        graph = str(torch.jit.trace(step, x, check_trace=False).graph)
        assert graph.count("aten::") == 2, graph
    compiled = torch.compile(step, backend="eager", fullgraph=off)
    assert torch.equal(compiled(x), torch.full((4,), 3.0))
"""


@heavy("torch")
@pytest.mark.slow
def test_in_a_traced_function(libs, tmp_path):
    """`torch.jit.trace` notes no step of ours, `torch.compile` does not compile us."""
    done = run(libs, tmp_path, TRACED, env={"TORCH_LOGS": "+dynamo"})
    assert done.returncode == 0, done.stderr
    compiled = re.findall(r"start tracing (\S+) (\S+):", done.stderr)
    assert compiled
    assert not [name for name, file in compiled if file.startswith(str(support.SRC))]
    told = re.findall(r"^train\.py:.*x \* 2 = .*$", done.stderr, re.MULTILINE)
    assert [line.partition("  ")[2] for line in told] == [
        "x * 2 = Tensor[4] f32 cpu  all 2  [2, 2, 2, 2]"
    ] * 2


@heavy("torch")
@pytest.mark.slow
def test_a_whole_graph_where_all_is_off(warm_torch, tmp_path):
    """With ZEROIN_PEEK=off they are nothing to `torch.compile`."""
    done = run(warm_torch, tmp_path, TRACED, "off", env={"ZEROIN_PEEK": "off"})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_in_pytest(libs, tmp_path):
    """Its capture has the lines, with their text, also beside rewritten asserts."""
    (tmp_path / "test_it.py").write_text(
        "from zeroin import peek\n"
        "def test_it(capsys):\n"
        "    x = 3\n"
        "    assert peek(x) == 3 and peek(x + 1) == 4\n"
        "    assert capsys.readouterr().err == (\n"
        "        'test_it.py:4 test_it  x = 3\\ntest_it.py:4 test_it  x + 1 = 4\\n')\n"
    )
    done = start([libs, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], tmp_path)
    assert done.returncode == 0, done.stdout

"""Arrays, tensors and tables of every kind, the largest of 2 GB. Needs numpy, torch, pandas."""

import os
import sys
import time
import warnings

import numpy as np
import pandas as pd
import summary_harness as harness
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

warnings.simplefilter("ignore")  # several kinds of tensor are called beta
FOLDER = sys.argv[1]
CALLED = []
rng = np.random.default_rng(0)


def spoilt():
    array = np.arange(1_000_000, dtype="float32").reshape(2000, 500)
    array[:] = 1.5
    array[0, :5] = (np.nan, np.nan, np.inf, -2, 4)
    return array


def tell_numpy():
    tell = harness.tell
    tell("spread", spoilt()[:20])
    tell("sampled", spoilt())
    tell("object", np.array([object(), None]))
    tell("text", np.array(["ab", "c"]))
    tell("structured", np.zeros(3, dtype=[("id", "i4"), ("score", "f8")]))
    tell("date", np.array(["2026-01-02"], dtype="M8[D]"))
    tell("bool", np.arange(10) > 6)
    tell("int", np.arange(100))
    tell("exact int", np.array([2**62 + 1]))
    tell("small", np.array([[1.5, np.nan], [3, 4]]))
    tell("nothing finite", np.full(9, np.nan))
    tell("complex", np.array([1j, complex("nan")]))
    tell("scalar array", np.array(3))
    tell("empty", np.zeros((0, 3)))
    tell("half", np.full(1000, 60_000, dtype="float16"))
    tell("masked", np.ma.array([1, 2, 3], mask=[0, 1, 0]))
    tell("float32", np.float32(0.1))
    tell("float64", np.float64(0.1))
    tell("str_", np.str_("ab"))
    tell("dtype", np.dtype("float32"))
    tell("inside", {"x": np.zeros((3, 4)), "n": np.array(2.5)})

    class Hostile(np.ndarray):
        def __array_finalize__(self, _):
            CALLED.append("__array_finalize__")

        def __getitem__(self, _):
            CALLED.append("__getitem__")
            time.sleep(60)

        shape = property(__getitem__)
        __repr__ = __array_ufunc__ = __array_function__ = __getitem__

    hostile = np.zeros(100).view(Hostile)
    CALLED.clear()
    tell("hostile array", hostile)
    with np.errstate(all="raise"):
        tell("overflow", np.full(1000, 1e308))


def tell_large():
    tell = harness.tell
    tell("untouched", np.zeros(2**28))
    array = np.ones((16_384, 16_384))
    tell("2 GB", array)
    tell("2 GB transposed", array.T)
    tell("2 GB with steps", array[::3, ::-1])
    tell("2 GB from numpy", torch.from_numpy(array).T)
    del array
    tensor = torch.ones(16_384, 32_768)
    tell("2 GB tensor", tensor)
    tell("2 GB tensor transposed", tensor.T)
    del tensor
    tell("expanded", torch.ones(1).expand(10**12))
    tell("1 GB text", "x" * 2**30)
    tell("1 GB bytes", bytes(2**30))
    tell("10 million", list(range(10**7)))
    tell("1 million keys", dict.fromkeys(range(10**6)))


def tell_mapped():
    path = os.path.join(FOLDER, "mapped")
    mapped = np.memmap(path, "float32", "w+", shape=(50_000, 1_000))
    harness.tell("mapped", mapped)
    harness.tell("mapped transposed", mapped.T)
    harness.tell("mapped view", np.asarray(mapped)[::2])
    os.truncate(path, 0)  # reading it now is SIGBUS
    harness.tell("truncated", mapped)
    harness.tell("truncated view", np.asarray(mapped)[1:])


class Pair(torch.Tensor):
    """A tensor that keeps its numbers in two others, as those of torch's own do."""

    @staticmethod
    def __new__(cls, one, other):
        return torch.Tensor._make_wrapper_subclass(cls, one.shape, dtype=one.dtype)

    def __init__(self, one, other):
        self.one, self._other = one, other

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"asked for {func}")


def tell_unusual(x):
    """Tensors whose numbers are not where those of others are."""
    tell = harness.tell
    scales, zeros = torch.tensor([0.5, 0.25]), torch.tensor([0, 1])
    tell("by channel", torch.quantize_per_channel(x, scales, zeros, 0, torch.qint8))
    many, scales = torch.ones(50_000, 2), torch.tensor([0.5, 0.25])
    tell("large by channel", torch.quantize_per_channel(many, scales, zeros, 1, torch.quint8))
    tell("large quantised", torch.quantize_per_tensor(many, 0.5, 3, torch.quint8))
    tell("ragged", torch.nested.nested_tensor([x[0], x[1, :2]]))
    tell("jagged", torch.nested.nested_tensor([x, x[:1]], layout=torch.jagged))
    tell("mkldnn", x.to_mkldnn())
    tell("blocks", x.to_sparse_bsr((1, 3)))
    tell("fourier", torch.complex(x, x).conj() * 3)
    tell("far", torch.full((1, 7), 1.7e308 + 1.7e308j, dtype=torch.complex128))
    tell("large f8", torch.ones(300, 300).to(torch.float8_e4m3fn))
    tell("pair", Pair(x, torch.zeros(4)))
    torch.func.grad(lambda y: (tell("in grad", y), tell("constant in grad", x), y.sum())[-1])(x)


def tell_torch():
    tell = harness.tell
    tensor = torch.arange(320, dtype=torch.float32).reshape(32, 10)
    tell("tensor", tensor)
    tell("grad", tensor.clone().requires_grad_())
    tell("parameter", torch.nn.Parameter(tensor))
    tell("meta", torch.empty(3, 4, device="meta"))
    tell("scalar tensor", torch.tensor(0.1))
    tell("empty tensor", torch.empty(0, 3))
    tell("bool tensor", tensor > 300)
    tell("int tensor", torch.arange(5))
    for name in ("float16", "bfloat16", "float8_e4m3fn", "uint8", "uint64", "complex64"):
        tell(name, torch.ones(2).to(getattr(torch, name)))
    tell("sparse", torch.eye(3).to_sparse())
    tell("csr", torch.eye(3).to_sparse_csr())
    tell("quantised", torch.quantize_per_tensor(tensor, 0.1, 0, torch.qint8))
    tell("nested", torch.nested.nested_tensor([tensor, tensor]))
    tell_unusual(torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.0, -2.5]]))
    tell("lazy", torch.nn.LazyLinear(3).weight)
    freed = torch.ones(10)
    view = freed[3:]
    freed.untyped_storage().resize_(0)  # as FSDP does; reading it now is SIGSEGV
    tell("freed", freed)
    tell("freed view", view)
    tell("torch dtype", torch.bfloat16)
    tell("torch device", torch.device("cuda:1"))
    tell("size", tensor.shape)
    tell("batch", {"ids": torch.zeros(8, 128, dtype=torch.int64), "loss": torch.tensor(0.5)})
    torch.vmap(lambda row: (tell("in vmap", row), row)[1])(tensor)


def tell_torch_subclasses():
    class Function(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_, **__):
            CALLED.append("__torch_function__")
            time.sleep(60)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            CALLED.append(str(function))
            return function(*args, **(kwargs or {}))

    tensor = torch.ones(100)
    harness.tell("subclass", tensor.as_subclass(Function))
    with Mode():
        harness.tell("in a mode", tensor)
    with FakeTensorMode():
        fake = torch.empty(3, 4)
    harness.tell("fake", fake)


def tell_models():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(10, 5), torch.nn.ReLU())
            self.head = torch.nn.Linear(5, 2, dtype=torch.float32)

    harness.tell("model", Net().eval())
    harness.tell("layer", torch.nn.ReLU())
    harness.tell("models", [Net()])
    harness.tell("large model", torch.nn.Transformer(64, 4, 12, 12))


def tell_pandas():
    tell = harness.tell
    table = pd.DataFrame({"id": range(5000), "p": [1.0, float("nan")] * 2500, 3: True})
    table["o"] = pd.Series([object(), None] * 2500, dtype=object)
    table["d"] = pd.date_range("2026", periods=5000, unit="us")
    table["c"] = pd.Categorical(["x", None] * 2500)
    tell("table", table)
    tell("short table", table[:10][["id", "p"]])
    tell("many columns", pd.DataFrame(np.zeros((10, 1000))))
    tell("no columns", pd.DataFrame())
    tell("series", table["p"])
    tell("objects", pd.Series([type("Evil", (), {"__eq__": print})()] * 3))
    tell("tables", [table])
    tell("NaT", pd.NaT)

    class Hostile(pd.DataFrame):
        def __getattribute__(self, name):
            CALLED.append(name)
            time.sleep(60)

    before = len(CALLED)
    hostile = Hostile({"a": [1, 2]})
    del CALLED[before:]
    tell("hostile table", hostile)


PARTS = {
    "numpy": [tell_numpy, tell_mapped],
    "torch": [tell_torch, tell_torch_subclasses, tell_models],
    "pandas": [tell_pandas],
    "large": [tell_large],
}

if __name__ == "__main__":
    tensor = torch.ones(100)
    harness.summary.summarise_all([("", np.ones(100)), ("", tensor)])  # what loads once, loads now
    names, called = {}, {}
    for part, functions in PARTS.items():
        before, calls = set(harness.results), len(CALLED)
        for function in functions:
            function()
        names[part] = [name for name in harness.results if name not in before]
        called[part] = CALLED[calls:]
    harness.finish(names=names, called=called)

"""Peeks at values of real libraries; what it prints is compared line by line."""

import dataclasses
import os
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from zeroin import peek

warnings.simplefilter("ignore")


@dataclasses.dataclass
class Output:
    loss: torch.Tensor
    logits: torch.Tensor


x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, float("nan")]])
peek(x, x.shape, x.mean())
peek(torch.arange(8).reshape(2, 4), torch.ones(3, 3, dtype=torch.bfloat16))
peek(np.array([-1.5, 0.5, np.inf, 2.0, 3.0, 4.0, 5.0]), np.arange(8, dtype=np.uint8))
ragged = [torch.zeros(5, 2), torch.zeros(7, 2)]
peek(ragged, [torch.zeros(n, 2) for n in range(12)])
peek({"ids": torch.arange(5), "mask": np.ones((3, 3), dtype=bool)})
peek(Output(torch.tensor(0.5), torch.zeros(4, 4)))
peek(torch.eye(4).to_sparse(), torch.eye(4).to_sparse_csr())
peek(sp.eye(100).tocsr(), sp.eye(3).todok(), sp.eye(3).tolil(), sp.coo_array(np.eye(2)))
peek(pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]}), pd.Series([1, 2]))
peek(torch.nn.Linear(3, 4).eval())
peek(torch.ones(300, 300).to(torch.float8_e4m3fn))
peek(torch.full((3000, 1000), 2.0), torch.nn.Parameter(torch.zeros(2)))
wide = torch.zeros(2000, 1000)
wide[1234, 567], wide[7, 8:10] = float("nan"), float("inf")
peek(wide.T, wide.half(), wide.double().numpy(), wide[:, ::2])
peek(torch.empty(2, 3, device="meta"), torch.tensor(float("inf")), np.float32(2.5))
peek(np.ma.array([1, 2, 3], mask=[0, 1, 0]), np.array([1e308, 1e308, 0.0]), np.array(["a"]))
peek(np.array(["2020", "NaT", "2021", "2022"], dtype="M8[D]"))
odd = np.array([torch, "x" * 50, 2, 10**500], dtype=object)
record = np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])
peek(odd, odd[2:], record, np.array([["ab", "c"], ["d", "e"]]), np.array([], dtype="U3"))
numbers, texts = pd.Series([1.5, np.nan, 3]), pd.Series(["a", "b", "c", "d"])
dates, nulls = pd.Series(pd.to_datetime(["2024-01-01", None])), pd.Series([1, None], dtype="Int64")
peek(numbers, texts, dates, nulls)
pid = os.fork()
peek("in the child" if not pid else "in the parent") if pid else os._exit(0)
os.waitpid(pid, 0)

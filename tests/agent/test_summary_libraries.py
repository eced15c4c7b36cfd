"""Arrays, tensors and tables, in an interpreter that has the real libraries."""

from __future__ import annotations

import pytest
from summaries import assert_cheap, run, texts

from left_out import heavy


@heavy("torch")
@pytest.mark.slow
@pytest.mark.xdist_group("summary_libraries")  # they share a run
class TestLibraries:
    """Arrays, tensors and tables, in an interpreter that has the real libraries."""

    @pytest.fixture
    def answer(self, libs, tmp_path_factory):
        # The same path for all tests, so that the victim runs once.
        whole = run(libs, "summary_libraries", str(tmp_path_factory.getbasetemp()))

        def pick(part):
            names = whole["names"][part]
            results = {name: whole["results"][name] for name in names}
            return {"results": results, "called": whole["called"][part]}

        return pick

    def test_numpy(self, answer):
        """An array is told by shape, type, spread, and how many numbers are not finite."""
        told = texts(answer("numpy"))
        assert told["spread"] == ("ndarray[20, 500] float32  min -2 max 4 mean 1.5  2 NaN 1 inf")
        assert told["bool"] == "ndarray[10] bool  3 True"
        assert told["int"] == "ndarray[100] int64  min 0 max 99 mean 49.5"
        assert told["nothing finite"] == "ndarray[9] float64  9 NaN"
        assert told["empty"] == "ndarray[0, 3] float64  empty"
        assert told["half"] == "ndarray[1000] float16  all 60000"
        assert told["overflow"] == "ndarray[1000] float64  all 1e+308"
        assert told["hostile array"] == "Hostile[100] float64  all 0"

    def test_numpy_values(self, answer):
        """A few numbers are shown one by one; scalars are plain."""
        told = texts(answer("numpy"))
        assert told["small"].endswith("min 1.5 max 4 mean 2.833  1 NaN  [[1.5, nan], [3, 4]]")
        assert told["exact int"].endswith("[4611686018427387905]")
        assert (
            told["complex"]
            == "ndarray[2] complex128  |z| min 1 max 1 mean 1  1 NaN  [1j, (nan+0j)]"
        )
        assert told["scalar array"] == "ndarray[] int64 3"
        assert told["float32"] == "float32(0.1)"
        assert told["float64"] == "float64(0.1)"
        assert told["str_"] == "str_('ab')"
        assert told["dtype"] == "dtype(float32)"
        assert told["inside"] == "{'x': ndarray[3, 4] float64, 'n': ndarray[] float64 2.5}"

    def test_numpy_without_numbers(self, answer):
        """Objects, texts, dates, records and masked arrays are told by shape and type."""
        told = texts(answer("numpy"))
        assert told["object"] == "ndarray[2] object"
        assert told["text"] == "ndarray[2] <U2"
        assert told["structured"] == "ndarray[3] structured(id, score)"
        assert told["date"] == "ndarray[1] datetime64[D]"
        assert told["masked"] == "MaskedArray[3] int64"

    def test_sampled(self, answer):
        """The numbers of a large array come from a sample, and the summary says so."""
        told = texts(answer("numpy"))["sampled"]
        assert told.startswith(
            "ndarray[2000, 500] float32  min 1.5 max 1.5 mean 1.5  1 NaN  (of a "
        )
        assert told.endswith(" sample of 9,648)")

    def test_mapped(self, answer):
        """Of an array in a file only the head is read, and nothing if the file was cut short."""
        told = texts(answer("numpy"))
        assert told["mapped"] == "memmap[50000, 1000] float32  all 0  (of the first 4,000)"
        assert told["mapped transposed"].endswith("all 0  (of the first 4,000)")
        assert told["mapped view"].endswith("all 0  (of the first 4,000)")
        assert told["truncated"] == "memmap[50000, 1000] float32  in a file that was cut short"
        assert told["truncated view"].endswith("in a file that was cut short")

    def test_torch(self, answer):
        """A tensor is told by shape, type, device and numbers, whatever its type."""
        told = texts(answer("torch"))
        assert told["tensor"] == "Tensor[32, 10] float32 cpu  min 0 max 319 mean 159.5"
        assert told["grad"] == "Tensor[32, 10] float32 cpu grad  min 0 max 319 mean 159.5"
        assert told["parameter"].startswith("Parameter[32, 10] float32 cpu grad  min 0")
        assert told["scalar tensor"] == "Tensor[] float32 cpu 0.1"
        assert told["empty tensor"] == "Tensor[0, 3] float32 cpu  empty"
        assert told["bool tensor"] == "Tensor[32, 10] bool cpu  19 True"
        assert told["int tensor"].endswith("min 0 max 4 mean 2  [0, 1, 2, 3, 4]")
        for name in ("float16", "bfloat16", "float8_e4m3fn", "uint8", "uint64"):
            assert told[name] == f"Tensor[2] {name} cpu  all 1  [1, 1]"
        assert told["complex64"] == "Tensor[2] complex64 cpu  |z| all 1  [(1+0j), (1+0j)]"
        assert told["size"] == "Size((32, 10))"
        assert told["torch dtype"] == "dtype(bfloat16)"
        assert told["torch device"] == "device(cuda:1)"
        assert (
            told["batch"] == "{'ids': Tensor[8, 128] int64 cpu, 'loss': Tensor[] float32 cpu 0.5}"
        )

    def test_torch_with_numbers_elsewhere(self, answer):
        """Sparse, quantized, nested, complex, f8 and wrapped ones have numbers as well."""
        told = texts(answer("torch"))
        stored = "3 stored (0.33 of all)  all 1  [1, 1, 1]"
        assert told["sparse"] == f"Tensor[3, 3] float32 cpu sparse_coo  {stored}"
        assert told["csr"] == f"Tensor[3, 3] float32 cpu sparse_csr  {stored}"
        assert told["quantised"] == (
            "Tensor[32, 10] qint8 cpu scale 0.1 zero 0  min 0 max 12.7 mean 12.43"
        )
        assert told["nested"] == "Tensor[2, 32, 10] float32 cpu nested  min 0 max 319 mean 159.5"
        spread = "min -2.5 max 2 mean 0.08333"
        each = "[[0.5, -1, 2], [1.5, 0, -2.5]]"
        assert told["by channel"] == (
            f"Tensor[2, 3] qint8 cpu a scale for each of dimension 0  {spread}  {each}"
        )
        sample = "(of a sample of 14,286)"
        axis = "a scale for each of dimension 1"
        assert told["large by channel"] == f"Tensor[50000, 2] quint8 cpu {axis}  all 1  {sample}"
        quantised = f"Tensor[50000, 2] quint8 cpu scale 0.5 zero 3  all 1  {sample}"
        assert told["large quantised"] == quantised
        assert told["ragged"] == (
            "Tensor[2, 2..3] float32 cpu nested  min -1 max 2 mean 0.6  [0.5, -1, 2, 1.5, 0]"
        )
        assert told["jagged"].startswith("NestedTensor[2, 1..2, 3] float32 cpu nested  min -2.5")
        assert told["mkldnn"] == f"Tensor[2, 3] float32 cpu mkldnn  {spread}  {each}"
        assert told["blocks"].startswith("Tensor[2, 3] float32 cpu sparse_bsr  6 stored (1 of all)")
        assert told["fourier"].startswith("Tensor[2, 3] complex64 cpu  |z| min 0 max 10.607 mean")
        assert told["far"] == "Tensor[1, 7] complex128 cpu"
        assert told["large f8"].startswith("Tensor[300, 300] float8_e4m3fn cpu  all 1")
        assert told["pair"].startswith(f"Pair[2, 3] float32 cpu  one: {spread}  {each}  other[4]: ")
        assert told["in grad"] == f"Tensor[2, 3] float32 cpu grad  {spread}  {each}"
        assert told["constant in grad"] == f"Tensor[2, 3] float32 cpu  {spread}  {each}"
        assert told["in vmap"].startswith("Tensor[10] float32 cpu  vmap over 32  min 0")

    def test_torch_without_numbers(self, answer):
        """The numbers of a tensor that can't or must not be read are left alone."""
        told = texts(answer("torch"))
        assert told["meta"] == "Tensor[3, 4] float32 meta"
        assert told["lazy"] == "UninitializedParameter float32 cpu not initialised yet"
        assert told["freed"] == "Tensor[10] float32 cpu  storage freed"
        assert told["freed view"] == "Tensor[7] float32 cpu  storage freed"
        assert told["in a mode"] == "Tensor[100] float32 cpu"
        assert told["fake"] == "FakeTensor[3, 4] float32 cpu"

    def test_models(self, answer):
        """A model is told by its parts and the number of its parameters."""
        told = texts(answer("torch"))
        assert told["model"] == (
            "Net: body Sequential, head Linear  67 parameters float32 cpu  eval"
        )
        assert told["layer"] == "ReLU  0 parameters  training"
        assert told["models"] == "[Net]"
        assert "6,949,120 parameters" in told["large model"]

    def test_pandas(self, answer):
        """A table is told by shape, columns, their types, and where values are missing."""
        told = texts(answer("pandas"))
        assert told["table"] == (
            "DataFrame[5000, 6]  id int64, p float64 (500 null), 3 bool, o object (500 null), "
            "d datetime64[us], c category (500 null)  (of the first 1,000 rows)"
        )
        assert told["short table"] == "DataFrame[10, 2]  id int64, p float64 (5 null)"
        assert told["many columns"].startswith("DataFrame[10, 1000]  0 float64, 1 float64, ")
        assert told["many columns"].endswith(", …")
        assert told["no columns"] == "DataFrame[0, 0]"
        assert told["series"] == "Series[5000] float64 (500 null)  (of the first 1,000 rows)"
        assert told["objects"] == "Series[3] object"
        assert told["tables"] == "[DataFrame[5000, 6]]"
        assert told["NaT"] == "NaT"
        assert told["hostile table"] == "Hostile[2, 1]  a int64"

    @pytest.mark.parametrize("part", ["numpy", "torch", "pandas", "large"])
    def test_cheap(self, answer, part):
        """A summary is quick and small, also of 2 GB, and runs no code of a subclass."""
        assert_cheap(answer(part))
        assert answer(part)["called"] == []

    def test_large(self, answer):
        """Large arrays are told from a sample, large texts and containers from their head."""
        told = texts(answer("large"))
        for name in (
            "2 GB",
            "2 GB transposed",
            "2 GB tensor",
            "2 GB tensor transposed",
            "expanded",
        ):
            assert "all 1  (of a sample of " in told[name], name
        assert "all 0  (of a sample of " in told["untouched"]
        assert told["10 million"].startswith("list(10,000,000): [0, 1, ")
        assert told["1 million keys"].startswith("dict(1,000,000): {0: None, ")
        assert told["1 GB text"].startswith("str(1,073,741,824): 'xxx")
        assert told["1 GB bytes"].startswith("bytes(1,073,741,824): b'")

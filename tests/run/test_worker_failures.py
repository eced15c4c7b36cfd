"""What fails in a worker process: its values, and which item it was, however it was started."""

from __future__ import annotations

import json
import textwrap

import pytest

from left_out import heavy

POOL = """
    import multiprocessing
    import sys
    from concurrent.futures import ProcessPoolExecutor


    class Custom(Exception):
        def __init__(self, row, reason):
            super().__init__(f"row {row}: {reason}")
            self.row, self.reason = row, reason

        def __reduce__(self):
            return Custom, (self.row, self.reason)


    class Frozen(Exception):
        def __setattr__(self, name, value):
            if not name.startswith("__c"):
                raise AttributeError("frozen")
            super().__setattr__(name, value)


    def scale(value):
        password = "hunter2-not-for-you"
        left = value - 7
        if left == 0:
            raise Custom(value, "nothing left")
        return 1 / left


    def renamed(value):
        value = value * 1
        return scale(value)


    def frozen(value):
        raise Frozen("no")


    if __name__ == "__main__":
        how, method = sys.argv[1:]
        context = multiprocessing.get_context(method)
        if how == "executor":
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                list(pool.map(scale, range(9)))
        with context.Pool(1) as pool:
            if how == "map":
                pool.map(scale, range(9), chunksize=3)
            elif how == "imap":
                list(pool.imap_unordered(scale, range(9)))
            elif how == "renamed":
                pool.map(renamed, range(9), chunksize=3)
            elif how == "frozen":
                pool.map(frozen, [1])
            elif how == "handled":
                try:
                    pool.map(scale, range(9))
                except Custom as error:
                    print(error.row, error.reason, len(pool.map(abs, range(3))))
"""
ITEMS = {"map": "iterable[7]", "imap": "iterable[7]", "executor": ""}
LOADER = """
    import sys

    import torch
    from torch.utils.data import DataLoader, Dataset, Subset


    class Rows(Dataset):
        def __len__(self):
            return 200

        def __getitem__(self, index):
            row = [1.0, "x" if index == 137 else 2.0]
            api_key = "sk-not-for-you-1234567890"
            return torch.tensor(row)


    if __name__ == "__main__":
        how, method = sys.argv[1:]
        rows = Subset(Rows(), range(100, 200)) if how == "subset" else Rows()
        loader = DataLoader(rows, batch_size=8, num_workers=2, multiprocessing_context=method)
        for batch in loader:
            pass
"""


@pytest.fixture
def worker(zeroin, project):
    """Run a program that fails in a worker; give what `run` and `show` tell of that worker."""

    def call(text: str, *words: str) -> tuple[dict | None, dict | None]:
        (project / "work.py").write_text(textwrap.dedent(text))
        python, *rest = words
        done = zeroin("run", "--json", "--", python, "work.py", *rest, cwd=project, timeout=200)
        assert done.returncode == 1, (done.stdout, done.stderr)
        shown = json.loads(zeroin("show", "--json", cwd=project).stdout)
        link = shown["crashes"][0]["chain"][-1]
        return json.loads(done.stdout)["worker"], link.get("worker")

    return call


def values_in(told, function: str) -> dict[str, str]:
    """Give the values of a function's frame in the last exception of a worker."""
    frames = told["chain"][-1]["frames"]
    return next(frame["locals"] for frame in frames if frame["name"] == function)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("how", ITEMS)
def test_values_of_a_worker(worker, how, method):
    """Pools and executors: the values are the worker's, secrets hidden, and the item is named."""
    said, told = worker(POOL, "python", how, method)
    assert values_in(told, "scale") == {"left": "0", "password": "<secret>", "value": "7"}
    assert said == {key: told[key] for key in ("name", "item", "pid")}
    assert said["item"] == ITEMS[how]
    assert told["chain"][-1]["type"] == "Custom"


def test_values_of_a_worker_on_each_interpreter(worker, python):
    """From 3.9 on, also where a comprehension has no frame of its own."""
    said, told = worker(POOL, python, "map", "fork")
    assert (said["item"], values_in(told, "scale")["value"]) == ("iterable[7]", "7")


def test_an_item_that_is_not_sure(worker):
    """An argument that was assigned anew tells no item: the chunk is named."""
    said, _ = worker(POOL, "python", "renamed", "fork")
    assert said["item"] == "one of iterable[6:9]"


def test_an_exception_that_takes_no_attribute(worker):
    """It arrives as it would without us; only its values are not told."""
    said, told = worker(POOL, "python", "frozen", "fork")
    assert (said, told) == (None, None)


def test_a_failure_that_is_handled(zeroin, project):
    """The program goes on as it would, and nothing is said of it."""
    (project / "work.py").write_text(textwrap.dedent(POOL))
    done = zeroin("run", "--json", "--", "python", "work.py", "handled", "fork", cwd=project)
    assert (done.returncode, json.loads(done.stdout)["worker"]) == (0, None)
    assert "7 nothing left 3" in done.stderr


THREAD = """
    import threading
    from multiprocessing.pool import ExceptionWithTraceback


    def scale(value):
        left = value - 7
        return 1 / left


    def work():
        try:
            scale(7)
        except ZeroDivisionError as error:
            made, given = ExceptionWithTraceback(error, error.__traceback__).__reduce__()
            kept.append(made(*given))


    kept = []
    thread = threading.Thread(target=work, name="scaler")
    thread.start()
    thread.join()
    raise kept[0]
"""
JOBLIB = """
    import sys

    from joblib import Parallel, delayed


    def scale(value):
        left = value - 7
        return 1 / left


    if __name__ == "__main__":
        Parallel(n_jobs=2, backend=sys.argv[1])(delayed(scale)(value) for value in range(9))
"""


def test_a_carrier_that_is_taken_apart(worker, python):
    """Without a pickle, as joblib does in threads: it has two parts as ever, and the values."""
    said, told = worker(THREAD, python)
    assert said["name"] == "scaler"
    assert values_in(told, "scale") == {"left": "0", "value": "7"}
    assert told["chain"][-1]["type"] == "ZeroDivisionError"


@heavy("scikit-learn")
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(worker, libs, backend):
    """Whatever its back-end, the program fails of what its worker did, with its values."""
    _, told = worker(JOBLIB, libs, backend)
    assert values_in(told, "scale") == {"left": "0", "value": "7"}
    assert told["chain"][-1]["type"] == "ZeroDivisionError"


@heavy("torch")
@pytest.mark.parametrize(
    ("how", "method", "item"),
    [
        ("rows", "fork", "dataset[137]"),
        ("rows", "spawn", "dataset[137]"),
        ("subset", "fork", "dataset[37], which is dataset.dataset[137]"),
    ],
)
def test_the_index_of_a_data_set(worker, zeroin, project, libs, how, method, item):
    """A DataLoader's worker: which one, at which index, with the values of `__getitem__`."""
    said, told = worker(LOADER, libs, how, method)
    name, _, rest = said["item"].partition(", ")
    assert (name, rest) in ((f"DataLoader worker {n}", item) for n in range(2))
    values = values_in(told, "__getitem__")
    assert (values["index"], values["row"]) == ("137", "[1.0, 'x']")
    assert values["api_key"] == "<secret>"
    text = zeroin("show", cwd=project).stdout
    assert f"in {said['item']} (process {said['pid']})" in text.splitlines()

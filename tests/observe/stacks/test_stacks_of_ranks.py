"""Real torch: four processes over gloo with one astray, and a DataLoader."""

from __future__ import annotations

import json
import socket
import textwrap

import pytest

from left_out import heavy

pytestmark = [pytest.mark.slow, heavy("torch")]

DATA = """
    import time
    def read(shard):
        time.sleep(1000)
"""
TRAIN = """
    import os, sys, torch, torch.distributed as dist
    from data import read
    def step(rank):
        grads = torch.ones(32, 10)
        if rank == 2:
            read("shard-2")
        dist.all_reduce(grads)
    def main(rank=None, port=None):
        if rank is not None:
            os.environ.update(RANK=str(rank), WORLD_SIZE="4", MASTER_ADDR="127.0.0.1")
            os.environ["MASTER_PORT"] = port
        dist.init_process_group("gloo")
        step(dist.get_rank())
    if __name__ == "__main__":
        if len(sys.argv) > 1:
            torch.multiprocessing.spawn(main, args=(sys.argv[1],), nprocs=4)
        else:
            main()
"""
SAID = "3 of 4 ranks wait in all_reduce at train.py:8 step(); rank 2 sleeps at data.py:4 read()"


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


@pytest.fixture
def stuck(stuck):
    """Start programs that take seconds until they are stuck."""
    stuck.settling = 30
    return stuck


@pytest.fixture
def train(stuck, libs):
    (stuck.folder / "data.py").write_text(textwrap.dedent(DATA))
    (stuck.folder / "train.py").write_text(textwrap.dedent(TRAIN))
    return stuck


def test_one_of_four_ranks_is_astray(train, libs):
    """torchrun: the odd one is named first, the launcher and its helpers are told apart."""
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "4", "--master-port", free_port()]
    pid = train.run(libs, *words, "train.py").pid
    found = train.until(pid, SAID)
    assert [g["ranks"] for g in found["groups"] if g["ranks"] and g["main"]] == [[2], [0, 1, 3]]
    roles = [p["role"] for p in found["processes"]]
    assert sorted(roles) == ["launcher", "rank", "rank", "rank", "rank"]


def test_ranks_that_set_their_variables_themselves(train, libs):
    """`mp.spawn`: /proc has no RANK; the order of their start says who they are."""
    pid = train.run(libs, "train.py", free_port()).pid
    assert train.until(pid, SAID)["groups"][0]["ranks"] == [2]


def test_shapes_in_the_locals_of_a_hung_rank(train, libs, zeroin):
    """Under zeroin the ranks tell themselves what their tensors are; it ends, nothing is left."""
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "4", "--master-port", free_port()]
    done = zeroin(
        *("stacks", "--locals", "--end", "--json", "--", libs, *words, "train.py"),
        cwd=train.folder,
        timeout=200,
    )
    assert done.returncode == 124
    found = json.loads(done.stdout)
    assert found["verdict"] == SAID
    frame = next(f for f in found["groups"][0]["frames"] if f["name"] == "step")
    assert frame["locals"]["grads"].startswith("Tensor[32, 10] float32 cpu")
    assert {p["source"] for p in found["processes"] if p["role"] == "rank"} == {"agent"}
    assert not list((zeroin.base / "runtime").rglob("*"))


def test_workers_of_a_loader(stuck, libs):
    """The main program waits for a batch; its workers are told by number, with where they are."""
    pid = stuck.start(
        """
        import signal, torch
        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, n):
                signal.pause()
        next(iter(torch.utils.data.DataLoader(Rows(), num_workers=2)))
        """,
        python=libs,
        name="rows.py",
    ).pid

    def at_work(found):
        groups = [g for g in found["groups"] if g["labels"] == ["worker 0", "worker 1"]]
        return [g["frames"][-1]["name"] for g in groups]

    waits = "waits for a batch of the DataLoader's workers at rows.py:8"
    # The workers may still be on their way when the program waits for them.
    stuck.until(pid, lambda one: waits in one["verdict"] and at_work(one) == ["Rows.__getitem__"])

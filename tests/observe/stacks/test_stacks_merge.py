"""Merging and judging are pure: any stacks, any number of ranks."""

from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from zeroin.observe.stacks.merge import Thread, grouped
from zeroin.observe.stacks.ranks import Facts, Name, missing, names
from zeroin.observe.stacks.stack import Stack
from zeroin.observe.stacks.standing import plural
from zeroin.observe.stacks.verdict import Case, Dead, listed, verdict
from zeroin.observe.stacks.waits import Wait

C10D = "/env/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py"
QUEUE = "/usr/lib/python3.12/queue.py"
FILES = ["/home/me/train.py", "/home/me/data.py", C10D, QUEUE, "/usr/lib/python3.12/threading.py"]
FRAME = st.tuples(
    st.sampled_from(FILES),
    st.integers(0, 5),
    st.sampled_from(["main", "step", "all_reduce", "get", "wait", "<module>", "join"]),
)
THREAD = st.builds(
    lambda rank, frames, tid, kind: Thread(
        Stack(100 + rank, "MainThread" if not tid else f"t{tid}", frames, "py-spy", (), 0),
        Name(f"rank {rank}", "rank", rank),
        Wait(kind, f"does {kind}"),
    ),
    st.integers(0, 5),
    st.lists(FRAME, max_size=6),
    st.integers(0, 2),
    st.sampled_from(["sleep", "lock", "read", "runs", "hidden", "stopped", "many"]),
)


def rank(number, *frames, thread="MainThread", wait="hidden"):
    stack = Stack(100 + number, thread, list(frames), "py-spy")
    return Thread(stack, Name(f"rank {number}", "rank", number), Wait(wait, ""))


def main_at(line, *inner):
    return ("/home/me/train.py", 60, "<module>"), ("/home/me/train.py", line, "main"), *inner


ALL_REDUCE = (C10D, 2500, "all_reduce")
BROADCAST = (C10D, 2400, "broadcast")


@given(st.lists(THREAD, max_size=12), st.randoms())
def test_every_thread_is_in_one_group_whatever_the_order(threads, shuffle):
    """Nothing is lost or told twice, identical stacks are together, and order changes nothing."""
    groups = grouped(threads)
    assert sorted(id(t) for g in groups for t in g.threads) == sorted(map(id, threads))
    mixed = list(threads)
    shuffle.shuffle(mixed)
    assert {frozenset(map(id, g.threads)) for g in grouped(mixed)} == {
        frozenset(map(id, g.threads)) for g in groups
    }
    same = {}
    for number, one in enumerate(groups):
        for t in one.threads:
            key = (t.is_main, tuple(t.stack.frames), t.wait.kind, t.name.role)
            assert same.setdefault(key, number) == number


@given(st.lists(THREAD, max_size=12), st.lists(st.integers(0, 9), max_size=3))
def test_any_case_has_a_sentence(threads, lost):
    """Never an error, never nothing, always one line."""
    said = verdict(Case(grouped(threads), missing=lost, world=8))
    assert said
    assert "\n" not in said


def test_the_odd_one_out_comes_first():
    """Three ranks in a collective, one elsewhere."""
    threads = [rank(n, *main_at(41, ALL_REDUCE)) for n in (0, 1, 3)]
    threads.insert(2, rank(2, *main_at(40, ("/home/me/data.py", 17, "read"))))
    groups = grouped(threads)
    assert [g.ranks for g in groups] == [[2], [0, 1, 3]]
    assert verdict(Case(groups)) == (
        "3 of 4 ranks wait in all_reduce at train.py:41 main(); rank 2 is in data.py:17 read()"
    )


def test_different_collectives():
    """The order of calls differs between ranks."""
    threads = [rank(n, *main_at(41, ALL_REDUCE)) for n in (0, 1, 3)]
    threads.append(rank(2, *main_at(50, BROADCAST)))
    assert verdict(Case(grouped(threads))) == (
        "rank 2 is in broadcast at train.py:50 main(), ranks 0, 1 and 3 in all_reduce at "
        "train.py:41 main(): the order differs"
    )


def test_ranks_that_are_gone_or_elsewhere():
    """A rank without a process; ranks on other machines; nobody missing at all."""
    threads = [rank(n, *main_at(41, ALL_REDUCE)) for n in (0, 1, 3)]
    groups = grouped(threads)
    assert verdict(Case(groups, missing=[2], world=4)) == (
        "all 3 ranks wait in all_reduce at train.py:41 main(); rank 2 has no process any more"
    )
    assert verdict(Case(groups, world=16)) == (
        "all 3 ranks wait in all_reduce at train.py:41 main(); the other 13 ranks are not on this "
        "machine: look there"
    )
    assert "nobody is missing" in verdict(Case(groups, world=3))
    dead = Dead(7, 1, Name("pid 7", "rank"), "been ended by SIGKILL")
    assert verdict(Case(groups, [dead], missing=[2], world=4)).endswith(
        "; rank 2 has been ended by SIGKILL"
    )


def test_a_rank_whose_worker_is_stuck():
    """The rank that is astray waits for its loader; what the loader's worker does is said."""
    loader = "/env/lib/python3.12/site-packages/torch/utils/data/dataloader.py"
    threads = [rank(n, *main_at(41, ALL_REDUCE)) for n in (0, 1, 3)]
    threads.append(rank(2, *main_at(30, (loader, 9, "_next_data"))))
    frames = [("/home/me/data.py", 17, "read")]
    threads.append(
        Thread(Stack(900, "MainThread", frames, "py-spy"), Name("worker 0 of rank 2", "worker", 2))
    )
    assert verdict(Case(grouped(threads), parents={900: 102})) == (
        "3 of 4 ranks wait in all_reduce at train.py:41 main(); rank 2 waits for a batch of the "
        "DataLoader's workers at train.py:30 main(); worker 0 of rank 2 is in data.py:17 read()"
    )


def test_the_topmost_process_is_the_rank():
    """Workers inherit RANK; a launcher has none of its own; helpers are told apart."""
    env = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    train = ["python", "train.py"]
    tracker = ["python", "-c", "from multiprocessing.resource_tracker import main;main(5)"]
    processes = [
        Facts(1, 0, ["python", "/env/bin/torchrun", "train.py"], {}),
        Facts(2, 1, train, env),
        Facts(3, 2, train, env),
        Facts(4, 2, train, env),
        Facts(5, 2, tracker, env),
        Facts(6, 2, ["ffmpeg"], env),
    ]
    found = names(processes)
    assert [found[n].label for n in range(1, 7)] == [
        "launcher",
        "rank 1",
        "worker 0 of rank 1",
        "worker 1 of rank 1",
        "helper (pid 5)",
        "pid 6",
    ]
    assert missing(processes, found) == [0]


def test_who_a_fork_server_made_is_a_worker():
    """It has the server's own words; the server itself and the tracker are helpers."""
    server = ["python", "-c", "from multiprocessing.forkserver import main; main(3, 5, [])"]
    tracker = ["python", "-c", "from multiprocessing.resource_tracker import main;main(5)"]
    processes = [
        Facts(1, 0, ["python", "train.py"], {}),
        Facts(2, 1, tracker, {}),
        Facts(3, 1, server, {}),
        Facts(4, 3, server, {}),
        Facts(5, 3, server, {}),
    ]
    labels = [one.label for one in names(processes).values()]
    assert labels == ["pid 1", "helper (pid 2)", "helper (pid 3)", "worker 0", "worker 1"]


def test_several_compute():
    """The verb agrees with its subject, also before a comma."""
    assert plural("computes, holding the GIL,") == "compute, holding the GIL,"
    assert plural("waits for a lock") == "wait for a lock"


def test_torchrun_below_slurm():
    """Both have a number for it: that of torchrun counts."""
    processes = [
        Facts(1, 0, ["torchrun", "train.py"], {"SLURM_PROCID": "0"}),
        *(Facts(n + 2, 1, ["python"], {"SLURM_PROCID": "0", "RANK": str(n)}) for n in range(3)),
    ]
    found = names(processes)
    assert [found[n].label for n in range(1, 5)] == ["launcher", "rank 0", "rank 1", "rank 2"]


def test_numbers_are_read_in_ranges():
    """As people say them."""
    assert listed([0]) == "0"
    assert listed([0, 1, 3]) == "0, 1 and 3"
    assert listed([*range(10), 12]) == "0-9 and 12"


def test_a_thousand_ranks_with_eight_threads_are_merged():
    """1,024 x 8 stacks of 25 frames; how long it takes stands in the bench."""
    rng = random.Random(1)
    base = [(f"/env/lib/python3.12/site-packages/x/m{n}.py", n, "f") for n in range(20)]
    threads = []
    for number in range(1024):
        for thread in range(8):
            line = 41 if number != 77 or thread else 17
            frames = [*base, *main_at(line), (C10D, 1, "all_reduce"), *base[:2]]
            name = "MainThread" if not thread else f"t{thread}"
            threads.append(rank(number, *(tuple(f) for f in frames), thread=name))
    rng.shuffle(threads)
    began = time.monotonic()
    groups = grouped(threads)
    assert time.monotonic() - began < 60
    assert groups[0].ranks == [77]
    assert sum(len(g.threads) for g in groups) == 8192


def test_an_installed_program_is_named_by_who_calls():
    """Without any code of the user's, the line that calls the collective is told."""
    site = "/env/lib/python3.12/site-packages"
    frames = [
        (f"{site}/trainer/loop.py", 7, "fit"),
        (f"{site}/torch/distributed/c10d_logger.py", 83, "wrapper"),
        ALL_REDUCE,
    ]
    groups = grouped([rank(n, *frames) for n in (0, 1)])
    assert verdict(Case(groups)).startswith("all 2 ranks wait in all_reduce at loop.py:7 fit()")

"""Who is who in a tree: ranks, their workers, launchers and Python's own helpers."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple
from zeroin.observe.stacks import proc
from zeroin.observe.stacks.stack import AGENT, module_of, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.observe.stacks.stack import Stack

# What launchers tell each process, the most telling first: with torchrun below srun there are two.
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK")
WORLDS = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
# What all ranks of a job have in common, and no other job has.
JOBS = (("MASTER_ADDR", "MASTER_PORT"), ("PMIX_NAMESPACE",), ("SLURM_JOB_ID", "SLURM_STEP_ID"))
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "srun", "horovodrun")
LAUNCHING = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")
FORK_SERVER = "multiprocessing.forkserver"
HELPERS = ("multiprocessing.resource_tracker", FORK_SERVER, "semaphore_tracker")
COMPILERS = ("torch/_inductor/compile_worker", "torch._inductor.compile_worker")
AT_WORK = ("/multiprocessing/", "/concurrent/futures/", "/torch/utils/data/")
WARM = os.path.join(AGENT, "warm", "")  # where a snapshot waits to be needed


class Facts(NamedTuple):
    """What is known of one process before it has a name."""

    pid: int
    parent: int
    command: Sequence[str]
    environ: Mapping[str, str]
    stacks: Sequence[Stack] = ()
    state: str = "S"


class Name(NamedTuple):
    """Who a process is."""

    label: str  # "rank 2", "worker 3 of rank 1", "launcher", "pid 1234"
    role: str  # "main", "rank", "worker", "launcher", "helper", "zeroin", "child"
    rank: int | None = None
    number: int | None = None  # of a worker


def names(processes: Sequence[Facts]) -> dict[int, Name]:
    """Name all of a tree; parents come before children, siblings in the order of their start."""
    found: dict[int, Name] = {}
    by_pid = {one.pid: one for one in processes}
    variable = next((v for v in RANKS if any(v in one.environ for one in processes)), "")
    spawned = _spawned(processes)
    counts: dict[int, int] = {}
    for one in processes:
        rank = spawned.get(one.pid, _number(one.environ.get(variable, "")))
        found[one.pid] = _name(one, rank, by_pid, found, counts)
    return _tell_launchers(processes, found)


def _name(
    one: Facts,
    rank: int | None,
    by_pid: Mapping[int, Facts],
    found: Mapping[int, Name],
    counts: dict[int, int],
) -> Name:
    line = " ".join(one.command)
    if proc.is_zeroin(one.command):
        return Name("zeroin", "zeroin")
    if any(stack.is_main and _innermost_file(stack).startswith(WARM) for stack in one.stacks):
        return Name("snapshot of a loop", "zeroin")
    if any(word in line for word in (*HELPERS, *COMPILERS)) and not _is_served(one, by_pid):
        return Name(f"helper (pid {one.pid})", "helper")
    if is_launcher(one.command):
        return Name("launcher", "launcher")
    parent = found.get(one.parent)
    if one.state == "Z" and parent is not None and parent.role == "launcher":
        return Name(f"pid {one.pid}", "rank")
    if rank is not None and _rank_above(one, by_pid, found) != rank:
        return Name(f"rank {rank}", "rank", rank)
    owner = _owner(one, by_pid, found)
    if owner is not None and _is_worker(one, by_pid):
        index = counts[owner] = counts.get(owner, -1) + 1
        of = found[owner]
        text = f"worker {index}" + (f" of {of.label}" if of.role in ("rank", "worker") else "")
        return Name(text, "worker", of.rank, index)
    return Name(f"pid {one.pid}", "main" if parent is None else "child", rank)


def _innermost_file(stack: Stack) -> str:
    return stack.frames[-1][0] if stack.frames else ""


def _rank_above(one: Facts, by_pid: Mapping[int, Facts], found: Mapping[int, Name]) -> int | None:
    """Helpers and workers inherit the variable: the topmost process of a rank is the rank."""
    above = by_pid.get(one.parent)
    while above is not None:
        name = found[above.pid]
        if name.rank is not None:
            return name.rank
        above = by_pid.get(above.parent)
    return None


def _owner(one: Facts, by_pid: Mapping[int, Facts], found: Mapping[int, Name]) -> int | None:
    """The program that a worker works for: a fork server stands between."""
    above = by_pid.get(one.parent)
    while above is not None and found[above.pid].role == "helper":
        above = by_pid.get(above.parent)
    return above.pid if above is not None else None


def _is_served(one: Facts, by_pid: Mapping[int, Facts]) -> bool:
    """Whether a fork server made it: it has the words of the server, and works for the program."""
    parent = by_pid.get(one.parent)
    forked = parent is not None and list(one.command) == list(parent.command)
    return forked and FORK_SERVER in " ".join(one.command)


def _is_worker(one: Facts, by_pid: Mapping[int, Facts]) -> bool:
    """Started by multiprocessing: forked, so with its parent's words, or by its own command."""
    parent = by_pid.get(one.parent)
    if one.state == "Z":  # it has no words any more: its parent must be at such work
        files = [f[0] for stack in (parent.stacks if parent else ()) for f in stack.frames]
        return any(word in file for file in files for word in AT_WORK)
    forked = parent is not None and (not one.command or list(one.command) == list(parent.command))
    line = " ".join(one.command)
    return (
        forked
        or "multiprocessing.spawn" in line
        or "forkserver" in " ".join(parent.command if parent is not None else ())
    )


def _spawned(processes: Sequence[Facts]) -> dict[int, int]:
    """Ranks that `torch.multiprocessing.spawn` started set their variables too late to be seen."""
    found: dict[int, int] = {}
    counts: dict[int, int] = {}
    for one in processes:
        if any(
            module_of(file) == "torch/multiprocessing/spawn.py" and plain(name) == "_wrap"
            for stack in one.stacks
            for file, _, name in stack.frames
        ):
            found[one.pid] = counts[one.parent] = counts.get(one.parent, -1) + 1
    return found


def _tell_launchers(processes: Sequence[Facts], found: dict[int, Name]) -> dict[int, Name]:
    """Whoever has ranks below it and is none itself launched them."""
    parents = {one.parent for one in processes if found[one.pid].role == "rank"}
    return {
        pid: Name("launcher", "launcher")
        if pid in parents and name.role in ("main", "child")
        else name
        for pid, name in found.items()
    }


def is_launcher(command: Sequence[str]) -> bool:
    """By its words."""
    first = {os.path.basename(word) for word in command[:2]}
    return bool(first.intersection(LAUNCHERS)) or any(word in command for word in LAUNCHING)


def missing(processes: Sequence[Facts], names: Mapping[int, Name]) -> list[int]:
    """Ranks that should be on this machine and have no process any more."""
    alive = {
        names[one.pid].rank
        for one in processes
        if names[one.pid].role == "rank" and one.state not in "ZX"
    }
    env: Mapping[str, str] = next((p.environ for p in processes if "RANK" in p.environ), {})
    world, local = _number(env.get("WORLD_SIZE", "")), _number(env.get("LOCAL_WORLD_SIZE", ""))
    if not alive or world is None or local != world or world > 100_000:
        return []
    return sorted(set(range(world)) - alive)


def world_of(processes: Sequence[Facts]) -> int | None:
    """How many ranks there are in all, here and elsewhere."""
    for one in processes:
        for name in WORLDS:
            if (number := _number(one.environ.get(name, ""))) is not None:
                return number
    return None


def job_of(pid: int) -> tuple[str, ...]:
    """The job that a process is a rank of; () for one that is none."""
    env = proc.environ(pid)
    if rank_in(env) is None:
        return ()
    told = (tuple(env.get(name, "") for name in one) for one in JOBS)
    return next((one for one in told if all(one)), ())


def rank_of(pid: int) -> int | None:
    """As its launcher told it."""
    return rank_in(proc.environ(pid))


def rank_in(env: Mapping[str, str]) -> int | None:
    """The most telling of the variables."""
    return next((_number(env[name]) for name in RANKS if name in env), None)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None

"""The programs of other people that zeroin uses, each really used once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from zeroin.observe.machine import fixes
from zeroin.observe.machine.probe import ABSENT, LIMITED, MISSING, OK, Probe, run
from zeroin.observe.stacks import find_py_spy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

OLD_GIT = (2, 25)


def py_spy() -> Iterable[Probe]:
    """Read the stack of a Python that does nothing."""
    matters = "stacks at a time-out"
    path = find_py_spy()
    if path is None:
        detail = "not beside our interpreter, not on PATH"
        yield Probe("py-spy", MISSING, detail, fixes.beside_driver("py-spy"), matters)
        return
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "print('up', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as victim:
        try:
            assert victim.stdout is not None  # noqa: S101 - asked for above
            victim.stdout.readline()
            start = time.perf_counter()
            ran = run(path, "dump", "--nonblocking", "--pid", str(victim.pid))
            seconds = time.perf_counter() - start
        finally:
            victim.kill()
    version = (run(path, "--version").out.split() or ["?"])[-1]
    if ran.code == 0 and "<module>" in ran.out:
        detail = f"{version} read the stack of a Python in {seconds * 1000:.0f} ms"
        yield Probe("py-spy", OK, detail, "", matters)
        return
    said = next(iter(ran.err.strip().splitlines()), ran.reason).removeprefix("Error: ")
    if "Permission Denied" in said:
        detail, fix = f"{version} may not read a Python's stack; see ptrace", ""
    else:
        detail = f"{version} could not read a Python's stack: {said}"
        fix = fixes.beside_driver("--upgrade py-spy")
    yield Probe("py-spy", LIMITED, detail, fix, matters)


def strace() -> Iterable[Probe]:
    """Trace a command, first in the way that leaves other system calls alone."""
    matters = "which file failed, faults in system calls"
    if shutil.which("strace") is None:
        yield Probe("strace", MISSING, "not on PATH", fixes.system_package("strace"), matters)
        return
    traced = ["-f", "-qq", "-e", "trace=execve", "true"]
    ran = run("strace", "--seccomp-bpf", *traced)
    if ran.code == 0 and "execve(" in ran.err:
        yield Probe("strace", OK, "traced a command, other calls at full speed", "", matters)
        return
    slow = run("strace", *traced)
    if slow.code == 0 and "execve(" in slow.err:
        detail = "traces, but without --seccomp-bpf: every system call is slow"
        yield Probe("strace", LIMITED, detail, fixes.system_package("strace"), matters)
        return
    yield Probe("strace", LIMITED, f"could not trace: {slow.reason}", "", matters)


def gdb() -> Iterable[Probe]:
    """Attach to a process that waits for input, and so ends with us."""
    matters = "native stacks"
    if shutil.which("gdb") is None:
        yield Probe("gdb", MISSING, "not on PATH", fixes.system_package("gdb"), matters)
        return
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as victim:
        try:
            options = ["-nx", "-batch", "-iex", "set debuginfod enabled off"]
            ran = run("gdb", *options, "-ex", "show version", "-p", str(victim.pid))
        finally:
            victim.kill()
    version = next((line for line in ran.out.splitlines() if line.startswith("GNU gdb")), "gdb")
    if ran.code == 0 and "ptrace: " not in ran.err:
        yield Probe("gdb", OK, f"{version} attached to a process", "", matters)
        return
    yield Probe("gdb", LIMITED, f"could not attach: {ran.reason}; see ptrace", "", matters)


def git() -> Iterable[Probe]:
    """Ask for the version: older ones lack options we use."""
    matters = "what changed between attempts, bisecting commits"
    if shutil.which("git") is None:
        yield Probe("git", MISSING, "not on PATH", fixes.system_package("git"), matters)
        return
    ran = run("git", "--version")
    version = [*ran.out.split(), "", "", "0"][2]
    if ran.code != 0:
        yield Probe("git", MISSING, ran.reason, fixes.system_package("git"), matters)
    elif _numbers(version) < OLD_GIT:
        detail = f"{version} is older than {_dotted(OLD_GIT)}"
        yield Probe("git", LIMITED, detail, fixes.system_package("git"), matters)
    else:
        yield Probe("git", OK, version, "", matters)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def uv() -> Iterable[Probe]:
    """Look beside our interpreter first, as for py-spy."""
    matters = "environments made in a second"
    beside = os.path.join(os.path.dirname(sys.executable), "uv")
    path = beside if os.access(beside, os.X_OK) else shutil.which("uv")
    if path is None:
        yield Probe("uv", MISSING, "not on PATH", fixes.beside_driver("uv"), matters)
        return
    ran = run(path, "--version")
    if ran.code == 0:
        yield Probe("uv", OK, ran.out.strip().removeprefix("uv "), "", matters)
    else:
        yield Probe("uv", LIMITED, ran.reason, fixes.beside_driver("--upgrade uv"), matters)


def _is_of_cluster() -> bool:
    """Tell whether SLURM has started us, or is set up here."""
    is_set_up = any(map(os.path.exists, ("/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf")))
    return "SLURM_JOB_ID" in os.environ or "SLURM_CONF" in os.environ or is_set_up


def slurm() -> Iterable[Probe]:
    """Ask the controller for its partitions."""
    matters = "runs and stacks on a cluster"
    missing = [name for name in ("sinfo", "srun") if shutil.which(name) is None]
    if missing:
        detail = f"no {' and no '.join(missing)} on PATH"
        if len(missing) > 1 and not _is_of_cluster():
            yield Probe("SLURM", ABSENT, f"{detail}: this machine is in no cluster", "", matters)
        else:
            yield Probe("SLURM", MISSING, detail, fixes.system_package("slurm"), matters)
        return
    ran = run("sinfo", "--noheader", "--format=%P %D")
    if ran.code != 0:
        yield Probe("SLURM", LIMITED, f"sinfo: {ran.reason}", "scontrol ping", matters)
        return
    rows = [line.split() for line in ran.out.splitlines() if line.strip()]
    nodes = sum(int(row[-1]) for row in rows if row[-1].isdecimal())
    job = os.environ.get("SLURM_JOB_ID")
    inside = f", inside job {job}" if job else ""
    yield Probe("SLURM", OK, f"{len(rows)} partitions, {nodes} nodes{inside}", "", matters)

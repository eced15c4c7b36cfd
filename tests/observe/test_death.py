"""From what is known of an end to what killed it; never more than that."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from support import needs
from zeroin.observe.death import around, cores, kernel_log, process
from zeroin.observe.death.evidence import Evidence
from zeroin.observe.death.verdict import judge

DISK = {"path": "/data", "free": 10**9, "size": 10**10, "inodes_free": 100, "inodes": 200}
FULL = {**DISK, "free": 0}

CASES = {
    "passed": (Evidence(0, outcome="passed"), "did not die", "certain"),
    "hang": (Evidence(signal="SIGTERM", outcome="hang"), "--timeout", "certain"),
    "counter": (
        Evidence(signal="SIGKILL", oom_kills=1, peak=9),
        "killed it: out of memory",
        "certain",
    ),
    "child": (Evidence(1, oom_kills=1), "killed a process of it: out of memory", "certain"),
    "log": (
        Evidence(137, kernel=["Out of memory: Killed process 7 (python)"]),
        "killed it: out of memory",
        "certain",
    ),
    "near": (
        Evidence(signal="SIGKILL", groups={"memory": 1000}, peak=950, oom_kills=0),
        "probably killed for memory",
        "likely",
    ),
    "who": (
        Evidence(signal="SIGKILL", oom_kills=0, kernel=[], peak=9),
        "does not keep who",
        "unknown",
    ),
    "cpu hard": (
        Evidence(signal="SIGKILL", limits={"cpu time": [1, 2]}, cpu_seconds=2.0),
        "used up its CPU time",
        "certain",
    ),
    "slurm": (
        Evidence(
            signal="SIGKILL",
            output="slurmstepd: error: *** JOB 3 ON n1 CANCELLED DUE TO TIME LIMIT ***",
        ),
        "its time was over",
        "certain",
    ),
    "disk": (
        Evidence(1, exception="OSError: [Errno 28] No space left on device", disks=[FULL]),
        "the disk was full",
        "certain",
    ),
    "disk in C": (
        Evidence(1, output="cp: error writing: No space left on device"),
        "disk was full",
        "likely",
    ),
    "files": (
        Evidence(1, exception="OSError: [Errno 24] Too many open files: 'x'"),
        "files open",
        "certain",
    ),
    "threads": (
        Evidence(1, exception="RuntimeError: can't start new thread"),
        "threads",
        "certain",
    ),
    "memory": (Evidence(1, exception="MemoryError: "), "memory was not to be had", "certain"),
    "exception": (
        Evidence(1, exception="KeyError: 3", headline="KeyError at x"),
        "KeyError at x",
        "certain",
    ),
    "bus": (Evidence(signal="SIGBUS", disks=[FULL]), "/data is full", "likely"),
    "heap": (
        Evidence(signal="SIGABRT", output="free(): invalid pointer\n"),
        "heap was corrupted",
        "certain",
    ),
    "deep": (
        Evidence(signal="SIGSEGV", limits={"stack": [8 << 20, -1]}, faults="\n  File x" * 100),
        "its stack was full",
        "likely",
    ),
    "null": (
        Evidence(signal="SIGSEGV", calls=["7 --- SIGSEGV {si_code=SEGV_MAPERR, si_addr=NULL} ---"]),
        "not its own",
        "certain",
    ),
    "unstarted": (
        Evidence(outcome="unfinished", headline="x: no such file"),
        "it did not start: x: no such file",
        "certain",
    ),
    "127 and a line": (
        Evidence(127, output="sh: 1: frob: not found\n"),
        "a command was not found",
        "certain",
    ),
    "127 of a shell": (Evidence(127, shell=True), "a command was not found", "likely"),
    "127": (Evidence(127), "exit code 127, what a shell gives for a command", "unknown"),
    "137 of a shell": (Evidence(137, shell=True), "SIGKILL, and a shell passed that", "likely"),
    "137": (Evidence(137), "nothing else speaks for that", "unknown"),
    "139 and a child": (Evidence(139, child="SIGSEGV"), "SIGSEGV in a child", "certain"),
    "137 and a child": (Evidence(137, child="SIGSEGV"), "SIGSEGV in a child", "certain"),
    "3 and a child": (Evidence(3, child="SIGSEGV"), "SIGSEGV in a child", "certain"),
    "code": (Evidence(3, output="a\nlast words\n"), "a code of its own", "certain"),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name):
    """Each kind of end, as sure as the evidence is."""
    evidence, text, sure = CASES[name]
    verdict = judge(evidence)
    assert text in verdict.text
    assert verdict.sure == sure


def test_unknown_says_what_it_was_not():
    """And what could not be looked at."""
    verdict = judge(Evidence(signal="SIGKILL", outcome="killed", oom_kills=0, disks=[DISK]))
    assert verdict.sure == "unknown"
    text = "\n".join(verdict.ruled_out)
    assert "counter did not move" in text
    assert "can't be read here" in text
    assert "a full disk: /data" in text


def test_around_is_cheap_and_true():
    """At most a millisecond, at its best of many times: each run pays it."""
    best = 1.0
    for _ in range(30):
        start = time.perf_counter()
        limits, _, disks = around.limits(), around.groups(), around.disks(["/tmp", "/"])
        best = min(best, time.perf_counter() - start)
    assert best < 0.001
    assert limits["open files"] == list(resource.getrlimit(resource.RLIMIT_NOFILE))
    found = os.statvfs(disks[0]["path"])
    assert disks[0]["size"] == found.f_blocks * found.f_frsize


def test_the_kernels_log_is_read_by_process(tmp_path):
    """Only lines that name the process itself; a log that can't be read is not an empty one."""
    log = tmp_path / "kmsg"
    lines = [
        "6,1,9999999999999,-;Out of memory: Killed process 77 (python) total-vm:1kB",
        "6,2,9999999999999,-;Out of memory: Killed process 777 (python)",
        "6,3,9999999999999,-;python[77]: segfault at 0 ip 0",
    ]
    log.write_text("\n".join(lines))
    # A regular file gives all records at once; the first is enough to tell the numbers apart.
    assert kernel_log.about([77], path=str(log)) == [
        "Out of memory: Killed process 77 (python) total-vm:1kB"
    ]
    assert kernel_log.about([7], path=str(log)) == []
    assert kernel_log.about([77], path=str(tmp_path / "none")) is None


# --- core dumps -----------------------------------------------------------------------------------


@needs("gdb")
def test_a_core_dump_is_found_and_read(tmp_path):
    """Through the pattern; with the interpreter that is named in it; another's is not taken."""
    if Path("/proc/sys/kernel/core_pattern").read_text().startswith(("|", "/")):
        pytest.skip("this machine puts core dumps elsewhere")
    python = os.path.realpath(sys.executable)
    started = time.time()
    process_ = subprocess.Popen(
        ["sh", "-c", f"ulimit -c unlimited; exec {python} -c 'import ctypes; ctypes.string_at(8)'"],
        cwd=tmp_path,
    )
    assert process_.wait() == -signal.SIGSEGV
    death = cores.Death(process_.pid, str(tmp_path), started, dumped=True, limit=-1)
    core = cores.find(death)
    assert core.program == python
    assert "strlen" in core.native[0]
    assert any("ctypes" in frame for frame in core.native)
    assert cores.find(death._replace(since=started + 1000)).path == ""
    other = cores.find(death._replace(pid=1))
    assert (other.path, other.native) == ("", ())
    assert f"is that of process {process_.pid}" in other.note


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("core", "core"),
        ("core", "core.77"),
        ("d/core.%p.%t", "d/core.77.123"),
        ("c-%e-%%-%p", "c-x-%-77"),
    ],
)
def test_patterns_of_core_dumps(tmp_path, pattern, name, monkeypatch):
    """As core(5) describes them; what we can't know matches anything."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\x7fELF\x02" + b"\0" * 11 + b"\x04\0" + b"\0" * 100)
    monkeypatch.setenv("PATH", "")
    death = cores.Death(77, str(tmp_path), 0.0, dumped=True, limit=-1)
    assert cores.find(death, pattern).path == str(path)


def test_dumps_that_go_elsewhere_are_told(tmp_path, monkeypatch):
    """Those of systemd by coredumpctl; apport; a handler that nobody knows; none because of the limit."""
    death = cores.Death(77, str(tmp_path), 0.0, dumped=False, limit=0)
    assert "ulimit -c unlimited" in cores.find(death, "core").note
    assert "core dumps go to /opt/h" in cores.find(death, "|/opt/h %p").note
    assert "apport" in cores.find(death, "|/usr/share/apport/apport %p").note
    tool = tmp_path / "coredumpctl"
    tool.write_text("#!/bin/sh\necho No match found. >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "No match found" in cores.find(death, "|/lib/systemd/systemd-coredump %P").note
    tool.write_text('#!/bin/sh\nfor last; do :; done\nprintf "\\177ELF\\001" > "$last"\n')
    found = cores.find(death, "|/lib/systemd/systemd-coredump %P")
    assert found.path == "coredumpctl dump 77"


# --- processes ------------------------------------------------------------------------------------


def test_what_a_process_waits_for(tmp_path):
    """The call, and the file that it is about."""
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat"], stdin=os.open(fifo, os.O_RDWR)) as waiting:
        try:
            until = time.monotonic() + 10
            while time.monotonic() < until:
                found = process.look(waiting.pid)
                if found.waits_for.startswith("read"):
                    break
            assert found.waits_for == f"read: {fifo}"
            assert (found.state, found.threads) == ("S", 1)  # who runs waits for nothing
            assert found.limits["open files"][0] > 0
        finally:
            waiting.kill()
    assert process.look(waiting.pid) is None


def test_a_replaced_program_is_noticed():
    """A new build below a running one."""
    # Not in /dev/shm, where a file without a name is shared memory.
    with tempfile.TemporaryDirectory(prefix="zeroin-death-", dir="/var/tmp") as folder:
        copy = Path(folder, "prog")
        copy.write_bytes(Path("/bin/sleep").read_bytes())
        copy.chmod(0o755)
        with subprocess.Popen([str(copy), "60"]) as running:
            before = process.look(running.pid).deleted
            copy.unlink()
            after = process.look(running.pid).deleted
            running.kill()
    assert (before, after) == ([], [str(copy)])


def test_a_zombie_tells_how_it_ended():
    """By its status, which only its parent could ask for."""
    pid = os.fork()
    if not pid:
        os._exit(7)
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        found = process.look(pid)
        assert found.state == "Z"
        assert os.waitstatus_to_exitcode(found.status) == 7
    finally:
        os.waitpid(pid, 0)

"""Looking at all processes: who is new, who became another program, who has gone."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import running
import support
from zeroin.observe.watch import details
from zeroin.observe.watch.processes import Table, parse_stat

HOLDS = "import sys; held = bytearray({size}); held[:] = b'x' * len(held); print('up', flush=True); sys.stdin.read()"


@pytest.fixture
def table():
    made = Table()
    yield made
    made.close()


def start(*words: str, **options):
    return subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    )


@pytest.fixture
def holder():
    """A Python that holds 60 MB, and says so."""
    process = start(
        sys.executable, "-c", HOLDS.format(size=60_000_000), env=os.environ | {"RANK": "3"}
    )
    process.stdout.readline()
    yield process
    process.communicate("")


def until(table, met, followed=frozenset(), seconds=20.0):
    """Refresh until the condition holds of what is new and what has gone."""
    end = time.monotonic() + seconds
    while True:
        news, gone = table.refresh(set(followed))
        if met(news, gone):
            return
        assert time.monotonic() < end
        time.sleep(0.005)


def test_new_ones_and_gone_ones(table):
    """Each is told once."""
    table.refresh(set())
    process = start("sleep", "1000")
    until(table, lambda news, _: process.pid in {p.pid for p in news})
    assert process.pid not in {p.pid for p in table.refresh(set())[0]}
    process.kill()
    process.communicate()
    until(table, lambda _, gone: process.pid in {p.pid for p in gone})
    assert process.pid not in table.processes


@pytest.mark.parametrize("followed", [False, True])
def test_one_that_becomes_another_program_is_news(table, followed):
    """A shell that execs: whoever waits for the program must hear of it, followed or not."""
    process = start("bash", "-c", "read; exec sleep 1000")
    until(table, lambda news, _: process.pid in {p.pid for p in news})
    known = table.processes[process.pid]
    assert known.stat() is not None
    process.stdin.write("\n")
    process.stdin.flush()

    def met(news, _):
        if followed:
            known.stat()
        return process.pid in {p.pid for p in news}

    until(table, met, {process.pid} if followed else ())
    assert table.processes[process.pid] is known
    assert (known.name, known.command) == ("sleep", "sleep 1000")
    process.kill()
    process.communicate()


def test_a_number_that_is_used_again_is_another_process(tmp_path):
    """Told by the start time; the old one has ended."""
    line = "{pid} (prog) S 1 1 1 0 -1 0 5 0 0 0 7 8 0 0 20 0 1 0 {start} 1000 10 0 0 0\n"
    folder = tmp_path / "77"
    folder.mkdir()
    (folder / "stat").write_text(line.format(pid=77, start=100))
    (folder / "cmdline").write_bytes(b"prog\0one\0")
    table = Table(str(tmp_path))
    (process,) = table.refresh(set())[0]
    assert (process.command, process.stat().ticks, process.stat().start) == ("prog one", 15, 100)
    (folder / "stat").write_text(line.format(pid=77, start=200))
    (folder / "cmdline").write_bytes(b"prog\0two\0")
    assert process.stat() is None
    table.drop(process)
    (other,) = table.refresh(set())[0]
    assert (other.command, other.start) == ("prog two", 200)
    table.close()
    assert table.kept == 0


def test_names_may_hold_anything():
    """Blanks, brackets, bytes that are no text."""
    name, stat = parse_stat(b"12 (a) R (b \xff) Z 3 1 1 0 -1 0 5 0 2 0 7 8 0 0 20 0 4 0 100 1 6 0")
    assert name == "a) R (b �"
    assert (stat.state, stat.parent, stat.faults, stat.ticks, stat.threads) == ("Z", 3, 7, 15, 4)


def test_processes_that_vanish_meanwhile_are_no_trouble(table):
    """Hundreds come and go while we look; no descriptor is left."""
    shell = start("bash", "-c", "for i in {1..300}; do /bin/true; done; echo done; read")
    table.refresh(set())
    while shell.poll() is None:
        for process in list(table.processes.values()):
            process.stat()
        news, _ = table.refresh(set())
        if not news:
            shell.stdin.close()
    shell.stdout.close()
    shell.wait()
    open_before = table.kept
    table.close()
    assert open_before > 0
    assert table.kept == 0


def test_it_works_with_hardly_any_descriptors():
    """Files that can't be kept open are opened each time."""
    table = Table(raise_limit=False)
    table.most = 3
    process = start("sleep", "1000")
    try:
        until(table, lambda news, _: process.pid in {p.pid for p in news})
        assert table.kept <= 3
        assert len([p for p in table.processes.values() if p.stat() is not None]) > 3
    finally:
        process.kill()
        process.communicate()
        table.close()


def test_the_limit_of_descriptors_is_left_alone_where_a_command_is_to_inherit_it():
    """It would be a circumstance that the command has not without us."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    Table(raise_limit=False).close()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_what_is_said_of_one(holder):
    """Memory, its peak, files, threads, rank, bytes written: as the kernel has them."""
    table = Table()
    table.refresh(set())
    process = table.processes[holder.pid]
    path = process.path
    stat = process.stat()
    status = Path(f"{path}/status").read_text()
    mark = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    assert stat.rss > 60_000_000
    assert details.high_water(path) == mark >= stat.rss
    assert details.open_files(path) == len(os.listdir(f"{path}/fd"))
    assert details.rank(path) == 3
    assert 60_000_000 < details.proportional(path) <= mark
    read, written = details.transferred(path)
    assert read > 0
    assert written >= 3
    assert 0 <= process.age < 60
    assert process.uid == os.getuid()
    table.close()


def test_what_may_not_be_read_is_none(plain):
    """Another user's: its counters are public, its bytes and its environment are not."""
    if os.geteuid():
        pytest.skip("needs root, to have a process that is not the user's")
    code = (
        "from zeroin.observe.watch import details; from zeroin.observe.watch.processes import Table; "
        "t = Table(); t.refresh(set()); p = t.processes[{pid}]; print(p.stat().rss > 0, "
        "details.high_water(p.path) is not None, details.transferred(p.path), "
        "details.rank(p.path), details.proportional(p.path), p.program())"
    )
    env = {"PYTHONPATH": str(support.SRC), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [plain.python, "-c", code.format(pid=os.getpid())],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        **support.as_nobody(),
    )
    assert done.stdout.split() == ["True", "True", "None", "None", "None", "None"], done.stderr


def test_a_zombie_has_no_memory_and_keeps_its_command(table):
    """Its parent has not waited for it."""
    process = start("sleep", "1000")
    try:
        # It may be seen first while it becomes the program.
        named = (process.pid, "sleep 1000")
        until(table, lambda *_: named in {(p.pid, p.command) for p in table.processes.values()})
        known = table.processes[process.pid]
        os.kill(process.pid, signal.SIGKILL)
        until(table, lambda *_: known.stat().state == "Z")
        table.refresh(set())
        assert (known.stat().rss, known.command) == (0, "sleep 1000")
    finally:
        process.communicate()


GROWS = """
import sys, threading
held = []
def grow(size):
    held.append(b"x" * size)
    if in_thread:
        done.release()
in_thread, done = sys.argv[1] == "thread", threading.Semaphore(0)
print("up", flush=True)
for line in sys.stdin:
    if in_thread and threading.active_count() == 1:
        orders = threading.Semaphore(0)
        def serve():
            while orders.acquire():
                grow(int(line))
        threading.Thread(target=serve, daemon=True).start()
    if in_thread:
        orders.release()
        done.acquire()
    else:
        grow(int(line))
    print("grown", flush=True)
"""


@pytest.mark.parametrize("where", ["alone", "thread"])
def test_whoever_stood_still_is_seen_as_soon_as_it_does_something(table, where):
    """Its counters are the very same while it waits, and new ones each time that it has run."""
    process = start(sys.executable, "-c", GROWS, where)
    try:
        process.stdout.readline()
        table.refresh(set())
        known = table.processes[process.pid]
        for _ in range(3):
            for _ in range(3):  # until it has really come to rest
                before = known.stat()
            process.stdin.write("20000000\n")
            process.stdin.flush()
            process.stdout.readline()
            assert known.stat().rss >= before.rss + 19_000_000  # the kernel counts in small lots
        assert running.until(lambda: known.stat() is known.stat())
    finally:
        process.communicate()

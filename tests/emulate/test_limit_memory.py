"""Little memory for a whole tree of processes: who asked for too much, where, and what comes then."""

import glob
import os
import re
import signal

import pytest
from test_limit_disk import are_gone, guards

from zeroin.sizes import short_size, size

GROW = """\
import time

def collate(batch):
    held = []
    for step in range(100):
        held.append(b"x" * 4_000_000)
        time.sleep(0.002)
    return held

if __name__ == "__main__":
    print(len(collate("a batch")))
"""
POOL = """\
import multiprocessing, sys
from grow import collate

def work(number):
    return number if number != 2 else collate(number)

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, range(4), chunksize=1))
"""
BACKENDS = ("cgroup v1", "cgroup v2", "systemd scope")


@pytest.fixture
def grow(someone):
    """A program that takes 400 MB, and one that lets a worker do it."""
    someone.write("grow.py", GROW)
    someone.write("pool.py", POOL)
    return someone


def test_who_reached_it_and_where(grow):
    """The outcome names the function; the record has the stack with its variables, and the growth."""
    done = grow.json("run", "--limit", "memory=150M", "--", "python", "grow.py")
    assert done["outcome"] == "limit"
    assert done["exit_code"] == -9
    assert done["signature"] == "memory limit at collate()"
    # A watcher that looks from time to time may see it in the line after.
    told = r"memory limit: the tree reached 15\d MB at grow.py:[67] collate\(\)"
    assert re.fullmatch(told, done["headline"])
    (limit,) = done["limits"]
    assert limit["backend"] in (("watcher",) if grow.user else ("watcher", *BACKENDS))
    assert limit["reached"]
    assert "MB in 1 process, growing by" in limit["detail"]
    shown = grow("show", "1").stdout
    assert re.search("grow.py:[67] in collate", shown)
    assert "      batch = 'a batch'" in shown.replace('"', "'")
    assert "      step = " in shown
    assert are_removed()


def test_what_fits_passes(grow):
    """And says how much it was."""
    done = grow.json("run", "--limit", "memory=2G", "--", "python", "grow.py")
    assert done["outcome"] == "passed"
    detail = done["limits"][0]["detail"]
    assert detail.endswith("of 2.0 GB"), detail


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_that_would_hang(grow, method):
    """The worker is named, and the rest, which only waits for it, is ended soon."""
    done = grow.json("run", "--limit", "memory=180M", "--", "python", "pool.py", method)
    assert done["outcome"] == "limit"
    assert done["signature"] == "memory limit at collate()"
    assert " in worker " in done["headline"]
    assert done["seconds"] < 30
    assert done["limits"][0]["notes"] == [
        "what was left only waited for the process that is gone: ended as well"
    ]


def test_a_program_that_notices(grow):
    """One whose worker is ended and that fails of it: the limit is what it failed of."""
    grow.write(
        "futures.py",
        """
        from concurrent.futures import ProcessPoolExecutor
        from grow import collate
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as pool:
                pool.submit(collate, 1).result()
        """,
    )
    done = grow.json("run", "--limit", "memory=180M", "--", "python", "futures.py")
    assert (done["outcome"], done["exit_code"]) == ("limit", 1)
    assert done["signature"] == "memory limit at collate()"


def test_a_program_that_copes(grow):
    """One that goes on after its child was ended, and passes, has passed."""
    script = "python grow.py; echo it ended with $?"
    done = grow("run", "--limit", "memory=150M", "--", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (0, "it ended with 137\n"), done.stderr
    assert "✓" in done.stderr
    assert "in 2 processes" in done.stderr
    assert re.search(r"note: a process was ended: worker 1 at \S+:\d+ in \w+", done.stderr), (
        done.stderr
    )


def test_shared_pages_count_once(grow):
    """Five forks of a process with 60 MB have 60 MB, not 300."""
    grow.write(
        "forks.py",
        """
        import os, time
        held = bytearray(60_000_000)
        pids = []
        for _ in range(4):
            pid = os.fork()
            if not pid:
                time.sleep(0.6)
                os._exit(0)
            pids.append(pid)
        print(sum(os.waitpid(pid, 0)[1] for pid in pids))
        """,
    )
    done = grow("run", "-q", "--limit", "memory=150M", "--", "python", "forks.py")
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_what_is_shared_does_not_hide_what_grows(grow):
    """A worker that grows among forks of a large process is ended at the limit, not far above."""
    grow.write(
        "worker.py",
        """
        import os, signal, sys
        from grow import collate
        held = bytearray(b"x") * 60_000_000
        def work(number):
            collate(number) if number == 2 else signal.pause()
            os._exit(0)
        pids = [os.fork() or work(number) for number in range(4)]
        ended = os.waitpid(pids.pop(2), 0)[1]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        sys.exit(ended != 0)
        """,
    )
    done = grow.json("run", "--limit", "memory=200M", "--", "python", "worker.py")
    assert (done["outcome"], done["signature"]) == ("limit", "memory limit at collate()"), done
    assert 180e6 < done["peak_bytes"] < 240e6


def test_memory_error(grow):
    """With --memory-error the program sees a MemoryError, where it asked for too much."""
    done = grow.json("run", "--limit", "memory=150M", "--memory-error", "--", "python", "grow.py")
    assert (done["outcome"], done["exit_code"]) == ("limit", 1)
    assert done["headline"] == "MemoryError at grow.py collate()"
    assert done["limits"][0]["backend"] == "RLIMIT_DATA"
    again = grow.json("again", "1")
    assert again["same_as"] == [1]


def test_a_share_of_the_peak(me):
    """`memory=50%` is of the last passing attempt's peak; record, `show` and `again` have both."""
    me.write("grow.py", GROW)
    first = me("run", "--limit", "memory=50%", "--", "python", "grow.py")
    assert (first.returncode, "a share of what?" in first.stderr) == (2, True)
    passed = me.json("run", "--", "python", "grow.py")
    half = me.json("run", "--limit", "memory=50%", "--", "python", "grow.py")
    assert half["outcome"] == "limit"
    text = f"memory=50% of {short_size(passed['peak_bytes'])}"
    assert half["limits"][0]["limit"] == text
    twice = me.json("run", "--limit", "memory=200%", "--", "python", "grow.py")
    assert twice["outcome"] == "passed"
    assert f"{text}: " in me("show", half["id"]).stdout
    me.write("grow.py", "import mmap; mmap.mmap(-1, 9, flags=mmap.MAP_SHARED)")
    assert me.json("run", "--", "python", "grow.py")["outcome"] == "passed"  # with another peak
    assert me.json("again", half["id"])["limits"][0]["limit"] == text
    typed = me.json("limit", text, "--", "python", "grow.py")
    assert typed["limits"][0]["detail"].endswith(f"of {size(passed['peak_bytes'] / 2)}")


def test_without_memory_our_agent_can_tell_what_failed(grow):
    """It is given some for that; the program's own output has nothing of ours."""
    grow.write(
        "fill.py",
        """
        kept = []
        while True:
            kept.append(bytes(20_000))
        """,
    )
    done = grow("run", "--limit", "memory=60M", "--memory-error", "--", "python", "fill.py")
    assert "✗ attempt 1 reached its limit" in done.stderr
    assert ": MemoryError at fill.py" in done.stderr
    assert "ignored" not in done.stderr
    assert "kept = list(" in grow("show", "1").stdout


def test_a_file_in_memory_that_is_refused(me):
    """At a limit by a group nobody is ended then: the program fails of it, and that is the limit."""
    me.write(
        "share.py",
        """
        import os
        for number in range(9):
            fd = os.memfd_create(str(number))
            os.posix_fallocate(fd, 0, 40_000_000)
        """,
    )
    done = me.json("run", "--limit", "memory=200M", "--", "python", "share.py")
    if done["limits"][0]["backend"] != "cgroup v1":
        pytest.skip("needs a memory limit by cgroup v1")
    assert (done["outcome"], done["limits"][0]["reached"]) == ("limit", True)
    assert done["headline"] == "OSError at share.py: [Errno 12] Cannot allocate memory"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit", "memory=1K"], "no program fits into 1 KB"),
        (["--limit", "memory=9999T"], ", so it is less already"),
        (["--limit", "memory=lots"], "'lots' is no size"),
        (["--limit", "memory=1G", "--keep", "kept"], "--keep keeps what is written below a disk"),
        (["--memory-error"], "--memory-error says what happens at a memory limit"),
    ],
)
def test_refusals(me, options, words):
    """In words, with exit code 2."""
    done = me("run", *options, "--", "true")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_nothing_is_left_after_kill_9(grow):
    """No process, no control group."""
    grow.write("waits.py", "import time; print('ready', flush=True); time.sleep(1000)\n")
    process = grow.start("run", "--limit", "memory=150M", "--", "python", "waits.py")
    with process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=20)
    are_gone(guards(grow))
    assert not glob.glob(f"/sys/fs/cgroup/**/zeroin-limit-{process.pid}-*", recursive=True)


def are_removed():
    """No group of a process that has ended is left."""
    found = glob.glob("/sys/fs/cgroup/**/zeroin-limit-*", recursive=True)
    pids = [os.path.basename(path).split("-")[2] for path in found]
    return all(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_the_stack_can_be_seen_in_a_namespace(grow):
    """Also where a disk limit has put the command into namespaces of its own."""
    grow.folder("out")
    done = grow.json(
        "run", "--limit", "disk=out:1M", "--limit", "memory=150M", "--", "python", "grow.py"
    )
    assert done["signature"] == "memory limit at collate()"

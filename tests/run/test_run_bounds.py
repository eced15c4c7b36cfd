"""Time, memory and output of what is run: measured, bounded, and told where it hangs."""

import json
import shlex
import subprocess
import sys

import support
from running import run_json, until, write
from zeroin.run import tree


def test_hang_has_stacks_and_leaves_no_orphan(zeroin, project):
    """All stacks of the tree are kept, then all of it is ended, daemons included."""
    write(
        project,
        "hang.py",
        """
        import subprocess, sys, threading, time
        def wait_for_lock():
            lock = threading.Lock(); lock.acquire(); lock.acquire()
        subprocess.Popen(["sh", "-c", "setsid sleep 1000 & setsid sleep 1001 & wait"], start_new_session=True)
        print("up", flush=True)
        wait_for_lock()
    """,
    )
    done = zeroin("run", "--timeout", "1.5s", "--", "python", "hang.py", cwd=project)
    assert done.returncode == 124
    assert "timed out after" in done.stderr
    assert "; it was at hang.py wait_for_lock()" in done.stderr
    shown = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert shown["signature"] == "hang at wait_for_lock()"
    assert any(
        frame[2] == "wait_for_lock" for stack in shown["stacks"] for frame in stack["frames"]
    )


def test_what_a_shell_has_not_waited_for_counts(zeroin, project):
    """A program below a shell that is ended at the time-out has used a processor until then."""
    write(project, "busy.py", "while True: pass")
    zeroin("run", "--timeout", "1", "--", "sh", "-c", "python busy.py; true", cwd=project)
    assert json.loads(zeroin("show", "--json", cwd=project).stdout)["cpu_seconds"] > 0


def test_a_tree_that_ignores_sigterm_ends_as_well(zeroin, project):
    """It gets two seconds, then SIGKILL."""
    done = zeroin(
        "run",
        "--timeout",
        "0.3",
        "--",
        "sh",
        "-c",
        "trap '' TERM; while :; do sleep 0.1; done",
        cwd=project,
    )
    assert done.returncode == 124


def test_hang_without_py_spy_is_told_by_faulthandler(zeroin, project):
    """The fall-back: the agent writes the stacks down."""
    write(project, "hang.py", "import time\ndef stuck(): time.sleep(1000)\nstuck()\n")
    bare = project / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    (site,) = bare.glob("lib/python*/site-packages")
    (site / "z.pth").write_text(f"{support.SRC}\n")
    driver = [str(bare / "bin/python"), "-m", "zeroin"]
    env = {"PATH": f"{support.tools_of(zeroin.base)}:/usr/bin:/bin"}
    found = run_json(
        zeroin, "--timeout", "1s", "--", "python", "hang.py", cwd=project, driver=driver, env=env
    )
    shown = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert found["signature"] == "hang at stuck()"
    assert {stack["source"] for stack in shown["stacks"]} == {"faulthandler"}


def test_peak_memory_of_the_tree(zeroin, project):
    """Two children of 150 MB each at the same time count together; shared pages count once."""
    write(
        project,
        "two.py",
        """
        import os, sys, time
        shared = bytearray(os.urandom(100)) * 600_000
        pids, (r, w) = [], os.pipe()
        for _ in range(2):
            pid = os.fork()
            if pid == 0:
                own = bytearray(b"x") * 150_000_000
                os.write(w, b"x"); time.sleep(1000)
            pids.append(pid)
        os.read(r, 1), os.read(r, 1)
        time.sleep(0.5)  # ten looks
        for pid in pids: os.kill(pid, 9)
        for pid in pids: os.waitpid(pid, 0)
    """,
    )
    peak = run_json(zeroin, "--", "python", "two.py", cwd=project)["peak_bytes"]
    assert 340e6 < peak < 460e6


def test_our_own_memory_is_not_the_commands(zeroin, project):
    """ru_maxrss of a small child is its parent's: a small command must look small."""
    assert run_json(zeroin, "--", "sleep", "0.2", cwd=project)["peak_bytes"] < 8e6


def test_huge_output_in_bounded_memory_and_disk(zeroin, project):
    """300 MB pass through unharmed, while we stay small and keep little."""
    command = [*zeroin.driver, "run", "-q", "--", "head", "-c", "300000000", "/dev/zero"]
    process = subprocess.Popen(command, cwd=project, env=zeroin.env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    total = peak = 0
    while data := process.stdout.read(1 << 20):
        total += len(data)
        # Not ru_maxrss: that begins with the high-water mark of whoever started the process.
        peak = max(peak, tree.high_water(process.pid))
    process.stdout.close()
    assert process.wait(30) == 0
    assert total == 300_000_000
    assert 5e6 < peak < 60e6
    kept = sum(f.stat().st_size for f in (project / ".zeroin/attempts/1").iterdir())
    assert kept < 10_000_000


def test_a_rush_of_output_arrives_whole_and_its_end_is_kept(zeroin, project):
    """200 MB from pipe to pipe without a copy, then a trickle: every byte, and the last lines."""
    line = "seq 25000000; seq 25000000 | tail -n 3 >&2; echo END"
    command = [*zeroin.driver, "run", "-q", "--", "sh", "-c", line]
    bare = subprocess.run(
        ["sh", "-c", f"({line}) 2>/dev/null | md5sum"], capture_output=True, check=True
    )
    ours = subprocess.run(
        ["sh", "-c", f"{shlex.join(command)} 2>/dev/null | md5sum"],
        cwd=project, env=zeroin.env, capture_output=True, check=True,
    )  # fmt: skip
    assert ours.stdout == bare.stdout
    kept = zeroin("show", "--output", cwd=project).stdout
    assert kept.startswith("1\n2\n3\n")
    assert "24999999\n25000000\n" in kept[-100_000:]
    assert kept.endswith("END\n")
    assert "bytes not kept" in kept


def test_a_slow_reader_does_not_stop_the_time_out(zeroin, project):
    """Nobody reads our stdout, the pipe is full, and still the command is ended in time."""
    command = [*zeroin.driver, "run", "--timeout", "1", "--", "yes"]
    process = subprocess.Popen(
        command, cwd=project, env=zeroin.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.read(2) == b"y\n"
    assert until(lambda: not tree.descendants(process.pid))
    assert process.poll() is None
    process.stdout.read()
    process.stdout.close()
    assert process.wait(30) == 124


def test_asyncio_hang_names_the_coroutine(zeroin, project):
    """Not the event loop it waits in."""
    write(
        project,
        "hang.py",
        """
        import asyncio
        async def consume(queue): await queue.get()
        async def main(): await asyncio.gather(consume(asyncio.Queue()))
        asyncio.run(main())
    """,
    )
    found = run_json(zeroin, "--timeout", "1.5s", "--", "python", "hang.py", cwd=project)
    assert found["signature"] == "hang at consume(), main()"

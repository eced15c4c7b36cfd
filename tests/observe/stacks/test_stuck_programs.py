"""Real programs, stuck in the ways programs get stuck: the sentence names the reason."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

import support

DEADLOCK = """
    import threading
    a_lock, b_lock = threading.Lock(), threading.Lock()
    both = threading.Barrier(2)
    def transfer():
        with a_lock:
            both.wait()
            with b_lock:
                pass
    def audit():
        with b_lock:
            both.wait()
            with a_lock:
                pass
    threads = [threading.Thread(target=f, name=f.__name__) for f in (transfer, audit)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def group(found, **wanted):
    """The one group with these values."""
    (one,) = [g for g in found["groups"] if all(g[k] == v for k, v in wanted.items())]
    return one


@pytest.mark.slow
def test_a_deadlock_names_both_locks_on_every_python(stuck, python):
    """Who has which lock and waits for which, from 3.9 on."""
    pid = stuck.start(DEADLOCK, python=python).pid
    verdict = stuck.until(pid, "a deadlock")["verdict"]
    assert "transfer has a_lock (line 6) and waits for b_lock at prog.py:8 transfer()" in verdict
    assert "audit has b_lock (line 11) and waits for a_lock at prog.py:13 audit()" in verdict


def test_a_lock_taken_twice(stuck):
    """The thread waits for itself."""
    pid = stuck.start("""
        import threading
        lock = threading.Lock()
        def save():
            with lock:
                flush()
        def flush():
            with lock:
                pass
        save()
    """).pid
    verdict = stuck.until(pid, "which it took itself")["verdict"]
    assert "waits at prog.py:8 flush() for lock, which it took itself on line 5" in verdict


def test_a_full_pipe(stuck):
    """`Popen.wait` with stdout=PIPE: the child waits for the parent to read."""
    pid = stuck.start("""
        import subprocess
        def build():
            subprocess.Popen(["head", "-c", "1000000", "/dev/zero"], stdout=subprocess.PIPE).wait()
        build()
    """).pid
    found = stuck.until(pid, "can't end")
    assert f"pid {pid} waits for a command to end at prog.py:4 build()" in found["verdict"]
    assert "communicate() instead of wait()" in found["verdict"]


def test_a_producer_that_was_killed(stuck):
    """A queue that nobody will put anything in."""
    pid = stuck.start("""
        import multiprocessing as mp, os, signal
        def produce(q):
            os.kill(os.getpid(), signal.SIGKILL)
        mp = mp.get_context("fork")
        q = mp.Queue()
        mp.Process(target=produce, args=(q,)).start()
        item = q.get()
    """).pid
    verdict = stuck.until(pid, "SIGKILL")["verdict"]
    assert f"pid {pid} waits for something in a queue of processes at prog.py:8" in verdict
    assert "but worker 0 (pid " in verdict
    assert "has been ended by SIGKILL: nothing comes" in verdict


def test_a_pool_that_lost_its_task(stuck):
    """A pool starts a new worker for one that died; the task waits for ever."""
    pid = stuck.start("""
        import multiprocessing as mp, os, signal
        def work(n):
            if n == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        with mp.get_context("fork").Pool(2) as pool:
            pool.map(work, range(4), chunksize=1)
    """).pid
    verdict = stuck.until(pid, "wait for work")["verdict"]
    assert f"pid {pid} waits for the results of a pool at prog.py:7" in verdict
    assert "if that stays so, the worker that had the task has died" in verdict


def test_a_loop_that_is_held_up_and_one_that_waits(stuck):
    """A synchronous call in a coroutine is told apart from coroutines that wait."""
    held = stuck.start("""
        import asyncio, time
        def load():
            time.sleep(1000)
        async def main():
            load()
        asyncio.run(main())
    """).pid
    waits = stuck.start(
        """
        import asyncio
        async def main():
            await asyncio.sleep(1000)
        asyncio.run(main())
    """,
        name="waits.py",
    ).pid
    verdict = stuck.until(held, "event loop")["verdict"]
    assert verdict == f"pid {held} holds up its event loop: it sleeps at prog.py:4 load()"
    verdict = stuck.until(waits, "in its event loop: its task")["verdict"]
    said = "waits in its event loop: its task Task-1 sleeps at waits.py:4 main()"
    assert verdict == f"pid {waits} {said}"


def test_c_code_that_holds_the_interpreter(stuck):
    """A regular expression that backtracks for ever: nobody inside could answer."""
    pid = stuck.start("""
        import re, threading
        def parse(text):
            return re.match(r"(a+)+$", text)
        parse("a" * 40 + "b")
    """).pid
    found = stuck.until(pid, "computes, holding the GIL, at prog.py")
    assert found["verdict"] == f"pid {pid} computes, holding the GIL, at prog.py:4 parse()"
    assert group(found, main=True)["threads"][0]["gil"]


def test_input_and_a_socket_and_sleep(stuck):
    """What the kernel waits for, where the frames end in C."""
    asks = stuck.start("input()\n", stdin=subprocess.PIPE, name="asks.py").pid
    found = stuck.until(asks, "reads a pipe")
    assert f"pid {asks} at asks.py:1 reads a pipe that" in found["verdict"]
    listens = stuck.start(
        """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        line = socket.create_connection(server.getsockname())
        def fetch():
            return line.recv(10)
        fetch()
    """,
        name="fetches.py",
    ).pid
    found = stuck.until(listens, "fetch() reads a socket")
    assert f"pid {listens} at fetches.py:6 fetch() reads a socket to 127.0.0.1:" in found["verdict"]
    sleeps = stuck.start("import time\ntime.sleep(1000)\n", name="sleeps.py").pid
    assert stuck.until(sleeps, "sleeps at")["verdict"] == f"pid {sleeps} sleeps at sleeps.py:2"


def test_who_holds_a_file_lock(stuck):
    """By the kernel's own list."""
    holder = stuck.start(
        "import fcntl, time\nf = open('lock', 'w')\nfcntl.flock(f, 2)\ntime.sleep(1000)\n",
        name="holder.py",
    ).pid
    stuck.until(holder, "sleeps")
    pid = stuck.start("import fcntl\nf = open('lock', 'w')\nfcntl.flock(f, 2)\n").pid
    verdict = stuck.until(pid, "waits for the lock")["verdict"]
    assert f"waits for the lock of {stuck.folder}/lock, which" in verdict
    assert f"(pid {holder}) holds" in verdict


def test_an_orphan_pipe_leads_to_the_worker(stuck):
    """What a parent reads from is followed to the child that could write."""
    pid = stuck.start("""
        import os, time
        r, w = os.pipe()
        if os.fork() == 0:
            os.close(r)
            time.sleep(1000)
        os.close(w)
        def collect():
            return os.read(r, 1)
        collect()
    """).pid
    found = stuck.until(
        pid, lambda f: "reads a pipe that worker" in json.dumps(f) and len(f["processes"]) == 2
    )
    (child,) = [p["pid"] for p in found["processes"] if p["parent"] == pid]
    thread = group(found, pids=[pid])["threads"][0]
    assert thread["waits"] == f"reads a pipe that worker 0 (pid {child}) can write to"
    assert thread["waits_for"] == [child]


def test_a_stopped_program(stuck):
    """Ctrl-Z: it is said, with what lets it go on; the stack is still there."""
    process = stuck.start("import time\ndef work():\n    time.sleep(1000)\nwork()\n")
    stuck.until(process.pid, "sleeps at prog.py:3")
    process.send_signal(signal.SIGSTOP)
    found = stuck.until(process.pid, "is stopped")
    assert found["verdict"] == (
        f"pid {process.pid} is stopped at prog.py:3 work(); "
        f"to let it go on: kill -CONT {process.pid}"
    )
    assert found["groups"][0]["frames"][-1]["name"] == "work"


def test_zombies_and_their_parent(stuck):
    """Who has ended, how, and who should have asked."""
    pid = stuck.start("""
        import subprocess, time
        child = subprocess.Popen(["sh", "-c", "exit 7"])
        time.sleep(1000)
    """).pid
    found = stuck.until(pid, lambda f: any(p["state"] == "Z" for p in f.get("processes", ())))
    (dead,) = [p for p in found["processes"] if p["state"] == "Z"]
    assert dead["words"] == f"has ended with exit code 7; its parent {pid} has not asked how"
    assert dead["label"] == f"pid {dead['pid']}"  # nobody's worker


@pytest.mark.needs("unshare")
def test_a_process_in_other_namespaces(stuck):
    """As in a container: its own numbers of processes and threads, its own mounts."""
    if os.geteuid():
        pytest.skip("needs root")
    (stuck.folder / "prog.py").write_text(
        "import threading, time\n"
        "def work():\n    time.sleep(1000)\n"
        "threading.Thread(target=work, name='loader').start()\n"
    )
    command = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
    pid = stuck.run(*command, support.base_python(), "prog.py").pid
    found = stuck.until(pid, lambda f: any(g["kind"] == "sleep" for g in f["groups"]))
    loader = next(g for g in found["groups"] if g["threads"][0]["name"] == "loader")
    assert loader["threads"][0]["tid"] in map(int, os.listdir(f"/proc/{loader['pids'][0]}/task"))
    assert loader["verdict"].endswith("sleeps at prog.py:3 work()")


@pytest.mark.slow
def test_a_hundred_processes_that_come_and_go(stuck):
    """Half of them end while we look; the others are all there, in one group."""
    source = """
        import os, time
        def churn():
            print(flush=True)
            while True:
                child = os.fork()
                if child == 0:
                    os._exit(0)
                os.waitpid(child, 0)
        def rest():
            time.sleep(1000)
        for n in range(100):
            if os.fork() == 0:
                rest()
        churn()
    """
    process = stuck.start(source, stdout=subprocess.PIPE)
    process.stdout.readline()
    found = stuck.until(
        process.pid,
        lambda f: any(len(g["pids"]) == 100 and g["kind"] == "sleep" for g in f["groups"]),
        stands=True,
    )
    hundred = next(g for g in found["groups"] if len(g["pids"]) == 100)
    assert hundred["frames"][-1]["name"] == "rest"


def test_locals_and_names(stuck):
    """`--locals` shows the variables of the user's frames; a name finds the program."""
    stuck.start(
        """
        import time
        def work(batch, factor, password):
            total = batch * factor
            time.sleep(1000)
        work(32, 3, "hunter2-hunter2")
    """,
        *("--api-token", "s3cr3t-s3cr3t"),
        name="train_unusual.py",
    )
    found = stuck.until("train_unusual.py", "sleeps at train_unusual.py:5", "--locals")
    assert found["groups"][0]["frames"][-1]["locals"] == {
        "batch": "32",
        "factor": "3",
        "password": "<secret>",
        "total": "96",
    }
    assert "s3cr3t" not in json.dumps(found)


@pytest.mark.slow
def test_native_frames(stuck):
    """`--native`: the functions in C."""
    pid = stuck.start("import time\ntime.sleep(1000)\n").pid

    def in_c(found):
        return "sleeps" in found["verdict"] and any(
            "nanosleep" in frame["name"] for frame in found["groups"][0]["frames"]
        )

    stuck.until(pid, in_c, "--native")  # on its way there, it is told as it is without them


def test_workers_that_were_left_behind(stuck):
    """Their parent was killed: one of them leads to the others, and they can be ended."""
    parent = stuck.start("""
        import multiprocessing as mp, time
        def work():
            time.sleep(1000)
        if __name__ == "__main__":
            context = mp.get_context("spawn")
            for _ in range(2):
                context.Process(target=work).start()
            time.sleep(1000)
    """)
    both = stuck.until(
        parent.pid,
        lambda f: any(g["labels"] == ["worker 0", "worker 1"] for g in f["groups"] if g["main"]),
    )
    group = next(g for g in both["groups"] if g["labels"] == ["worker 0", "worker 1"])
    parent.kill()
    parent.wait()
    found = stuck.until(group["pids"][0], lambda f: any(p["orphan"] for p in f["processes"]))
    assert {p["pid"] for p in found["processes"] if p["orphan"]} >= set(group["pids"])
    text = stuck.zeroin("stacks", str(group["pids"][0])).stdout
    assert "who started them has ended; to end what is left: kill " in text


def test_a_tree_without_python_says_what_it_waits_for(stuck):
    """The kernel's side is there for any program."""
    pid = stuck.run("sh", "-c", "sleep 1000; true").pid
    stuck.until(pid, lambda f: len(f.get("processes", ())) == 2 and "sleeps" in f["verdict"])
    assert stuck.look(pid)["verdict"].startswith(f"no Python runs here: pid {pid} waits for its ch")


def test_threads_that_take_turns(stuck):
    """Of two that compute, one has the interpreter and the other waits for it."""
    pid = stuck.start("""
        import threading
        def spin():
            while True:
                pass
        threading.Thread(target=spin, name="other").start()
        spin()
    """).pid
    kinds = {"busy", "turn"}
    stuck.until(pid, lambda one: {g["kind"] for g in one["groups"]} == kinds, stands=True)


def test_an_import_that_waits_for_itself(stuck):
    """A module that starts a thread which imports that module, and waits for it."""
    (stuck.folder / "slow_module.py").write_text(
        "import threading\n"
        "def load():\n    import slow_module\n"
        "thread = threading.Thread(target=load, name='loader')\n"
        "thread.start()\nthread.join()\n"
    )
    pid = stuck.start("import slow_module\n").pid
    found = stuck.until(pid, lambda f: any(g["kind"] == "import" for g in f["groups"]))
    assert "waits for a thread to end at slow_module.py:6" in found["verdict"]
    assert "thread loader of pid" in found["verdict"]
    assert "waits for another thread to finish an import at slow_module.py:3" in found["verdict"]


@pytest.mark.slow
def test_every_driver_and_the_number_of_a_thread(stuck, driver):
    """On each Python that zeroin itself runs on; top(1) shows threads, which lead to the process."""
    pid = stuck.start("""
        import threading, time
        def work():
            time.sleep(1000)
        threading.Thread(target=work, name="loader").start()
    """).pid
    found = stuck.until(pid, lambda f: len(f["groups"]) == 2)
    loader = next(g for g in found["groups"] if not g["main"])["threads"][0]["tid"]
    assert loader != pid
    done = stuck.zeroin("stacks", str(loader), driver=driver)
    assert f"thread loader of pid {pid} sleeps at prog.py:4 work()" in done.stdout


def test_ranks_that_nobody_here_launched_are_one_job(stuck, tmp_path):
    """Started one by one, by a shell or srun: by name and by number all of them are told together.

    A second process of a rank is of another run, as is one with another address.
    """
    source = """
        import os, time
        def wait(): time.sleep(1000)
        def read(): time.sleep(1000)
        read() if os.environ["RANK"] == "2" else wait()
    """
    name = f"{tmp_path.name}.py"

    def start(rank, port="29500"):
        job = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        return stuck.start(source, name=name, env={"RANK": str(rank), **job}).pid

    def has_all(found):  # and each has got to where it stays
        ranks = sum(len(group["ranks"]) for group in found["groups"])
        return ranks == 4 and {functions(group) for group in found["groups"]} == {"read", "wait"}

    def functions(group):
        return next((one["name"] for one in group["frames"] if one["name"] in ("read", "wait")), "")

    pids = [start(rank) for rank in range(4)]
    for of in (name, pids[1]):
        found = stuck.until(of, has_all)
        assert [group["pids"] for group in found["groups"]] == [[pids[2]], [*pids[:2], pids[3]]]
        assert "not on this machine" not in found["verdict"]
    old, other = start(1), start(0, port="29501")
    for pid in (old, other):
        stuck.until(pid, lambda found: "sleeps" in found["verdict"])
    told = stuck.zeroin("stacks", name, "--json", cwd=stuck.folder).stdout.splitlines()
    seen = [{pid for g in json.loads(one)["groups"] for pid in g["pids"]} for one in told]
    assert seen == [set(pids), {old}, {other}]

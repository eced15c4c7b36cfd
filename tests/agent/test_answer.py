"""The thread that tells where a program stands: started by a process group, on every Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import textwrap
import time

import pytest

# What of torch the agent hangs in to: the last thing that is called when a group is set up.
STUB = """
    def _update_default_pg(pg):
        global default
        default = pg

    def init_process_group():
        _update_default_pg("a group")
"""
TRAIN = """
    import os, sys, threading, time
    from torch.distributed import init_process_group
    class Odd:
        def __repr__(self):
            raise SystemExit("asked")
    def step(batch, password):
        odd = Odd()
        total = [batch] * 1000
        print("up", os.getpid(), flush=True)
        threading.Event().wait()
    init_process_group()
    {before}
    step(32, "hunter2-secret")
"""


@pytest.fixture
def train(project, zeroin):
    """A program whose torch is a stub."""
    folder = project / "torch" / "distributed"
    folder.mkdir(parents=True)
    (project / "torch" / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("from .distributed_c10d import *\n")
    text = textwrap.dedent(STUB) + "\n__all__ = ['init_process_group']\n"
    (folder / "distributed_c10d.py").write_text(text)
    started = []

    def start(python, *words, before="pass"):
        (project / "train.py").write_text(textwrap.dedent(TRAIN).format(before=before))
        process = subprocess.Popen(
            [*zeroin.driver, *words, "--", python, "train.py"],
            cwd=project,
            env=zeroin.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return int(process.stdout.readline().split()[1])

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()


def ask(zeroin, pid, **wanted):
    """Look until the main thread stands in `step`."""
    until = time.monotonic() + 30
    while True:
        found = json.loads(zeroin("stacks", str(pid), "--locals", "--json").stdout)
        frames = [f for g in found["groups"] if g["main"] for f in g["frames"]]
        if any(f["name"] == "step" and f["locals"] for f in frames) or time.monotonic() > until:
            return found, next(f for f in frames if f["name"] == "step")


@pytest.mark.slow
def test_a_rank_tells_its_values(zeroin, train, python):
    """On every Python: by its own thread, no repr of the user's is run, secrets are masked."""
    pid = train(python, "run")
    found, frame = ask(zeroin, pid)
    assert found["processes"][0]["source"] == "agent"
    assert frame["locals"]["batch"] == "32"
    assert "1000" in frame["locals"]["total"].replace(",", "")
    assert "hunter2" not in json.dumps(found)
    assert "Odd" in frame["locals"]["odd"]
    assert "answer.py" not in json.dumps(found["groups"])
    os.kill(pid, 0)  # it was not ended by being asked


def test_nothing_is_left_and_no_thread_without_a_group(zeroin, train, project):
    """The socket goes with the program; a program that sets up no group gets no thread."""
    (project / "plain.py").write_text(
        "import os, torch.distributed\nprint(len(os.listdir('/proc/self/task')))\n"
    )
    done = zeroin("run", "--", "python", "plain.py", cwd=project)
    assert done.stdout == "1\n"
    (project / "group.py").write_text(
        "import os, torch.distributed as d\nd.init_process_group()\n"
        "print(len(os.listdir('/proc/self/task')))\n"
        "print(*os.listdir(os.path.dirname(os.environ['ZEROIN_AGENT'])))\n"
    )
    done = zeroin("run", "--", "python", "group.py", cwd=project)
    count, files = done.stdout.splitlines()
    assert count == "2"
    assert "ask-" in files
    assert not list((zeroin.base / "runtime").rglob("ask-*"))


def test_never_in_a_loop(zeroin, train, project):
    """A thread would hinder snapshots."""
    (project / "group.py").write_text(
        "import os, torch.distributed as d\nd.init_process_group()\n"
        "print('threads', len(os.listdir('/proc/self/task')))\n"
    )
    done = zeroin("loop", "--once", "--", "python", "group.py", cwd=project)
    assert "threads 1\n" in done.stdout


def test_while_the_interpreter_is_held_py_spy_tells(zeroin, train):
    """The thread can't answer then; nobody waits for it for long."""
    pid = train(
        "python",
        "run",
        before='print("up", os.getpid(), flush=True); __import__("re").match(r"(a+)+$", "a" * 40 + "b")',
    )
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = json.loads(zeroin("stacks", str(pid), "--locals", "--json").stdout)
        if "computes" in found["verdict"] and found["processes"][0]["source"] == "py-spy":
            break
    assert "computes, holding the GIL, at train.py" in found["verdict"]

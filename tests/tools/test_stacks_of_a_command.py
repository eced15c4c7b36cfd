"""`zeroin stacks -- COMMAND`, `--every`, and which program is meant."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import support
from left_out import heavy

LOCK = """
    import threading
    lock = threading.Lock()
    def save():
        lock.acquire()
        lock.acquire()
    print("saving", flush=True)
    save()
"""


# Programs that stand still, by name: `{python}` is the interpreter of the folder, see `standing`.
ASYNC = {
    "755": """
        import asyncio, os
        async def fetch(n):
            await asyncio.sleep(1000)
        async def main():
            await asyncio.gather(*(fetch(n) for n in range(3)))
        os.chmod({python!r}, 0o755)
        asyncio.run(main())
    """,
    "600": """
        import asyncio, os
        async def fetch(n):
            await asyncio.sleep(1000)
        async def main():
            await asyncio.gather(*(fetch(n) for n in range(3)))
        os.chmod({python!r}, 0o600)
        asyncio.run(main())
    """,
    "one line": """
        import asyncio
        async def fetch(lock):
            async with lock: await asyncio.sleep(1000)
        async def main():
            lock = asyncio.Lock()
            await asyncio.gather(*(fetch(lock) for n in range(3)))
        asyncio.run(main())
    """,
    "held up": """
        import asyncio, time
        async def tick():
            await asyncio.sleep(1000)
        async def main():
            kept = asyncio.create_task(tick())
            await asyncio.sleep(0)
            time.sleep(1000)
        asyncio.run(main())
    """,
}


# So that their looks are taken once, not by each process of pytest.
at_one_worker = pytest.mark.xdist_group("standing")


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """The looks at LOCK and all of ASYNC: at once, since each has to stand still for seconds."""
    python = Path(support.base_python())

    def look_at_lock():
        base = tmp_path_factory.mktemp("standing")
        folder = base / "project"
        folder.mkdir()
        (folder / "lock.py").write_text(textwrap.dedent(LOCK))
        zeroin = support.Zeroin(base)
        done = zeroin("stacks", "--end", "--", "python", "lock.py", cwd=folder)
        return done, json.loads(zeroin("show", "--json", cwd=folder).stdout)

    def look_at_tasks(name):
        base = tmp_path_factory.mktemp("standing")
        folder = base / "project"
        folder.mkdir()
        copy = folder / "python"
        shutil.copy(python, copy)
        source = textwrap.dedent(ASYNC[name]).lstrip()
        (folder / "web.py").write_text(source.replace("{python!r}", repr(str(copy))))
        words = ("--end", "--json", "--", "./python", "web.py")
        env = {"PYTHONHOME": str(python.parent.parent)}
        done = support.Zeroin(base)("stacks", *words, cwd=folder, env=env)
        return json.loads(done.stdout)

    with ThreadPoolExecutor(1 + len(ASYNC)) as pool:
        lock = pool.submit(look_at_lock)
        tasks = dict(zip(ASYNC, pool.map(look_at_tasks, ASYNC), strict=True))
        return {"lock": lock.result(), **tasks}


@pytest.mark.slow
@at_one_worker
def test_a_hang_is_noticed_and_ended(standing):
    """Without any time given: nothing moves, it is said where, and recorded as a hang."""
    done, shown = standing["lock"]
    assert done.returncode == 124
    assert done.stdout == "saving\n"
    assert "zeroin: a look, nothing moves any more" in done.stderr
    assert "waits for a lock at lock.py:6 save()" in done.stderr
    assert shown["outcome"] == "hang"
    assert shown["signature"] == "hang at save()"
    assert shown["stacks"]


WORKER = """\
import multiprocessing, os, signal, threading
def work():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    held = threading.Lock()
    held.acquire()
    held.acquire()
if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
    worker = multiprocessing.get_context("METHOD").Process(target=work)
    worker.start()
    worker.join()
"""
LOADER = """\
import threading
from torch.utils.data import DataLoader
held = threading.Lock()
class Data:
    def __len__(self): return 8
    def __getitem__(self, number):
        if number == 5:
            held.acquire()
            held.acquire()
        return number
for batch in DataLoader(Data(), batch_size=2, num_workers=2):
    print(batch, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_that_hears_nothing_is_ended(zeroin, project, method):
    """`--end`: it is said where the worker stands, and it doesn't outlive its parent."""
    (project / "pool.py").write_text(WORKER.replace("METHOD", method))
    done = zeroin("stacks", "--end", "--", "python", "pool.py", cwd=project, timeout=200)
    assert done.returncode == 124
    assert "worker 0 waits for a lock at pool.py:7 work()" in done.stderr.splitlines()[1]


@heavy("torch")
@pytest.mark.slow
def test_a_stuck_worker_of_a_data_loader_is_ended(zeroin, project, libs):
    """It is said where the worker stands, and it doesn't stay with parent 1."""
    (project / "load.py").write_text(LOADER)
    done = zeroin("stacks", "--end", "--", libs, "load.py", cwd=project, timeout=250)
    assert done.returncode == 124
    assert "worker 0 waits for a lock at load.py:9 __getitem__()" in done.stderr


def open_looking(zeroin, *words, cwd=None):
    """Start zeroin, to read its looks one by one."""
    return subprocess.Popen(
        [*zeroin.driver, *words],
        cwd=cwd,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_after_a_time_it_goes_on(zeroin, project):
    """`--after`: one look, and the command's own end and output."""
    (project / "slow.py").write_text(
        "import os, time\nwhile not os.path.exists('seen'):\n    time.sleep(0.05)\n"
        "print('done')\nraise SystemExit(3)\n"
    )
    words = ("stacks", "--after", "0.5s", "--json", "--", "python", "slow.py")
    with open_looking(zeroin, *words, cwd=project) as looking:
        found = json.loads(looking.stdout.readline())
        (project / "seen").touch()
        rest, said = looking.communicate(timeout=60)
    assert (looking.returncode, rest) == (3, "")
    assert found["why"] == "after 0.5 s"
    assert "at slow.py:3" in found["verdict"]
    assert "done" in said


def test_a_command_that_ends_at_once(zeroin, project):
    """There is nothing to look at, and that is said."""
    done = zeroin("stacks", "--", "python", "-c", "print(1)", cwd=project)
    assert done.returncode == 0
    assert "it ended before there was anything to look at" in done.stderr


def test_ctrl_backslash_takes_a_look_and_the_program_goes_on(zeroin, project, terminal):
    """The key that would end it; here it asks where it is."""
    (project / "ask.py").write_text(
        "def ask():\n    return input('name? ')\nprint('hello', ask())\n"
    )
    screen = terminal(
        [*zeroin.driver, "stacks", "--", "python", "ask.py"], cwd=project, env=zeroin.env, cols=160
    )
    screen.expect("name? ")
    screen.send("\x1c")
    screen.expect("zeroin: a look, asked for")
    screen.expect("waits for input from the terminal at ask.py:2 ask(): type it")
    screen.line("Ada")
    screen.expect("hello Ada")
    assert screen.wait() == 0


@pytest.mark.slow
@at_one_worker
@pytest.mark.parametrize("mode", ["755", "600"])
def test_tasks_of_a_program_under_zeroin(standing, mode):
    """Where each coroutine waits; if its interpreter can't be started again, the agent tells."""
    assert "event loop: 3 of 4 tasks sleep at web.py:3 fetch()" in standing[mode]["verdict"]


@pytest.mark.slow
@at_one_worker
def test_tasks_on_one_line_that_wait_for_different_things(standing):
    """The one that has the lock sleeps, the others wait for it."""
    said = [one["verdict"] for one in standing["one line"]["groups"]]
    assert any("sleeps at web.py:3 fetch()" in one for one in said), said
    assert any("wait for a lock or a semaphore at web.py:3 fetch()" in one for one in said), said


@pytest.mark.slow
@at_one_worker
def test_the_task_that_holds_up_its_loop_does_not_wait(standing):
    """It is told as the thread that runs it, and only the others as tasks."""
    found = standing["held up"]
    assert found["verdict"].endswith("; 1 other task can't go on"), found["verdict"]
    assert len([one for one in found["groups"] if "task" in one["verdict"]]) == 1


def test_every_says_what_moves(zeroin, project):
    """Two looks: one thread stands still, one moves and computes."""
    (project / "mixed.py").write_text(
        "import threading\n"
        "def rest():\n    threading.Event().wait()\n"
        "def spin():\n"
        "    n = 0\n"
        "    while True:\n"
        "        n += 1\n"
        "        n -= 1\n"
        "threading.Thread(target=rest, name='rest', daemon=True).start()\n"
        "print('up', flush=True)\nspin()\n"
    )
    with subprocess.Popen(
        [support.base_python(), "mixed.py"],
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        try:
            running.stdout.readline()
            words = ("stacks", str(running.pid), "--every", "0.3s", "--for", "60s", "--json")
            with open_looking(zeroin, *words) as looking:
                looks = [json.loads(looking.stdout.readline()) for _ in range(3)]
                looking.terminate()
            text = zeroin("stacks", str(running.pid), "--every", "0.2s", "--for", "0.4s").stdout
        finally:
            running.kill()
    threads = [t for look in looks[1:] for g in look["groups"] for t in g["threads"]]
    assert {t["moved"] for t in threads if t["name"] == "rest"} == {False}
    assert any(t["busy"] > 0.1 for t in threads if t["name"] == "MainThread")
    assert looks[0]["groups"][0]["threads"][0]["moved"] is None
    assert "same since the last look" in text


def test_every_ends_with_the_program(zeroin, project):
    """It is said, and that is no failure."""
    (project / "short.py").write_text("print('up', flush=True)\ninput()\n")
    with subprocess.Popen(
        [support.base_python(), "short.py"],
        cwd=project,
        env=zeroin.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as running:
        running.stdout.readline()
        words = ("stacks", str(running.pid), "--every", "0.2s", "--json")
        with open_looking(zeroin, *words) as looking:
            looking.stdout.readline()
            running.communicate(b"\n")
            _, said = looking.communicate(timeout=60)
    assert looking.returncode == 0
    assert f"process {running.pid} has ended" in said


def test_the_attempt_that_runs_is_meant(zeroin, project):
    """Without an argument: the newest attempt of this project."""
    (project / "waits.py").write_text("import time\ntime.sleep(1000)\n")
    run = subprocess.Popen(
        [*zeroin.driver, "run", "--", "python", "waits.py"],
        cwd=project,
        env=zeroin.env,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            done = zeroin("stacks", "--json", cwd=project)
            if done.returncode == 0 and "sleeps at waits.py:2" in done.stdout:
                break
        found = json.loads(done.stdout)
        assert found["of"] == "attempt 1"
        assert found["verdict"].endswith("sleeps at waits.py:2")
    finally:
        os.killpg(run.pid, signal.SIGTERM)
        run.wait()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--end"], "zeroin stacks --end -- python train.py"),
        (["--timeout", "3s"], "--timeout goes with a command"),
        (["python", "train.py"], "to start a command: zeroin stacks -- python train.py"),
        (["--for", "3s"], "--for goes with --every"),
        (["1", "--every", "0"], "--every takes a time above 0"),
        (["-n", "0"], "-n takes a number from 1 on"),
        (["1", "--", "true"], "either a process or a command, not both"),
        (["--every", "1s", "--", "true"], "--every goes with a process that runs"),
    ],
)
def test_what_does_not_fit(zeroin, words, said):
    """Refused before anything is done, with exit code 2."""
    done = zeroin("stacks", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_report_is_readable_in_any_locale(zeroin, project):
    """An odd name of a file, and a terminal that knows only ASCII."""
    name = "größe \x1b[31m.py"
    (project / name).write_text("import time\nprint('up', flush=True)\ntime.sleep(1000)\n")
    with subprocess.Popen(
        [support.base_python(), name], cwd=project, env=zeroin.env, stdout=subprocess.PIPE
    ) as running:
        running.stdout.readline()
        done = zeroin(
            "stacks",
            str(running.pid),
            env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        )
        running.kill()
    assert done.returncode == 0
    assert "\x1b[31m" not in done.stdout


@pytest.mark.slow
def test_snapshots_of_a_loop_are_no_part_of_the_program(zeroin, project, terminal):
    """They are processes with the program's frames, but nobody asks where they stand."""
    (project / "looped.py").write_text(
        "import time\nfor n in range(10):\n    time.sleep(0.1)\n"
        "def rest():\n    time.sleep(1000)\nprint('at rest', flush=True)\nrest()\n"
    )
    screen = terminal(
        [*zeroin.driver, "loop", "--", "python", "looped.py"], cwd=project, env=zeroin.env
    )
    screen.expect("at rest")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        done = zeroin("stacks", "--json", cwd=project)
        if done.returncode == 0 and "looped.py:5" in done.stdout:
            break
    found = json.loads(done.stdout)
    assert found["verdict"].endswith("sleeps at looped.py:5 rest()")
    assert "snapshot of a loop" in {p["label"] for p in found["processes"]}
    screen.send("\x03")
    screen.expect("waiting for a save")
    screen.send("q")
    screen.wait()

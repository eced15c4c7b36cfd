"""`zeroin why`: one answer after a death, and a clear word where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plain_user import plain_user
from support import needs


@pytest.fixture
def why(zeroin, project):
    def ask(*words: str, **options) -> dict:
        done = zeroin("why", "--json", *words, cwd=project, **options)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return ask


def test_the_last_attempt_is_what_is_meant(zeroin, project, why):
    """Signal, exit code, exception: each in words, with what was around it."""
    zeroin("run", "--", "sh", "-c", "echo last words; kill -KILL $$", cwd=project)
    found = why()
    assert (found["attempt"], found["signal"], found["sure"]) == (1, "SIGKILL", "unknown")
    assert any("counter did not move" in text for text in found["ruled_out"])
    assert found["output"] == "last words\n"
    assert found["limits"]["open files"][0] > 0
    assert found["disks_then"][0]["size"] > 0
    zeroin("run", "--", "sh", "-c", "exit 3", cwd=project)
    assert (why()["exit_code"], why("1")["signal"]) == (3, "SIGKILL")
    zeroin("run", "--", "python", "-c", "open('/dev/full', 'w').write('x' * 9000)", cwd=project)
    assert why()["verdict"] == "the disk was full"
    assert why("last-failed")["attempt"] == 3


def test_limits_of_the_shell_are_the_runs(zeroin, project):
    """`ulimit` before the run: what was reached, and what it was."""
    shell = " && ".join(
        [
            "ulimit -n 40",
            f"({sys.executable} -m zeroin run -- python files.py; true)",
            f"{sys.executable} -m zeroin why --json",
        ]
    )
    (project / "files.py").write_text("kept = [open('/dev/null') for _ in range(100)]\n")
    done = subprocess.run(
        ["sh", "-c", shell],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    assert found["verdict"] == "it had too many files open"
    assert "40 files open" in "\n".join(found["because"])


def test_cpu_time_that_is_used_up(zeroin, project):
    """SIGXCPU by the soft limit."""
    shell = f"ulimit -St 1; {sys.executable} -m zeroin run -- sh -c 'while :; do :; done'"
    subprocess.run(
        ["sh", "-c", shell], cwd=project, env=zeroin.env, capture_output=True, check=False
    )
    done = zeroin("why", cwd=project)
    assert "SIGXCPU: it used up the CPU time" in done.stdout
    assert "the limit is 1 s" in done.stdout


@needs("gdb")
@pytest.mark.parametrize(
    ("command", "signal"),
    [("python segv.py", "SIGSEGV"), ('sh -c "python segv.py; exit 3"', "")],
    ids=["the command", "a child"],
)
def test_a_crash_in_c_has_both_stacks(zeroin, project, why, command, signal):
    """From the core dump, and from faulthandler."""
    if Path("/proc/sys/kernel/core_pattern").read_text().startswith(("|", "/")):
        pytest.skip("this machine puts core dumps elsewhere")
    (project / "segv.py").write_text(
        "import ctypes\ndef peek():\n    ctypes.string_at(8)\npeek()\n"
    )
    shell = f"ulimit -c unlimited; {sys.executable} -m zeroin run -- {command}"
    subprocess.run(
        ["sh", "-c", shell], cwd=project, env=zeroin.env, capture_output=True, check=False
    )
    found = why()
    assert found["signal"] == signal
    assert "strlen" in found["core"]["native"][0]
    assert any("segv.py" in line for line in found["python_stack"])
    who = "it" if signal else "the child"
    assert any(f"in C {who} was in" in line for line in found["because"])


@needs("gdb")
def test_a_program_that_gave_up_is_told_where(zeroin, project, why):
    """Not in the C library's own way to give up, which is the same for all."""
    if Path("/proc/sys/kernel/core_pattern").read_text().startswith(("|", "/")):
        pytest.skip("this machine puts core dumps elsewhere")
    command = "ulimit -c unlimited; exec python -c 'import os; os.abort()'"
    zeroin("run", "--", "sh", "-c", command, cwd=project)
    (told,) = [text for text in why()["because"] if text.startswith("in C it was in ")]
    assert "abort" in told
    assert "kill" not in told


@pytest.mark.parametrize("code", [137, 3])
def test_a_child_that_crashed_is_told(zeroin, project, why, code):
    """Whatever code the command gave after that, and at a line of the user's."""
    (project / "segv.py").write_text(
        "import ctypes\ndef peek():\n    ctypes.string_at(8)\npeek()\n"
    )
    zeroin("run", "--", "sh", "-c", f"python segv.py; true; exit {code}", cwd=project)
    found = why()
    assert "SIGSEGV in a child" in found["verdict"]
    assert f"exit code {code}: with which it ended itself after that" in found["because"]
    assert any("segv.py:3 in peek" in line for line in found["because"])


def test_an_exit_code_alone_proves_nothing(zeroin, project, why):
    """A program may choose 137 itself; only a shell makes a signal of it likely."""
    zeroin("run", "--", "python", "-c", "import sys; sys.exit(137)", cwd=project)
    assert why()["sure"] == "unknown"
    zeroin("run", "--", "sh", "-c", "exit 137", cwd=project)
    assert why()["sure"] == "likely"


def test_a_command_that_never_started(zeroin, project):
    """What kept it from starting is the verdict."""
    zeroin("run", "--", "./nothing-here", cwd=project)
    assert "it did not start: ./nothing-here: no such file" in zeroin("why", cwd=project).stdout


@needs("strace")
def test_traced_runs_have_their_last_calls(zeroin, project, why):
    """`files` leaves them for `why`."""
    zeroin("files", "--", "sh", "-c", "cat /nowhere; kill -SEGV $$", cwd=project)
    calls = why()["calls"]
    assert any("SIGSEGV" in line for line in calls)


def test_a_process_that_runs(zeroin, project, why):
    """What it waits for, and where its Python is."""
    (project / "waits.py").write_text("def wait():\n    input()\nprint('up', flush=True)\nwait()\n")
    with subprocess.Popen(
        [sys.executable, "waits.py"],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as running:
        running.stdout.readline()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            found = why("-p", str(running.pid))
            if "read" in found["verdict"]:
                break
        assert "it has not died: it sleeps, in read: pipe" in found["verdict"]
        assert "wait" in [frame[2] for stack in found["stacks"] for frame in stack["frames"]]
        assert why(str(running.pid))["pid"] == running.pid
        running.kill()


def test_a_process_that_has_just_ended(zeroin, project, why):
    """Its parent has not asked yet: how it ended can still be told."""
    with subprocess.Popen(["sh", "-c", "kill -SEGV $$"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        found = why("-p", str(ended.pid))
        assert (found["signal"], found["process"]["state"]) == ("SIGSEGV", "Z")
        assert "has not waited for it" in found["because"][-1]


def test_a_process_that_is_gone(zeroin, project, why):
    """The record knows it by its number; else what was searched is said."""
    zeroin("run", "--", "sh", "-c", "echo $$ > pid; exit 3", cwd=project)
    pid = (project / "pid").read_text().strip()
    assert why("-p", pid)["attempt"] == 1
    done = zeroin("why", "-p", "4194304", cwd=project)
    assert done.returncode == 1
    assert "nothing is left of it: the record here has no attempt with it" in done.stderr
    assert "was written" not in done.stderr


def test_bad_input(zeroin, project):
    """Each with its message and its code."""
    cases = {
        ("why",): (1, "nothing has been recorded here yet"),
        ("why", "-p", "x"): (2, "a process has a number"),
        ("why", "3", "-p", "4"): (2, "either an attempt or -p"),
    }
    for words, (code, text) in cases.items():
        done = zeroin(*words, cwd=project)
        assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    zeroin("run", "--", "true", cwd=project)
    cases = {
        ("why", "4194304"): (1, "there is no attempt 4194304, and no process 4194304"),
        ("why", "first"): (2, "names no attempt"),
        ("why", "last-failed"): (1, "there is no last-failed attempt"),
    }
    for words, (code, text) in cases.items():
        done = zeroin(*words, cwd=project)
        assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    assert "did not die" in zeroin("why", cwd=project).stdout


def test_as_a_plain_user():
    """The common cases need no rights; what is another's is told as such."""
    with plain_user() as user:
        user.zeroin("run", "--", user.python, "-c", "x = 'a' * (1 << 60)")
        done = user.zeroin("why", "--json")
        assert json.loads(done.stdout)["verdict"] == "memory was not to be had", done.stderr
        user.zeroin("run", "--", "sh", "-c", "kill -9 $$")
        found = json.loads(user.zeroin("why", "--json").stdout)
        assert found["sure"] == "unknown"
        done = user.zeroin("why", "-p", str(os.getpid()), "--json")
        found = json.loads(done.stdout)
        assert "it has not died" in found["verdict"]
        if not os.geteuid():
            assert "not ours to see" in "\n".join(found["because"])

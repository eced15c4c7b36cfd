"""System calls that fail or take long, and other times: as asked, for the command alone."""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import time

import pytest

import support
from support import needs

WRITES = """\
import os, subprocess, sys
for number in range(5):
    with open(f"data-{number}.txt", "w") as file:
        file.write("x")
print("done")
"""
# Another back-end than the first: what a machine without it would take.
ENTER = (
    "import sys; sys.path.insert(0, {src!r})\n"
    "from zeroin.emulate import {module}\n"
    "for name, kind in {module}.KINDS.items():\n"
    "    {module}.KINDS[name] = kind._replace(backends=kind.backends[1:])\n"
    "from zeroin.fronts.cli import enter\n"
    "enter()\n"
)


def without_the_first(someone, module: str) -> None:
    code = ENTER.format(src=str(support.SRC), module=module)
    someone.driver = [someone.driver[0], "-c", code]


def run(someone, *limits: str, command: tuple[str, ...] = ("python", "go.py")) -> dict:
    words = [word for limit in limits for word in ("--limit", limit)]
    return someone.json("run", *words, "--", *command)


def test_a_call_fails_where_and_when_it_is_asked(someone):
    """From the third write to such a file on, with the real error; all others succeed."""
    someone.write("go.py", WRITES)
    done = run(someone, "fail=write:ENOSPC:when=3+:path=data-*")
    assert done["headline"] == "OSError at go.py: [Errno 28] No space left on device"
    assert done["outcome"] == "limit"
    (limit,) = done["limits"]
    assert (limit["reached"], limit["backend"]) == (True, "seccomp listener")
    assert limit["detail"].startswith("2 of 4 calls failed")
    assert (someone.project / "data-1.txt").read_text() == "x"
    assert (someone.project / "data-2.txt").read_text() == ""


@pytest.mark.parametrize(
    ("when", "failed"), [("", "01234"), (":when=2", "1"), (":when=3+", "234"), (":when=2-3", "12")]
)
def test_which_of_the_calls(me, when, failed):
    """Each, the nth, from the nth on, or some in a row."""
    me.write(
        "go.py",
        """
        import os
        for number in range(5):
            try: os.mkdir(f"made-{number}")
            except OSError: print(number, end="")
        """,
    )
    done = me("run", "--limit", f"fail=mkdir:EACCES{when}:path=made-*", "--", "python", "go.py")
    assert done.stdout == failed


def test_children_and_threads_share_one_count(someone):
    """The path is found wherever they are: relative, absolute, by a descriptor."""
    someone.write(
        "go.py",
        """
        import os, threading
        def make(path, folder=None):
            try: os.mkdir(path, dir_fd=folder)
            except OSError as error: print(path.rpartition("/")[2], error.errno, flush=True)
        os.mkdir("sub")
        make("sub/a")
        thread = threading.Thread(target=make, args=(os.path.abspath("sub/b"),))
        thread.start(); thread.join()
        if os.fork() == 0:
            os.chdir("sub"); make("c"); os._exit(0)
        os.wait()
        make("d", os.open("sub", os.O_RDONLY))
        """,
    )
    done = someone("run", "--limit", "fail=mkdir:EIO:when=2-4:path=sub/*", "--", "python", "go.py")
    assert done.stdout.split() == ["b", "5", "c", "5", "d", "5"]


def test_a_pattern_for_any_folder(someone):
    """`*/sub/*` is a folder of that name wherever it lies; what fitted nothing is told."""
    made = "import os; os.makedirs('a/sub'); os.mkdir('a/sub/b')"
    done = run(someone, "fail=mkdir:EIO:path=*/sub/*", command=("python", "-c", made))
    assert done["headline"] == "OSError at <string>: [Errno 5] Input/output error: 'a/sub/b'"
    done = run(someone, "fail=mkdir:EIO:path=*/sup/*", command=("mkdir", "b"))
    assert done["limits"][0]["detail"] == "no mkdir of */sup/* was made"


def test_a_delay_holds_up_only_who_makes_the_call(someone):
    """Ten threads that wait at once take as long as one; other calls go on."""
    someone.write(
        "go.py",
        """
        import os, threading, time
        start = time.monotonic()
        threads = [threading.Thread(target=os.mkdir, args=(f"s{n}",)) for n in range(10)]
        for one in threads: one.start()
        os.mkdir("other")
        quick = time.monotonic() - start
        for one in threads: one.join()
        print(quick < 0.5 <= time.monotonic() - start < 4)
        """,
    )
    done = someone("run", "--limit", "slow=mkdir:500ms:path=s?", "--", "python", "go.py")
    assert done.stdout == "True\n", done.stderr
    assert "10 of 10 calls delayed" in done.stderr


def test_the_command_itself_is_still_started(someone):
    """What is done before it begins is not the command's: its folder is entered, it is executed."""
    assert run(someone, "fail=chdir:EACCES", command=("true",))["outcome"] == "passed"
    someone.write("go.py", "import subprocess; subprocess.run(['true'])\n")
    done = run(someone, "fail=execve:EACCES")
    assert "PermissionError" in done["headline"]
    send = "import socket; socket.socketpair()[0].sendmsg([b'x'])"
    done = run(someone, "fail=send:EPIPE", command=("python", "-c", send))
    assert "BrokenPipeError" in done["headline"]


def test_several_at_once(someone):
    """All of them are told, in the order in which they were asked for."""
    someone.write("go.py", WRITES)
    done = run(someone, "slow=fsync:1s", "fail=rename:EIO", "fail=open:EIO:path=data-3.txt")
    assert [limit["reached"] for limit in done["limits"]] == [False, False, True]
    assert done["limits"][0]["detail"] == "no fsync was made"


@needs("strace")
def test_by_strace_where_there_is_no_listener(someone):
    """The same failure; what it can't do is refused."""
    someone.write("go.py", WRITES)
    without_the_first(someone, "faults")
    whole = someone.project.resolve() / "data-2.txt"
    whole.write_text("")
    someone.give(whole)
    done = run(someone, f"fail=write:ENOSPC:path={whole}")
    assert done["headline"] == "OSError at go.py: [Errno 28] No space left on device"
    assert done["limits"][0]["backend"] == "strace"
    done = someone("run", "--limit", "fail=write:EIO:path=data-*", "--", "true")
    assert done.returncode == 125
    assert "no patterns of paths" in done.stderr


def test_a_full_disk_without_namespaces(someone):
    """Bytes of all processes count together; the file is named by the program as ever."""
    someone.folder("out")
    someone.write(
        "go.py",
        """
        import subprocess
        subprocess.run(["dd", "if=/dev/zero", "of=out/a", "bs=1M", "count=3"], check=True)
        with open("out/b", "wb") as file:
            for _ in range(9):
                file.write(b"x" * 1_000_000)
        """,
    )
    without_the_first(someone, "disk")
    done = run(someone, "disk=out:5M")
    assert done["headline"] == "OSError at go.py: [Errno 28] No space left on device"
    (limit,) = done["limits"]
    assert (limit["backend"], limit["reached"]) == ("seccomp listener", True)
    written = sum(os.path.getsize(someone.project / "out" / name) for name in "ab")
    assert 4_000_000 <= written <= 5_000_000


def test_nothing_is_left_when_the_driver_is_killed(someone):
    """Neither the command nor who answers for its calls."""
    someone.write("go.py", "print('up', flush=True)\nimport time\ntime.sleep(600)\n")
    words = ("run", "--limit", "slow=stat:1ms", "--", "python", "go.py")
    with someone.start(*words) as driver:
        assert driver.stdout.readline() == "up\n"
        driver.kill()
        driver.wait()
    assert support.left_running(os.environ[support.TEST_ID], set(), patience=10) == {}


def test_nothing_is_left_after_ctrl_c(me, terminal):
    """The command gets it, and has its own say."""
    me.write(
        "go.py",
        "import time\ntry:\n    print('up', flush=True)\n    while True: time.sleep(0.01)\n"
        "except KeyboardInterrupt: print('tidy')\n",
    )
    words = [*me.driver, "run", "--limit", "slow=mkdir:1ms", "--", "python", "go.py"]
    shown = terminal(words, cwd=me.project, env=me.env)
    shown.expect("up")
    shown.send("\x03")
    shown.expect("tidy")
    assert shown.wait() == 0
    assert support.left_running(os.environ[support.TEST_ID], set(), patience=10) == {}


def test_an_error_by_its_number(me):
    """5 is EIO."""
    done = me("run", "--limit", "fail=mkdir:5", "--", "mkdir", "a")
    assert (done.returncode, "Input/output error" in done.stderr) == (1, True), done.stderr


BAD = {
    "fail=write:9999": "'9999' is no error",
    "fail=writ:EIO": "'writ' is no system call",
    "fail=write:EFOO": "'EFOO' is no error",
    "fail=write": "'' is no error",
    "fail=write:EIO:when=0": "'when=0' is not understood",
    "fail=write:EIO:often": "'often' is not understood",
    "slow=write:fast": "'fast' is no time",
    "slow=write:0s": "'0s' is no time",
    "clock=tomorrow": "'tomorrow' is no time",
    "clock=x0": "'x0' is no time",
}


def test_bad_input(me):
    """Said before anything is started, with how it is written."""
    for text, message in BAD.items():
        done = me("run", "--limit", text, "--", "touch", "started")
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert not (me.project / "started").exists()


# --- the clock --------------------------------------------------------------------------------------


@needs("faketime")
def test_another_date(someone):
    """By libfaketime, with its hazards told; also for children."""
    someone.write("go.py", "import subprocess, time\nprint(int(time.time()))\n")
    now = time.time()
    done = someone("run", "--limit", "clock=+40d", "--", "sh", "-c", "python go.py; date +%s")
    shown = [int(word) for word in done.stdout.split()]
    assert all(abs(value - now - 40 * 86400) < 300 for value in shown), done.stderr
    assert "may wait for ever" in done.stderr


@needs("faketime")
@pytest.mark.parametrize("wait", ["true", "kill -INT $PPID $$", "kill -9 $PPID; sleep 1000"])
def test_nothing_of_the_library_is_left(someone, wait):
    """A shell ends without tidying up; so does whatever is interrupted, or loses its driver."""
    script = f"echo $$ > pid; date; {wait}; true"
    someone("run", "-q", "--limit", "clock=+1d", "--", "sh", "-c", script)
    pid = int((someone.project / "pid").read_text())
    until = time.monotonic() + 20  # without a driver the guard tidies up
    while left := glob.glob(f"/dev/shm/*faketime_s??_{pid}"):
        assert time.monotonic() < until, left
        time.sleep(0.02)


@needs("faketime")
def test_a_faster_clock(someone):
    """A minute's sleep in a moment."""
    start = time.monotonic()
    done = someone(
        "run", "--limit", "clock=x600", "--", "python", "-c", "import time; time.sleep(60)"
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 30


def test_uptime_by_a_namespace(someone):
    """Without libfaketime: the monotonic clock, and it is said that the date is not shifted."""
    without_the_first(someone, "clock")
    ask = "import time; print(time.monotonic(), time.time())"
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    done = someone("run", "--limit", "clock=+40d", "--", "python", "-c", ask)
    shifted, date = map(float, done.stdout.split())
    assert abs(shifted - before - 40 * 86400) < 300
    assert abs(date - time.time()) < 300
    assert "the date is not" in done.stderr
    done = someone("run", "--limit", "clock=x2", "--", "true")
    assert (done.returncode, "not speed it up" in done.stderr) == (125, True)


def test_files_under_limits(me):
    """Which file it was, of a failure that was asked for."""
    if support.lack("strace"):
        pytest.skip("needs strace")
    me.write("go.py", "try: open('data.txt', 'w')\nexcept OSError: pass\n")
    words = ["files", "--json", "--limit", "fail=open:EROFS:path=data.txt", "--", "python", "go.py"]
    done = me(*words)
    found = json.loads(done.stdout)
    assert [(os.path.basename(f["path"]), f["error"]) for f in found["failures"]] == [
        ("data.txt", "EROFS")
    ]


def test_the_supervisor_does_not_outlive_a_command_that_ends_badly(someone):
    """A signal ends the command; nobody waits for answers any more."""
    done = someone("run", "--limit", "slow=write:1ms", "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == -signal.SIGSEGV
    assert support.left_running(os.environ[support.TEST_ID], set(), patience=10) == {}
    assert subprocess.run(["true"], check=False).returncode == 0

"""`zeroin run` as a user meets it: the command behaves as without us, and is recorded."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

import support
from zeroin.run import tree


def write(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return path


def run_json(zeroin, *args, **options):
    done = zeroin("run", "--json", *args, **options)
    return json.loads(done.stdout)


# --- passing through --------------------------------------------------------------------------


def test_output_exit_code_and_record_on_every_driver(zeroin, driver, project):
    """The whole way, on each interpreter the driver supports."""
    write(
        project,
        "fail.py",
        """
        import sys
        def forward(rate):
            print("to stdout"); print("to stderr", file=sys.stderr)
            return {"a": rate}["label"]
        forward(0.1)
    """,
    )
    done = zeroin("run", "--", "python", "fail.py", cwd=project, driver=driver)
    assert done.returncode == 1
    assert done.stdout == "to stdout\n"
    assert done.stderr.startswith("to stderr\nTraceback (most recent call last):\n")
    assert "✗ attempt 1 failed in" in done.stderr
    assert "KeyError at fail.py forward(): 'label'" in done.stderr
    shown = zeroin("show", "last", cwd=project, driver=driver)
    assert "rate = 0.1" in shown.stdout
    assert '→    5 │     return {"a": rate}["label"]' in shown.stdout


def test_streams_stay_apart(zeroin, project):
    """Into pipes nothing is added to stdout, and our own lines go to stderr."""
    done = zeroin("run", "--", "sh", "-c", "echo out; echo err >&2", cwd=project)
    assert done.stdout == "out\n"
    assert done.stderr.splitlines()[0] == "err"


def test_stdin_reaches_the_command(zeroin, project):
    """As without us."""
    assert zeroin("run", "--", "cat", cwd=project, input="hello\n").stdout == "hello\n"


def test_binary_output_is_unchanged(zeroin, project):
    """Every byte, also without a newline at the end."""
    data = bytes(range(256)) * 1000
    (project / "data.bin").write_bytes(data)
    command = [*zeroin.driver, "run", "-q", "--", "cat", "data.bin"]
    done = subprocess.run(command, cwd=project, env=zeroin.env, capture_output=True, check=True)
    assert done.stdout == data


@pytest.mark.parametrize("code", [0, 1, 3, 77, 125, 255])
def test_exit_code_is_the_commands_own(zeroin, project, code):
    """Whatever it is."""
    assert zeroin("run", "--", "sh", "-c", f"exit {code}", cwd=project).returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT])
def test_signal_is_passed_on_as_our_own(zeroin, project, number):
    """A shell sees the same $? and stops its loops on Ctrl-C."""
    assert (
        zeroin("run", "--", "sh", "-c", f"kill -{int(number)} $$", cwd=project).returncode
        == -number
    )


def test_sigterm_to_us_reaches_the_command(zeroin, project):
    """The command's own handler decides, and its exit code is ours."""
    command = [
        *zeroin.driver,
        "run",
        "--",
        "sh",
        "-c",
        "trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done",
    ]
    process = subprocess.Popen(
        command,
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.terminate()
    assert process.wait(30) == 9
    assert process.stdout.read() == "bye\n"
    process.stdout.close()


def test_sigint_by_kill_reaches_the_command(zeroin, project):
    """Not from the keyboard, so the terminal did not send it to the command."""
    program = "import time\nprint('up', flush=True)\ntime.sleep(60)"
    command = [*zeroin.driver, "run", "--", "python", "-c", program]
    process = subprocess.Popen(
        command,
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err


def test_a_reader_that_leaves_ends_the_command(zeroin, project):
    """`zeroin run -- yes | head -1` ends: the command gets SIGPIPE as it would."""
    driver = " ".join(zeroin.driver)
    line = f"set -o pipefail; {driver} run -q -- yes | head -n 1"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.stdout == "y\n"


def test_background_processes_keep_their_output(zeroin, project):
    """The prompt comes back at once; what a daemon writes later still arrives."""
    fifo = project / "go"
    os.mkfifo(fifo)
    line = "(read x < go; echo late) & echo early"
    command = [*zeroin.driver, "run", "--", "sh", "-c", line]
    process = subprocess.Popen(
        command,
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.wait(30) == 0
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "early\n"
    fifo.write_text("x\n")
    assert process.stdout.readline() == "late\n"
    assert process.stdout.read() == ""
    assert "background processes of it go on" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


def test_command_not_found_and_not_executable(zeroin, project):
    """The codes a shell gives, with a next step; the attempt is not a failure of the program."""
    missing = zeroin("run", "--", "nosuchcommand", cwd=project)
    assert (missing.returncode, missing.stderr.splitlines()[0]) == (
        127,
        "zeroin: nosuchcommand: command not found",
    )
    (project / "plain.txt").write_text("x")
    denied = zeroin("run", "--", "./plain.txt", cwd=project)
    assert denied.returncode == 126
    assert "chmod +x" in denied.stderr
    assert (
        json.loads(zeroin("log", "--json", "-n", "1", cwd=project).stdout)["outcome"]
        == "unfinished"
    )


def test_script_without_shebang(zeroin, project):
    """Every shell runs it, so do we."""
    script = write(project, "s", "echo shell $1\n")
    script.chmod(0o755)
    assert zeroin("run", "--", "./s", "x", cwd=project).stdout == "shell x\n"


def test_without_dashes(zeroin, project):
    """`zeroin run python x.py --lr 1` works as well: the first word that is no option begins it."""
    done = zeroin(
        "run", "--env", "A=1", "-q", "sh", "-c", "echo $A $0 $1", "x", "--json", cwd=project
    )
    assert done.stdout == "1 x --json\n"


# --- environment ------------------------------------------------------------------------------


def test_variables_for_this_run_alone(zeroin, project):
    """--env-file, then --env, then --unset; quotes and comments as in a shell."""
    (project / "vars").write_text("# c\nexport A='one two'\nB=2 # two\nC=3\n\nD=\"x # y\"\n")
    done = zeroin(
        "run",
        "-q",
        "--env-file",
        "vars",
        "--env",
        "B=4",
        "--unset",
        "C",
        "--unset",
        "HOME",
        "--",
        "sh",
        "-c",
        "echo $A/$B/$C/$D/${HOME-none}",
        cwd=project,
    )
    assert done.stdout == "one two/4//x # y/none\n"


def test_cwd(zeroin, project):
    """The folder, and PWD with it."""
    (project / "sub").mkdir()
    done = zeroin("run", "-q", "--cwd", "sub", "--", "sh", "-c", "pwd; echo $PWD", cwd=project)
    assert done.stdout.split() == [str(project / "sub")] * 2


def test_sync_says_what_it_sets(zeroin, project):
    """And sets it."""
    done = zeroin(
        "run",
        "--sync",
        "--",
        "sh",
        "-c",
        "echo $OMP_NUM_THREADS $CUDA_LAUNCH_BLOCKING",
        cwd=project,
    )
    assert done.stdout == "1 1\n"
    assert "--sync sets CUDA_LAUNCH_BLOCKING=1" in done.stderr
    assert "DataLoader num_workers=0" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--env", "novalue"], "NAME=VALUE"),
        (["--timeout", "soon"], "no time span"),
        (["--timeout", "0"], "no time"),
        (["--env-file", "none"], "No such file"),
        (["--cwd", "none"], "no such folder"),
        (["--repeat", "0"], "from 1 on"),
        (["--nonsense"], "unrecognized arguments"),
    ],
)
def test_bad_options(zeroin, project, args, words):
    """Exit code 2, one clear line, and nothing is run."""
    done = zeroin("run", *args, "--", "touch", "ran", cwd=project)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (project / "ran").exists()


def test_no_command(zeroin, project):
    """Says what to type."""
    done = zeroin("run", cwd=project)
    assert (done.returncode, "zeroin run -- python train.py" in done.stderr) == (2, True)


# --- put the world back -----------------------------------------------------------------------


def test_reset_runs_before_each_attempt(zeroin, project):
    """One command: `rm -r out` can't be forgotten."""
    for _ in range(2):
        done = zeroin("run", "--reset", "rm -rf out", "--", "mkdir", "out", cwd=project)
        assert done.returncode == 0


def test_failing_reset_stops_before_the_command(zeroin, project):
    """With its own error, exit code 125, and the attempt says why."""
    done = zeroin("run", "--reset", "echo cleaning; exit 4", "--", "touch", "ran", cwd=project)
    assert done.returncode == 125
    assert "reset failed with exit code 4" in done.stderr
    assert not (project / "ran").exists()
    row = json.loads(zeroin("log", "--json", cwd=project).stdout)
    assert (row["outcome"], "reset failed" in row["headline"]) == ("unfinished", True)


def test_restore_puts_the_first_state_back(zeroin, project):
    """A file, a folder and a path that was not there, each attempt from the same start."""
    (project / "data").mkdir()
    (project / "data" / "a").write_text("1")
    script = "cat data/a; ls new 2>/dev/null; echo 2 > data/a; touch data/b new; test ! -e data/c; touch data/c"
    args = ("run", "-q", "--restore", "data", "--restore", "new", "--", "sh", "-c", script)
    for _ in range(3):
        done = zeroin(*args, cwd=project)
        assert (done.stdout, done.returncode) == ("1", 0)


def test_restore_mends_what_the_program_made_of_it(zeroin, project):
    """A folder that became a link to somewhere else is a folder again, and nothing else changed."""
    (project / "data").mkdir()
    (project / "data" / "a").write_text("1")
    outside = project / "outside"
    outside.mkdir()
    script = "cat data/a; rm -r data; ln -s outside data; echo 2 > data/a"
    for _ in range(2):
        done = zeroin("run", "-q", "--restore", "data", "--", "sh", "-c", script, cwd=project)
        assert (done.stdout, done.returncode) == ("1", 0)
    assert (outside / "a").read_text() == "2\n"


@pytest.mark.parametrize("path", ["/", "~", ".", ".git", "nested", ".zeroin"])
def test_restore_refuses_what_is_too_large(zeroin, project, path):
    """/, home, the project, repositories, our own record: exit code 125, the command not run."""
    path = zeroin.env["HOME"] if path == "~" else path
    (project / "nested" / ".git").mkdir(parents=True)
    done = zeroin("run", "--restore", path, "--", "touch", "ran", cwd=project)
    assert done.returncode == 125
    assert "--restore" in done.stderr
    assert not (project / "ran").exists()


# --- time-outs --------------------------------------------------------------------------------


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
    assert "hung: ended after" in done.stderr
    assert "hang.py wait_for_lock()" in done.stderr
    shown = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert shown["signature"] == "hang at wait_for_lock()"
    assert any(
        frame[2] == "wait_for_lock" for stack in shown["stacks"] for frame in stack["frames"]
    )


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
    env = {"PATH": f"{zeroin.base}/bin:/usr/bin:/bin"}
    found = run_json(
        zeroin, "--timeout", "1s", "--", "python", "hang.py", cwd=project, driver=driver, env=env
    )
    shown = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert found["signature"] == "hang at stuck()"
    assert {stack["source"] for stack in shown["stacks"]} == {"faulthandler"}


# --- explaining and recording -----------------------------------------------------------------


def test_json_is_one_object_with_the_documented_keys(zeroin, project):
    """The command's own output moves to stderr, so that stdout can be parsed."""
    done = zeroin("run", "--json", "--", "sh", "-c", "echo noise; exit 3", cwd=project)
    found = json.loads(done.stdout)
    assert done.stderr == "noise\n"
    assert {
        "id",
        "command",
        "outcome",
        "exit_code",
        "signature",
        "seconds",
        "peak_bytes",
        "changed_since",
        "schema",
    } <= found.keys()
    assert (found["outcome"], found["exit_code"], found["command"]) == (
        "failed",
        3,
        ["sh", "-c", "echo noise; exit 3"],
    )


def test_the_story_of_three_attempts(zeroin, project):
    """Same failure as before, what changed since, and that a new failure is new."""
    script = write(project, "a.py", "def f(): raise KeyError('x')\nf()\n")
    zeroin("run", "--", "python", "a.py", cwd=project)
    second = zeroin("run", "--env", "LR=1", "--", "python", "a.py", cwd=project)
    assert "same failure as attempt 1" in second.stderr
    assert "changed since 1: env LR" in second.stderr
    script.write_text("# moved\n\ndef f(): raise KeyError('y')\nf()\n")
    third = zeroin("run", "--env", "LR=1", "--", "python", "a.py", cwd=project)
    assert "a new failure" in third.stderr
    assert "changed since 2: a.py (+3 −1)" in third.stderr


def test_every_command_we_print_works(zeroin, project):
    """`zeroin show 2`, `zeroin diff 1 2`, `zeroin again 2` as printed under a failure."""
    write(project, "a.py", "raise KeyError('x')\n")
    zeroin("run", "--", "python", "a.py", cwd=project)
    done = zeroin("run", "--", "python", "a.py", cwd=project)
    steps = done.stderr.splitlines()[-1].strip().split("     ")
    assert [step.partition(": ")[2] for step in steps] == [
        "zeroin show 2",
        "zeroin diff 1 2",
        "zeroin again 2",
    ]
    for step in steps:
        words = step.partition(": zeroin ")[2].split()
        assert zeroin(*words, cwd=project).returncode == (1 if words[0] == "again" else 0)


def test_rates_of_a_flaky_program(zeroin, project):
    """By signature, with the range in which the true rate lies."""
    write(
        project,
        "flaky.py",
        """
        import os
        n = int(open("n").read()) if os.path.exists("n") else 0
        open("n", "w").write(str(n + 1))
        def a(): raise KeyError("a")
        def b(): raise ValueError("b")
        if n % 4 == 1: a()
        if n % 4 == 2: b()
    """,
    )
    done = zeroin("run", "--repeat", "8", "--json", "--", "python", "flaky.py", cwd=project)
    *runs, summary = map(json.loads, done.stdout.splitlines())
    assert len(runs) == 8
    assert (summary["runs"], summary["passed"]) == (8, 4)
    assert {f["signature"]: f["count"] for f in summary["failures"]} == {
        "KeyError at a(): 'a'": 2,
        "ValueError at b(): b": 2,
    }
    assert done.returncode == 1


def test_until_fail_stops_at_the_first(zeroin, project):
    """And its exit code is that attempt's."""
    write(
        project,
        "third.sh",
        "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; test $n -lt 2 || exit 7\n",
    )
    done = zeroin("run", "--until-fail", "--", "sh", "third.sh", cwd=project)
    assert done.returncode == 7
    assert (project / "n").read_text() == "3\n"


def test_peak_memory_of_the_tree(zeroin, project):
    """Two children of 150 MB each at the same time count together; shared pages count once."""
    write(
        project,
        "two.py",
        """
        import os, sys, time
        shared = bytearray(os.urandom(100)) * 600_000
        pids = []
        for _ in range(2):
            pid = os.fork()
            if pid == 0:
                own = bytearray(b"x") * 150_000_000
                time.sleep(1.2); os._exit(0)
            pids.append(pid)
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


def until(condition, seconds=30):
    """Whether it becomes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_secrets_are_not_stored(zeroin, project):
    """Not from the environment, the output, the command line, the locals or the message."""
    secret = "s3cr3t-value-9f8e7d"
    write(
        project,
        "leak.py",
        """
        import os, sys
        password = "hunter2" * 2
        def login(token, user):
            print("token is", token); raise ValueError("bad " + token)
        login(os.environ["API_TOKEN"], "bob")
    """,
    )
    done = zeroin(
        "run",
        "--",
        "python",
        "leak.py",
        "--password",
        "pw-on-line-1",
        secret,
        cwd=project,
        env={"API_TOKEN": secret},
    )
    assert secret in done.stdout  # what passes through is the program's own business
    stored = b"".join(p.read_bytes() for p in (project / ".zeroin").rglob("*") if p.is_file())
    shown = (
        zeroin("show", "--json", cwd=project).stdout + zeroin("show", "--env", cwd=project).stdout
    )
    for text in (secret, "hunter2hunter2", "pw-on-line-1"):
        assert text not in shown
        assert text.encode() not in stored
    assert "user = 'bob'" in zeroin("show", cwd=project).stdout


def test_secrets_given_for_this_run_alone(zeroin, project):
    """--env and --reset hold them as well as the environment does."""
    args = ("--env", "SHOP_TOKEN=sk-live-999999", "--reset", "echo sk-live-999999", "--")
    zeroin("run", *args, "sh", "-c", "echo $SHOP_TOKEN", cwd=project)
    shown = (
        zeroin("show", "--json", cwd=project).stdout + zeroin("show", "--env", cwd=project).stdout
    )
    assert "sk-live" not in shown
    assert zeroin("show", "--output", cwd=project).stdout == "<secret>\n"


def test_an_attempt_that_never_ran_is_nothing_to_compare_with(zeroin, project):
    """`changed since` goes back to the last one that did."""
    zeroin("run", "--", "sh", "-c", "exit 1", cwd=project)
    zeroin("run", "--reset", "false", "--", "sh", "-c", "exit 1", cwd=project)
    assert (
        run_json(zeroin, "--", "sh", "-c", "exit 1", cwd=project)["changed_since"]["attempt"] == 1
    )


def test_a_killed_program_is_known_by_its_interpreter(zeroin, project):
    """It says nothing at its end, so it was asked at its start."""
    zeroin("run", "--", "python", "-c", "import os; os.kill(os.getpid(), 9)", cwd=project)
    found = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert found["python"]["version"].startswith("3.")


def test_many_at_once_without_a_record(zeroin, project):
    """The folder for sockets is made and removed by all of them at the same time."""
    command = [*zeroin.driver, "run", "--no-record", "-q", "--", "true"]
    for _ in range(4):
        processes = [subprocess.Popen(command, cwd=project, env=zeroin.env) for _ in range(8)]
        assert [p.wait(60) for p in processes] == [0] * 8


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


def test_again_with_secrets(zeroin, project):
    """The secret comes from the environment, if it is still the same; else we say which is missing."""
    zeroin(
        "run",
        "--",
        "sh",
        "-c",
        "test $API_TOKEN = abcdef123",
        cwd=project,
        env={"API_TOKEN": "abcdef123"},
    )
    assert "abcdef123" not in zeroin("show", "--env", cwd=project).stdout
    assert zeroin("again", cwd=project, env={"API_TOKEN": "abcdef123"}).returncode == 0
    gone = zeroin("again", "1", cwd=project)
    assert (gone.returncode, "API_TOKEN" in gone.stderr) == (1, True)


def test_limits_are_inherited_not_ours(zeroin, project):
    """We leave resource limits and the niceness alone."""
    done = zeroin("run", "-q", "--", "sh", "-c", "ulimit -n; ulimit -c; nice", cwd=project)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert done.stdout.split()[0] == str(soft)


def test_run_inside_a_run(zeroin, project):
    """`zeroin run -- make test` where the Makefile uses zeroin: both are recorded."""
    inner = " ".join(zeroin.driver)
    done = zeroin(
        "run", "--", "sh", "-c", f"{inner} run -- python -c 'raise KeyError(1)'", cwd=project
    )
    assert done.returncode == 1
    rows = [json.loads(line) for line in zeroin("log", "--json", cwd=project).stdout.splitlines()]
    assert [row["signature"] for row in rows] == ["KeyError at <module>: 1"] * 2


def test_nothing_is_left_in_the_runtime_folder(zeroin, project):
    """Sockets and fault files vanish; also those of a run that was killed with -9."""
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:  # a socket's path must be short
        env = zeroin.env | {"XDG_RUNTIME_DIR": runtime}
        command = [*zeroin.driver, "run", "--", "sh", "-c", "echo up; exec sleep 60"]
        process = subprocess.Popen(
            command,
            cwd=project,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        (child,) = tree.descendants(process.pid)
        process.kill()
        process.wait()
        process.stdout.close()
        os.kill(child, signal.SIGKILL)
        assert os.listdir(runtime)
        zeroin("run", "--", "true", cwd=project, env=env)
        assert os.listdir(runtime) == []
    rows = zeroin("log", "--json", cwd=project).stdout.splitlines()
    assert json.loads(rows[-1])["outcome"] == "unfinished"

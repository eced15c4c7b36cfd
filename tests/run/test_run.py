"""`zeroin run` as a user meets it: the command behaves as without us."""

import json
import os
import signal
import subprocess
import sys

import pytest

from running import write


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


THREADS = """
    import threading
    def work(n): raise ValueError(f"no {n}")
    for n in range(3):
        thread = threading.Thread(target=work, args=(n,))
        thread.start()
        thread.join()
"""
SHOWN_LATE = """
    import threading
    def work(n): raise ValueError(f"no {n}")
    def show(args):
        if args.thread is first:
            second.start()
            second.join()
    threading.excepthook = show
    first, second = (threading.Thread(target=work, args=(n,)) for n in range(2))
    first.start()
    first.join()
"""
CHILD = """
    import multiprocessing
    def work(): raise KeyError("x")
    if __name__ == "__main__":
        child = multiprocessing.Process(target=work)
        child.start()
        child.join()
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (THREADS, "3 exceptions in threads, first: ValueError at main.py work(): no 0"),
        (SHOWN_LATE, "2 exceptions in threads, first: ValueError at main.py work(): no 0"),
        (CHILD, "1 exception in a child process: KeyError at main.py work(): 'x'"),
    ],
)
def test_what_died_in_a_program_that_passed(zeroin, project, program, said):
    """A command that passes although its threads or children died says so, in its one line."""
    write(project, "main.py", program)
    done = zeroin("run", "--", "python", "main.py", cwd=project)
    assert done.returncode == 0
    assert "✓ attempt 1 passed in" in done.stderr
    assert done.stderr.rstrip().endswith(said)
    told = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert (told["outcome"], told["headline"], told["signature"]) == ("passed", said, None)


def test_failing_tests_are_counted(zeroin, project):
    """Of 73 failing tests the first is shown, and that there are 73: freed ones count, too."""
    write(project, "test_it.py", "def test_it(n): assert n < 0")
    write(
        project,
        "conftest.py",
        "def pytest_generate_tests(metafunc): metafunc.parametrize('n', range(73))",
    )
    done = zeroin("run", "--", sys.executable, "-m", "pytest", "-q", "test_it.py", cwd=project)
    assert "assert 0 < 0 (the first of 73 failing tests)" in done.stderr


def test_without_dashes(zeroin, project):
    """`zeroin run python x.py --lr 1` works as well: the first word that is no option begins it."""
    done = zeroin(
        "run", "--env", "A=1", "-q", "sh", "-c", "echo $A $0 $1", "x", "--json", cwd=project
    )
    assert done.stdout == "1 x --json\n"

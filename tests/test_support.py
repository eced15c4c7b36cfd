"""The ground the other tests stand on holds."""

import os
import signal
import subprocess
import sys
import time

import pytest

import support
from support import Terminal


def test_each_interpreter_is_what_it_is_called(python, request):
    """The fixture's name is the version of the interpreter that it gives."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == request.node.callspec.id


def test_each_driver_runs_our_source(driver):
    """A driver imports zeroin from this tree, without PYTHONPATH, and has py-spy beside it."""
    ask = "import sys, os, zeroin; print(zeroin.__file__, os.path.dirname(sys.executable))"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    words = [driver[0], "-c", ask]
    answer = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    file, folder = answer.stdout.split()
    assert file == str(support.SRC / "zeroin" / "__init__.py")
    assert os.access(f"{folder}/py-spy", os.X_OK)


def test_clean_environment(tmp_path, monkeypatch):
    """Nothing of the developer's shell reaches the commands under test."""
    for name in ("ZEROIN_SEED", "GIT_DIR", "PYTHONPATH", "NO_COLOR", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "leaks")
    env = support.clean_environment(tmp_path)
    assert "leaks" not in env.values()
    assert env["HOME"].startswith(str(tmp_path))
    ask = "import importlib.util as u, sys; print(u.find_spec('zeroin'), sys.version_info[:2])"
    done = subprocess.run(
        ["python", "-c", ask], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"None {sys.version_info[:2]}"


def test_project_is_a_clean_repository(project, zeroin):
    """The project has one commit and nothing to commit."""

    def git(*words):
        command = ["git", "-C", project, *words]
        return subprocess.run(command, env=zeroin.env, capture_output=True, text=True, check=True)

    assert git("status", "--porcelain").stdout == ""
    assert git("log", "--format=%s").stdout == "first\n"


def test_terminal(terminal):
    """A command in a Terminal has a tty of the size asked for, and its exit code comes back."""
    shell = terminal(["sh", "-c", "stty size; read word; stty size; exit 7"], rows=31, cols=77)
    shell.expect("31 77")
    shell.resize(10, 20)
    shell.line("go")
    shell.expect("10 20")
    assert shell.wait() == 7


def test_terminal_signals():
    """Ctrl-C typed into a Terminal is SIGINT for the command."""
    with Terminal(["sh", "-c", "echo up; exec sleep 60"]) as shell:
        shell.expect("up")
        shell.send("\x03")
        assert shell.wait() == -signal.SIGINT


def test_terminal_says_what_was_shown():
    """An expectation that fails shows what the terminal showed."""
    with (
        Terminal(["echo", "all there is"]) as echo,
        pytest.raises(AssertionError, match="all there"),
    ):
        echo.expect("something else")


class TestLeftRunning:
    """What a test left behind is found, wherever it hangs."""

    def test_orphan(self):
        """A process that gave itself a session of its own and lost its parent is found."""
        mark = os.environ[support.TEST_ID]
        command = ["sh", "-c", "setsid sleep 61 >/dev/null 2>&1 & echo $!"]
        subprocess.run(command, capture_output=True, check=True)
        until = time.monotonic() + 10
        left: dict[int, str] = {}
        while "sleep 61" not in left.values() and time.monotonic() < until:
            left = support.left_running(mark, set(), patience=0)
        assert list(left.values()) == ["sleep 61"]
        support.end(left)
        assert support.left_running(mark, set()) == {}

    def test_fork_without_exec(self):
        """A forked child carries no mark of its own, and is found as our child."""
        before = support.processes()
        child = os.fork() if sys.version_info < (3, 12) else _fork_quietly()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        left = support.left_running(os.environ[support.TEST_ID], before, patience=0)
        support.end(left)
        os.waitpid(child, 0)
        assert list(left) == [child]

    def test_cheap(self):
        """Processes that were there before the test are not looked at, however many there are."""
        with subprocess.Popen(["sleep", "62"]) as older:
            before = support.processes()
            with subprocess.Popen(["sleep", "63"]) as newer:
                left = support.left_running(os.environ[support.TEST_ID], before, patience=0)
                newer.kill()
            older.kill()
        assert list(left) == [newer.pid]


def _fork_quietly():
    import warnings  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def run_victim(folder, text, *options, ci="false", before=()):
    """Run a test file of its own under our conftest."""
    (folder / "test_victim.py").write_text(text)
    env = {**os.environ, "PYTHONPATH": str(support.ROOT / "tests"), "CI": ci}
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "conftest", "-q", *options]
    return subprocess.run(
        [*before, *command, folder],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


# For a test file that leaves a process behind: that it does is known at once.
IMPATIENT = "import support\nsupport.PATIENCE = 0.1\n"
HANGS = """
import os, pytest, subprocess
@pytest.mark.limit(0.5)
def test_x():
    child = os.fork() or subprocess.run(['sleep', '3602'])
    os.waitpid(child, 0)
def test_y(): pass
"""


@pytest.mark.parametrize("ci", ["false", "true"])
def test_needs(tmp_path, ci):
    """A test that needs what isn't here is skipped with the reason; in CI it fails."""
    victim = "from support import needs\n@needs('no-such-thing')\ndef test_x(): pass\n"
    done = run_victim(tmp_path, victim, "-rs", ci=ci)
    if ci == "true":
        assert done.returncode != 0
    else:
        assert "needs no-such-thing: apt-get install no-such-thing" in done.stdout
        assert "1 skipped" in done.stdout


def test_a_leak_fails_the_test(tmp_path):
    """A test that leaves a process running fails, and the process is ended."""
    victim = f"{IMPATIENT}import subprocess\ndef test_x(): subprocess.Popen(['sleep', '3601'])\n"
    done = run_victim(tmp_path, victim)
    assert "sleep 3601" in done.stdout
    assert "1 error" in done.stdout


def test_children_hear_signals(tmp_path):
    """Run in the background or by nohup, where SIGINT and SIGHUP are ignored, children hear them."""
    victim = """
import subprocess, sys
def test_x():
    for name in ("INT", "HUP"):
        assert subprocess.run(["sh", "-c", f"kill -{name} $$"]).returncode < 0
"""
    ignore = ["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"]
    done = run_victim(tmp_path, victim, before=ignore)
    assert "1 passed" in done.stdout, done.stdout


def test_a_hang_fails_the_test(tmp_path):
    """A test that hangs fails, what it waited for is ended, and the next test runs."""
    victim = f"{IMPATIENT}{HANGS}"
    done = run_victim(tmp_path, victim)
    assert "still running after 0.5 s" in done.stdout
    assert "sleep 3602" in done.stdout
    assert "1 failed, 1 passed, 1 error" in done.stdout


def test_libraries(libs):
    """The environment with the real libraries has them."""
    subprocess.run([libs, "-c", "import numpy, requests, pydantic"], check=True)

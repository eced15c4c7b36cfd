"""`zeroin files`: which file it was, whose line, and nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import support
from plain_user import plain_user
from support import needs

LOADS = """\
import os, socket, sys, threading


def load(name):
    try:
        open(name)
    except OSError:
        pass


load("config/shop.yaml")
thread = threading.Thread(target=load, args=("in a thread",))
thread.start()
thread.join()
if os.fork() == 0:
    load("in a child")
    os._exit(0)
os.wait()
line = socket.socket()
line.settimeout(5)
try:
    line.connect(("127.0.0.1", 1))
except OSError:
    pass
sys.exit(4)
"""


@pytest.fixture
def files(zeroin, project):
    def call(*words: str, **options):
        done = zeroin("files", "--json", *words, cwd=project, **options)
        assert done.stdout, done.stderr
        return done, json.loads(done.stdout)

    return call


def named(found) -> dict[str, dict]:
    return {os.path.basename(failure["path"]): failure for failure in found["failures"]}


@needs("strace")
def test_the_line_of_each_failure_over_the_tree(files, project):
    """In the program, a thread, a child, and a connection; the exit code is the command's."""
    (project / "load.py").write_text(LOADS)
    done, found = files("--", "python", "load.py")
    places = {name: failure["place"] for name, failure in named(found).items()}
    for name in ("shop.yaml", "in a thread", "in a child"):
        assert places[name].endswith("load.py:6 in load"), places
    assert places["127.0.0.1:1"].endswith("load.py:22 in <module>")
    assert named(found)["shop.yaml"]["words"] == "no such file or directory"
    assert "config" in named(found)["shop.yaml"]["reason"]
    assert (done.returncode, found["run"]["exit_code"], found["source"]) == (4, 4, "strace")


@needs("strace")
def test_each_interpreter_tells_its_lines(files, project, python):
    """From 3.9 on."""
    (project / "load.py").write_text(LOADS)
    _, found = files("--", python, "load.py")
    assert named(found)["shop.yaml"]["place"].endswith("load.py:6 in load")


@needs("strace")
def test_a_shell_script_is_searched_through(files, project):
    """`./convert.sh`: the file behind "No such file or directory" comes first."""
    script = project / "convert.sh"
    script.write_text("#!/bin/sh\ncat /etc/hostname >/dev/null\ncp raw/pictures.tar out/\n")
    script.chmod(0o755)
    done, found = files("--", "./convert.sh")
    first = found["failures"][0]
    assert (first["error"], first["program"], done.returncode) == (
        "ENOENT",
        "cp raw/pictures.tar out/",
        1,
    )
    assert "raw" in first["path"] or "out" in first["path"]
    assert first["mentioned"]


@needs("strace")
def test_a_plain_start_has_no_failures(files):
    """The interpreter's own looking around is hidden, and shown with --all."""
    _, found = files("--", "python", "-c", "import json, ssl, sqlite3")
    assert found["failures"] == []
    assert found["hidden"] > 10
    _, found = files("--all", "--", "python", "-c", "pass")
    assert any("pyvenv.cfg" in failure["path"] for failure in found["failures"])


@needs("strace")
def test_odd_names_reach_the_report(files, project):
    """A quote, a newline, UTF-8 and bytes that are no text."""
    names = [b'q"uote', b"new\nline", "café".encode(), b"\xff\xfe"]
    (project / "odd.py").write_text(
        f"for name in {names!r}:\n    try: open(name)\n    except OSError: pass\n"
    )
    done, found = files("--", "python", "odd.py")
    paths = {os.path.basename(os.fsencode(f["path"])) for f in found["failures"]}
    assert set(names) <= paths
    (project / "odd.py").write_text(f"open({names[1]!r})")
    assert done.returncode == 0


@needs("strace")
def test_opened_and_written(files, zeroin, project):
    """Both lists, without what is ours."""
    (project / "w.py").write_text(
        "open('train.py').read(); open('made.txt', 'w').write('x')\n"
        "import os; os.rename('made.txt', 'final.txt')\n"
    )
    _, found = files("--", "python", "w.py")
    written = {os.path.basename(one["path"]): one["operation"] for one in found["written"]}
    assert written == {"made.txt": "open to write", "final.txt": "rename"} | {
        name: how
        for name, how in written.items()
        if name == "null" or name.endswith((".pyc", "__pycache__"))
    }
    assert str(project / "train.py") in [one["path"] for one in found["opened"]]
    done = zeroin("files", "--written", "--", "python", "w.py", cwd=project)
    assert "rename" in done.stderr
    assert "lines-" not in done.stderr


@needs("strace")
def test_each_operation_counts_for_itself(files, project):
    """A file that was made, renamed and removed: each of it once."""
    _, found = files("--", "sh", "-c", "echo x > a; mv a b; rm b")
    names = [
        (os.path.basename(one["path"]), one["operation"], one["times"])
        for one in found["written"]
        if one["path"].startswith(str(project))
    ]
    assert names == [("b", "remove", 1), ("b", "rename", 1), ("a", "open to write", 1)]


@needs("strace")
def test_a_tool_that_is_not_there_has_the_line_that_wanted_it(files, project, python):
    """It is the child that fails, before it is another program."""
    (project / "sp.py").write_text(
        "import subprocess\ndef go():\n    subprocess.run(['no-such-tool'])\ngo()\n"
    )
    _, found = files("--", python, "sp.py")
    assert named(found)["no-such-tool"]["place"].endswith("sp.py:3 in go")
    _, found = files("--", "python", "-c", "import subprocess; subprocess.run(['no-such-tool'])")
    assert named(found)["no-such-tool"]["program"].startswith("python -c import")


def test_a_name_that_can_not_be_looked_up(zeroin, project):
    """The answer came, and no call failed: it is said what did."""
    (project / "net.py").write_text(
        "import socket\nraise socket.gaierror(-2, 'Name or service not known')\n"
    )
    done = zeroin("files", "--", "python", "net.py", cwd=project)
    assert "a name could not be looked up: [Errno -2]" in done.stderr
    assert "no file, socket" not in done.stderr


@needs("strace")
def test_it_ends_as_the_command_did(zeroin, project):
    """By its signal; and 127, 126 for what can't be started, without a word of strace's."""
    done = zeroin("files", "--", "sh", "-c", "kill -SEGV $$", cwd=project)
    assert done.returncode == -signal.SIGSEGV
    (project / "data").write_text("no program")
    for word, code in (("no-such-thing", 127), ("./nowhere", 127), ("./data", 126)):
        done = zeroin("files", "--", word, cwd=project)
        assert (done.returncode, "strace" in done.stderr) == (code, False), done.stderr
    (project / "data").chmod(0o755)
    (project / "data").write_text("#!/usr/bin/nopython\n")
    done = zeroin("files", "--", "./data", cwd=project)
    assert (done.returncode, "strace" in done.stderr) == (127, False), done.stderr
    assert "the interpreter in its first line is not" in done.stderr
    (project / "data").write_text("exit 7\n")
    assert zeroin("files", "--", "./data", cwd=project).returncode == 7


@needs("strace")
def test_nothing_is_left_when_the_driver_is_killed(zeroin, project):
    """Neither the command, nor what it has put into the background, nor strace, nor a folder."""
    (project / "go.py").write_text(
        "import subprocess\nsubprocess.Popen(['setsid', 'sleep', '1000'])\n"
        "print('up', flush=True)\ninput()\n"
    )
    words = [*zeroin.driver, "files", "--", "python", "go.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=project, env=zeroin.env, stdin=pipe, stdout=pipe) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"up\n"
        driver.kill()
        driver.wait()
        assert support.left_running(os.environ[support.TEST_ID], set(), patience=20) == {}
    runtime = Path(zeroin.env["XDG_RUNTIME_DIR"])
    assert list(runtime.glob("zeroin-*/*")) == []


@needs("strace")
def test_ctrl_c_reaches_the_command_alone(terminal, zeroin, project):
    """And what failed until then is told."""
    (project / "go.py").write_text(
        "import sys, time\ntry: open('gone.txt')\nexcept OSError: pass\n"
        # Not in one call for long: an interrupt right before it would be seen only after it.
        "try:\n    print('up', flush=True)\n    while True: time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n    print('tidy'); sys.exit(3)\n"
    )
    shown = terminal(
        [*zeroin.driver, "files", "--", "python", "go.py"], cwd=project, env=zeroin.env
    )
    shown.expect("up")
    shown.send("\x03")
    shown.expect("tidy")
    shown.expect("gone.txt")
    assert shown.wait() == 3


@needs("strace")
def test_what_stays_in_the_background_goes_on(zeroin, project):
    """Its calls still work after we are gone, and its log does not pile up unread."""
    (project / "bg.py").write_text(
        "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nnull = os.open('/dev/null', 2)\n"
        "for n in range(3): os.dup2(null, n)\n"
        "while not os.path.exists('go'): time.sleep(0.01)\nopen('after', 'w').write('fine')\n"
    )
    with (project / "said").open("w") as said:  # strace keeps the command's stderr
        done = subprocess.run(
            [*zeroin.driver, "files", "--", "python", "bg.py"],
            cwd=project,
            env=zeroin.env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0
    assert "background processes of it go on" in (project / "said").read_text()
    (project / "go").write_text("")
    until = time.monotonic() + 20
    while not (project / "after").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert support.left_running(os.environ[support.TEST_ID], set(), patience=10) == {}
    assert (project / "after").read_text() == "fine"


@needs("strace")
def test_strace_that_is_a_moment_behind_is_no_background_process(zeroin, project, tmp_path):
    """It holds the command's stderr until it has written its last lines."""
    slow = tmp_path / "slow" / "strace"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nsleep 0.3 &\nexec {shutil.which("strace")} "$@"\n')
    slow.chmod(0o755)
    path = f"{slow.parent}:{zeroin.env['PATH']}"
    done = zeroin("files", "--", "true", cwd=project, env={"PATH": path})
    assert (done.returncode, "background" in done.stderr) == (0, False), done.stderr


# --- a process that runs ----------------------------------------------------------------------

WAITS = """\
import sys
print("up", flush=True)
for line in sys.stdin:
    try: open(line.strip())
    except OSError: pass
    print("tried", flush=True)
"""


@pytest.fixture
def victim(project):
    with subprocess.Popen(
        [support.base_python(), "-c", WAITS],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@needs("strace")
def test_a_process_that_runs_is_watched_and_goes_on(zeroin, project, victim):
    """Until Ctrl-C, with what it failed to open meanwhile."""
    watching = subprocess.Popen(
        [*zeroin.driver, "files", "--json", "-p", str(victim.pid)],
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    status = Path(f"/proc/{victim.pid}/status")
    until = time.monotonic() + 20
    while "TracerPid:\t0\n" in status.read_text() and time.monotonic() < until:
        time.sleep(0.01)
    victim.stdin.write("missing one\n")
    victim.stdin.flush()
    assert victim.stdout.readline() == "tried\n"
    watching.send_signal(signal.SIGINT)
    out, _ = watching.communicate(timeout=30)
    assert "missing one" in named(json.loads(out))
    assert watching.returncode == 0
    assert "TracerPid:\t0\n" in status.read_text()


@needs("strace")
def test_killed_while_watching_it_lets_go(zeroin, project, victim):
    """`kill -9` of the driver leaves no strace, and the process unharmed."""
    command = [*zeroin.driver, "files", "-p", str(victim.pid)]
    watching = subprocess.Popen(command, cwd=project, env=zeroin.env, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{victim.pid}/status")
    until = time.monotonic() + 20
    while "TracerPid:\t0\n" in status.read_text() and time.monotonic() < until:
        time.sleep(0.01)
    watching.kill()
    watching.wait()
    until = time.monotonic() + 20
    while "TracerPid:\t0\n" not in status.read_text() and time.monotonic() < until:
        time.sleep(0.01)
    victim.stdin.write("x\n")
    victim.stdin.flush()
    assert victim.stdout.readline() == "tried\n"


def test_bad_input(zeroin, project):
    """Each with its message and its code."""
    cases = {
        ("files",): (2, "which command?"),
        ("files", "-p", "999999999"): (1, "there is no process 999999999"),
        ("files", "-p", "1", "--", "true"): (2, "either a command or -p"),
        ("files", "--for", "1s", "--", "true"): (2, "--for goes with -p"),
        ("files", "-n", "0", "--", "true"): (2, "-n takes a number"),
    }
    for words, (code, text) in cases.items():
        done = zeroin(*words, cwd=project)
        assert (done.returncode, text in done.stderr) == (code, True), done.stderr


# --- without strace, without rights -------------------------------------------------------------


@pytest.fixture
def without_strace(tmp_path):
    """A PATH on which everything is but strace."""
    folder = tmp_path / "no-strace"
    folder.mkdir()
    for place in support.plain_path().split(os.pathsep):
        for name in os.listdir(place) if os.path.isdir(place) else ():
            if name != "strace" and not (folder / name).exists():
                (folder / name).symlink_to(os.path.join(place, name))
    (folder / "python").unlink(missing_ok=True)
    return str(folder)


def test_without_strace_the_agent_tells(zeroin, project, without_strace, python):
    """What a Python program failed to open; and what to install for the rest."""
    (project / "load.py").write_text(LOADS)
    env = {"PATH": without_strace}
    done = zeroin("files", "--json", "--", python, "load.py", cwd=project, env=env)
    found = json.loads(done.stdout)
    assert (found["source"], done.returncode) == ("agent", 4)
    assert named(found)["shop.yaml"]["place"].endswith("load.py:6 in load")
    done = zeroin("files", "--", python, "load.py", cwd=project, env=env)
    assert "strace is not installed" in done.stderr
    assert "install" in done.stderr.splitlines()[-1]
    done = zeroin("files", "-p", str(os.getpid()), cwd=project, env=env)
    assert (done.returncode, "strace" in done.stderr) == (125, True)


@needs("strace")
def test_as_a_plain_user():
    """Permissions that root would not notice; and another user's process is refused."""
    with plain_user() as user:
        closed = user.folder / "closed"
        closed.mkdir(mode=0o700)
        (closed / "secret.txt").write_text("x")
        if not os.geteuid():
            os.chown(closed, 0, 0)
        else:
            closed.chmod(0)
        script = user.folder / "go.py"
        script.write_text("try: open('closed/secret.txt')\nexcept OSError: pass\n")
        done = user.zeroin("files", "--json", "--no-record", "--", user.python, "go.py")
        failure = named(json.loads(done.stdout))["secret.txt"]
        assert failure["error"] == "EACCES"
        assert f"the folder {closed} is d" in failure["reason"]
        assert failure["place"].endswith("go.py:1 in <module>")
        if os.stat("/proc/1").st_uid != user.uid:
            done = user.zeroin("files", "-p", "1")
            assert (done.returncode, "belongs to root" in done.stderr) == (1, True), done.stderr
        closed.chmod(0o700)


def test_the_interpreter_is_ours():
    """The tests above run the Pythons they mean to."""
    assert sys.version_info >= (3, 11)


def test_the_text_of_c_is_no_file(zeroin, project):
    """A traceback looks for lines of `<string>`: that says nothing about the program."""
    code = "open('missing file.txt')"
    done = zeroin("files", "--", "python", "-c", code, cwd=project)
    assert "missing file.txt" in done.stderr + done.stdout
    assert "<string>: open" not in done.stderr + done.stdout

"""What a killed zeroin leaves: nothing that it does not remove, or that the next one does not."""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import time

import pytest

import support

SLOW = "import os, sys, time\nprint(os.getcwd(), flush=True)\ntime.sleep(60)\n"


def wait_until(is_so, what):
    """Wait for something, for half a minute at most."""
    until = time.monotonic() + 30
    while not is_so() and time.monotonic() < until:
        signal.sigtimedwait([], 0.02)
    assert is_so(), what


def names_in(folder):
    """What is there, without a name that is ours for good."""
    return sorted(os.listdir(folder))


@pytest.mark.limit(60)
def test_again_with_code_takes_its_copy_along(somebody):
    """After `kill -9` the copy of the code is gone, and so is the program that ran in it."""
    (somebody.project / "train.py").write_text(SLOW)
    somebody.own()
    first = somebody.start("run", "--", "python", "train.py")
    assert first.stdout is not None
    first.stdout.readline()
    first.terminate()
    first.communicate()
    process = somebody.start("again", "1", "--code")
    assert process.stdout is not None
    copy = process.stdout.readline().strip()
    assert copy.startswith(f"{somebody.base}/tmp/zeroin-again-")
    assert os.path.exists(f"{copy}/train.py")
    process.kill()
    process.communicate()
    wait_until(lambda: not os.path.exists(copy), "the copy is still there")
    wait_until(lambda: not names_in(somebody.base / "tmp"), "its folder is still there")


def test_again_with_code_that_is_damaged(project, zeroin):
    """A snapshot that can't be checked out is said so, with what to do; not a bug of ours."""
    zeroin("run", "-q", "--", "true", cwd=project)
    for path in glob.glob(f"{project}/.zeroin/code.git/objects/*/*"):
        os.chmod(path, 0o600)
        with open(path, "wb") as file:
            file.write(b"rubbish")
    objects = glob.glob(f"{project}/.git/objects/??/*")
    for path in objects:
        os.chmod(path, 0o600)
        with open(path, "wb") as file:
            file.write(b"rubbish")
    done = zeroin("again", "1", "--code", cwd=project)
    assert (done.returncode, "can't be checked out" in done.stderr) == (1, True), done.stderr
    assert zeroin("again", "1", cwd=project).returncode == 0


def groups_of(pid):
    """Control groups that the limits of a run have made."""
    return glob.glob(f"/sys/fs/cgroup/**/zeroin-limit-{pid}-*", recursive=True)


# Kills the driver when it is about to open, make or remove something for a limit, at the nth time.
DIES = """\
import os, signal, sys
how = int(os.environ.get("HOW", signal.SIGKILL))
left = [int(os.environ["AT_CALL"])]
def heard(event, args):
    if event in ("open", "os.mkdir", "os.rmdir") and os.environ["ABOUT"] in str(args[0]):
        left[0] -= 1
        if not left[0] and os.getpid() == first:
            os.kill(first, how)
first = os.getpid()
sys.addaudithook(heard)
"""


def kill_at_calls(zeroin, project, tmp_path, about, *limits, how=signal.SIGKILL):
    """Kill a run under limits at each of its calls about something; yields the killed drivers."""
    hook = tmp_path / "hook"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(DIES)
    for number in range(1, 40):
        env = {"PYTHONPATH": f"{hook}:{support.SRC}", "AT_CALL": str(number), "ABOUT": about}
        env["HOW"] = str(int(how))
        process = subprocess.Popen(
            [*zeroin.driver, "run", *limits, "--", "true"],
            cwd=project,
            env=zeroin.env | env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        process.communicate(timeout=60)
        if process.returncode == 0:
            return
        yield process.pid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups without systemd")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_groups_of_a_killed_driver(project, zeroin, tmp_path, how):
    """Killed at any moment at which groups are made, set or removed: whoever watches removes them."""
    limits = ("--limit", "memory=500M", "--limit", "processes=200", "--limit", "cpu=50%")
    killed = 0
    for pid in kill_at_calls(zeroin, project, tmp_path, "zeroin-limit-", *limits, how=how):
        wait_until(lambda pid=pid: not groups_of(pid), "a group is still there")
        killed += 1
    assert killed > 4


def test_folders_of_a_killed_driver(project, zeroin, tmp_path):
    """Likewise of folders that a disk limit makes, because they are not there, and takes away."""
    killed = 0
    for _ in kill_at_calls(zeroin, project, tmp_path, "/newly", "--limit", "disk=newly/made:1M"):
        wait_until(lambda: not (project / "newly").exists(), "a folder is still there")
        killed += 1
    assert killed > 2


def test_socket_folder_of_a_zombie(project, zeroin):
    """Its owner has ended and nobody has waited for it: the next run removes the folder."""
    process = subprocess.Popen(
        [*zeroin.driver, "run", "-q", "--", "sh", "-c", "echo $ZEROIN_AGENT; sleep 0.3"],
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    folder = os.path.dirname(process.stdout.readline().strip())
    os.kill(process.pid, signal.SIGKILL)
    process.stdout.read()  # until its command has ended as well
    assert os.path.isdir(folder)  # and it is a zombie of ours
    zeroin("run", "-q", "--", "true", cwd=project)
    assert not os.path.exists(folder)
    process.wait()
    process.stdout.close()


def test_search_that_has_answered_leaves_no_file(project, zeroin):
    """What `bisect` keeps to go on with is gone with the answer, its folders as well."""
    (project / "good.toml").write_text("a = 1\n")
    (project / "bad.toml").write_text("a = 2\n")
    (project / "reads.py").write_text("import sys\nassert 'a = 1' in open(sys.argv[1]).read()\n")
    words = ("bisect", "settings", "good.toml", "bad.toml", "--json")
    done = zeroin(*words, "--", "python", "reads.py", "bad.toml", cwd=project)
    assert json.loads(done.stdout)["verdict"] == "found"
    assert not (project / ".zeroin/bisect").exists()


def test_temporary_files_of_tiny(project, zeroin, tmp_path):
    """Packed files are unpacked into a folder that goes with us, also after `kill -9`."""
    temps = tmp_path / "temps"
    temps.mkdir()
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "def heard(event, args):\n"
        "    if event == 'open' and str(args[0]).endswith('rows.npz'):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(heard)\n"
    )
    zeroin("fake", "x:float32[40,3]", "-o", "rows.npz.gz", cwd=project)
    env = {"PYTHONPATH": f"{hook}:{support.SRC}", "TMPDIR": str(temps)}
    done = zeroin("tiny", "data", "rows.npz.gz", "-n", "2", cwd=project, env=env)
    assert done.returncode == -9, done.stderr
    wait_until(lambda: not names_in(temps), "a temporary file is still there")


@pytest.mark.parametrize("prints", [True, False])
def test_command_after_its_zeroin_was_killed(somebody, prints):
    """It goes on until it prints: then nobody reads, and SIGPIPE ends it, as docs/explain says."""
    told = somebody.base / "tmp/told"
    line = "echo more" if prints else "true"
    script = f"echo up; while [ ! -e {told}.go ]; do sleep 0.02; done; {line}; echo end > {told}"
    process = somebody.start("run", "-q", "--", "bash", "-c", script)
    assert process.stdout is not None
    process.stdout.readline()
    (pid,) = [one for one in children_of(process.pid) if "told" in command_line(one)]
    process.kill()
    process.communicate()
    (somebody.base / "tmp/told.go").touch()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "it still runs")
    assert told.exists() is not prints


def children_of(pid):
    """The processes that it has started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(one) for one in file.read().split()]


def command_line(pid):
    """What a process was started with."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode(errors="replace")

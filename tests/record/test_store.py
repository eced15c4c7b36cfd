"""The store: there before the command, whole after any death, shared by many."""

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

import support
from zeroin.agent import hooks
from zeroin.errors import StoreError, UsageError
from zeroin.observe import stacks
from zeroin.record import place
from zeroin.record.store import VERSION, Store


def begin(store, **more):
    fields = {
        "started": time.time(),
        "command": ["x"],
        "program": "x",
        "cycle": "c",
        "cwd": "/",
        "root": None,
        "settings": {},
        "driver": "1",
    }
    return store.begin(**fields | more)


def test_attempts_are_numbered_and_found(tmp_path):
    """Numbers, last, last-failed, last-passed."""
    store = Store(str(tmp_path / "s"))
    for outcome in ("passed", "failed", "passed", None):
        signature = "E" if outcome == "failed" else None
        store.update(begin(store), outcome=outcome, signature=signature)
    found = [store.resolve(name).id for name in ("2", "#2", "last", "last-failed", "last-passed")]
    assert found == [2, 2, 4, 2, 3]
    store.close()


@pytest.mark.parametrize("name", ["x", "-1", "1.5", "٣", "9" * 30])
def test_odd_names_are_usage_errors(tmp_path, name):
    """What can't name an attempt is said, not crashed on."""
    store = Store(str(tmp_path / "s"))
    with pytest.raises(UsageError):
        store.resolve(name)
    store.close()


def test_missing_ones_are_answers(tmp_path):
    """A number nobody has, and a record nobody made."""
    store = Store(str(tmp_path / "s"))
    with pytest.raises(StoreError, match="no attempt 7"):
        store.resolve("7")
    store.close()
    with pytest.raises(StoreError, match="nothing has been recorded"):
        Store(str(tmp_path / "none"), create=False)


def test_equal_values_are_kept_once(tmp_path):
    """A thousand attempts with one environment hold it once; odd text comes back."""
    store = Store(str(tmp_path / "s"))
    value = {"PATH": "/bin", "ODD": "\udc80 é \x00"}
    names = {store.put(value) for _ in range(3)}
    assert len(names) == 1
    assert store.get(names.pop()) == value
    store.close()


def test_the_record_is_private_and_git_never_sees_it(project, zeroin):
    """Mode 0600, and `git status` stays clean."""
    zeroin("run", "--", "true", cwd=project)
    assert stat.S_IMODE((project / ".zeroin/store.db").stat().st_mode) == 0o600
    status = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == ""


def test_newer_and_older_stores(tmp_path, project, zeroin):
    """A newer one is not touched: `log` says what to do, `run` still runs the command."""
    zeroin("run", "--", "true", cwd=project)
    path = project / ".zeroin/store.db"
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.close()
    before = path.read_bytes()
    log = zeroin("log", cwd=project)
    assert (log.returncode, "newer zeroin" in log.stderr, "upgrade" in log.stderr) == (
        1,
        True,
        True,
    )
    done = zeroin("run", "--", "echo", "ran", cwd=project)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "not recorded" in done.stderr
    assert path.read_bytes() == before


def test_damaged_store(project, zeroin):
    """The command still runs, and the message names the file and the way out."""
    (project / ".zeroin").mkdir()
    (project / ".zeroin/store.db").write_bytes(b"not a database at all" * 100)
    done = zeroin("run", "--", "echo", "ran", cwd=project)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "damaged" in done.stderr


def test_several_runs_at_once(project, zeroin):
    """Twelve at a time: all recorded, all different numbers."""
    command = [*zeroin.driver, "run", "-q", "--", "sh", "-c", "exit 3"]
    processes = [
        subprocess.Popen(command, cwd=project, env=zeroin.env, stderr=subprocess.DEVNULL)
        for _ in range(12)
    ]
    assert [p.wait(60) for p in processes] == [3] * 12
    rows = [json.loads(line) for line in zeroin("log", "--json", cwd=project).stdout.splitlines()]
    assert sorted(row["id"] for row in rows) == list(range(1, 13))
    assert {row["outcome"] for row in rows} == {"failed"}


@pytest.mark.slow
def test_kill_minus_nine_at_any_moment(project, zeroin):
    """Forty recorders die at random moments: the store stays sound, no attempt is half."""
    chance = random.Random(4)
    command = [*zeroin.driver, "run", "--", "sh", "-c", "echo hello; exit 3"]
    for _ in range(40):
        process = subprocess.Popen(
            command,
            cwd=project,
            env=zeroin.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(chance.uniform(0.0, 0.35))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    last = zeroin("run", "--", "sh", "-c", "exit 3", cwd=project)
    assert "✗ attempt" in last.stderr
    with sqlite3.connect(project / ".zeroin/store.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    rows = [
        json.loads(line)
        for line in zeroin("log", "--json", "-n", "0", cwd=project).stdout.splitlines()
    ]
    for row in rows:
        whole = (row["outcome"], row["exit_code"], row["signature"] is not None)
        assert whole in {("failed", 3, True), ("unfinished", None, False)}
        assert zeroin("show", str(row["id"]), cwd=project).returncode == 0


def test_killed_recorder_leaves_unfinished(project, zeroin):
    """The row is there before the command, so a recorder that dies leaves a trace."""
    command = [*zeroin.driver, "run", "--", "sh", "-c", "echo up; exec cat"]
    process = subprocess.Popen(
        command,
        cwd=project,
        env=zeroin.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "up\n"
    assert "running" in zeroin("log", cwd=project).stdout
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert "unfinished" in zeroin("log", cwd=project).stdout
    assert "up" in zeroin("show", "--output", cwd=project).stdout


def in_small_filesystem(project, zeroin, size, script):
    """Run shell lines with the project's .zeroin on a file system of that size."""
    (project / ".zeroin").mkdir(exist_ok=True)
    lines = f"mount -t tmpfs -o size={size} none .zeroin && {script}"
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", lines],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        if support.IN_CI:
            pytest.fail(done.stderr)
        pytest.skip("needs user namespaces: zeroin doctor tells how")
    return done


@pytest.mark.parametrize("size", ["4k", "48k", "100k", "400k"])
def test_full_disk(project, zeroin, size):
    """The program runs as ever, its exit code is passed on, and there is a warning, not a crash."""
    driver = " ".join(zeroin.driver)
    program = "python -c 'print(\"x\" * 3000000)'; exit 3"
    done = in_small_filesystem(
        project,
        zeroin,
        size,
        f"{driver} run -- sh -c '{program.replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))}'",
    )
    assert done.returncode == 3
    assert len(done.stdout) == 3_000_001
    assert done.stderr.count("warning:") == 1
    assert "Traceback" not in done.stderr


def test_read_only_project(project, zeroin):
    """Recorded in the state folder of the user instead; `log` finds it there."""
    driver = " ".join(zeroin.driver)
    lines = f"mount --bind -o ro . . && cd . && {driver} run -- echo ran && {driver} log"
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", lines],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        if support.IN_CI:
            pytest.fail(done.stderr)
        pytest.skip("needs user namespaces: zeroin doctor tells how")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "ran")
    assert "passed" in done.stdout
    assert os.listdir(zeroin.env["XDG_STATE_HOME"] + "/zeroin/projects")
    assert not (project / ".zeroin").exists()


def test_outside_of_a_project(tmp_path, zeroin):
    """The record lies in the state folder, and the folder stays clean."""
    folder = tmp_path / "loose"
    folder.mkdir()
    (folder / "a.py").write_text("raise KeyError('x')\n")
    done = zeroin("run", "--", "python", "a.py", cwd=folder)
    assert "attempt 1 failed" in done.stderr
    assert os.listdir(folder) == ["a.py"]
    (folder / "a.py").write_text("raise KeyError('y')\n")
    again = zeroin("run", "--", "python", "a.py", cwd=folder)
    assert "changed since 1: a.py (+1 −1)" in again.stderr


def test_root_is_found_like_gits(tmp_path):
    """From any folder below; never the home folder itself."""
    (tmp_path / "home/p/a/b").mkdir(parents=True)
    (tmp_path / "home/p/pyproject.toml").touch()
    (tmp_path / "home/.git").mkdir()
    home = str(tmp_path / "home")
    assert place.find_root(f"{home}/p/a/b", home) == f"{home}/p"
    (tmp_path / "home/loose").mkdir()
    assert place.find_root(f"{home}/loose", home) is None


def test_gc_keeps_the_newest(project, zeroin):
    """The oldest attempts go, the last twenty stay, and the rest is still whole."""
    for _ in range(24):
        zeroin("run", "-q", "--", "head", "-c", "200000", "/dev/zero", cwd=project)
    report = json.loads(zeroin("gc", "--to", "1k", "--json", cwd=project).stdout)
    assert report["removed"] == [4, 3, 2, 1] or sorted(report["removed"]) == [1, 2, 3, 4]
    assert report["after"] < report["before"]
    assert sorted(int(n) for n in os.listdir(project / ".zeroin/attempts")) == list(range(5, 25))
    assert zeroin("diff", "5", "24", cwd=project).returncode == 0
    assert zeroin("run", "--", "true", cwd=project).returncode == 0
    assert "nothing to take" in zeroin("gc", cwd=project).stdout


def test_the_default_bound_is_kept_by_itself(project, zeroin):
    """Every fiftieth attempt looks; nobody has to remember."""
    (project / "pyproject.toml").write_text("[tool.zeroin]\nstore_max = '1M'\n")
    zeroin("trust", cwd=project)
    store = Store(str(project / ".zeroin"))
    for _ in range(49):
        begin(store)
    store.close()
    folder = project / ".zeroin/attempts/1"
    folder.mkdir(parents=True)
    (folder / "0").write_bytes(b"x" * 3_000_000)
    zeroin("run", "--", "true", cwd=project)
    assert not folder.exists()


def test_signal_constants():
    """The agent and the observer mean the same signal."""
    assert hooks.STACKS_SIGNAL == stacks.STACKS_SIGNAL
    assert signal.SIGRTMIN < hooks.STACKS_SIGNAL < signal.SIGRTMAX
    assert sys.platform == "linux"

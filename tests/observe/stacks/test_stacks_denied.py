"""Processes that we may not look into: why, and the command that helps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import support
from plain_user import plain_user
from zeroin.observe.stacks import denied


@pytest.fixture
def user():
    with plain_user() as found:
        yield found


@pytest.fixture
def without_py_spy(tmp_path):
    """The words that run zeroin in an environment that lacks py-spy."""
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    (site,) = bare.glob("lib/python*/site-packages")
    (site / "z.pth").write_text(f"{support.SRC}\n")
    return [str(bare / "bin/python"), "-m", "zeroin"]


def test_roots_process_seen_by_a_plain_user(stuck, user):
    """Whose it is, who we are, and the very command for root; exit code 1."""
    if os.geteuid():
        pytest.skip("needs root")
    pid = stuck.start("import time\ntime.sleep(1000)\n").pid
    stuck.until(pid, "sleeps")
    spy = Path(sys.executable).parent / "py-spy"
    folder = user.folder / "bin"
    folder.mkdir()
    (folder / "py-spy").write_bytes(spy.read_bytes())
    (folder / "py-spy").chmod(0o755)
    path = f"{folder}:{support.plain_path()}"
    done = user.zeroin("stacks", str(pid), "--json", PATH=path)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    (one,) = found["processes"]
    assert one["why_not"] == f"it is root's, and you are {user.name}"
    assert one["remedy"].endswith(f"stacks {pid}'") or one["remedy"].endswith(f"stacks {pid}")
    assert one["failed"]["py-spy"].startswith("Permission Denied")
    shown = user.zeroin("stacks", str(pid), PATH=path).stdout
    assert f"no stack of pid {pid}: it is root's, and you are {user.name}" in shown
    # The command that is printed works for root as it stands.
    remedy = one["remedy"].removeprefix("sudo ")
    if remedy.startswith("su -c "):
        as_root = subprocess.run(
            ["sh", "-c", f"{remedy} root"],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PATH": path},
        )
        assert f"pid {pid} sleeps at prog.py:2" in as_root.stdout, as_root.stderr


def test_a_plain_users_own_process(user):
    """Without any right: py-spy or the remedy for this machine."""
    with subprocess.Popen(
        [user.python, "-c", "import time; print(1, flush=True); time.sleep(1000)"],
        stdout=subprocess.PIPE,
        env=user.env,
        cwd=user.folder,
        **user.identity,
    ) as process:
        try:
            process.stdout.readline()
            done = user.zeroin("stacks", str(process.pid), "--json")
        finally:
            process.kill()
    found = json.loads(done.stdout)
    (one,) = found["processes"]
    assert one["source"] or one["remedy"], found


@pytest.mark.parametrize(
    ("scope", "why", "remedy"),
    [
        ("1", "only parents may look", "echo 0 | "),
        ("2", "only root may look", "stacks 17"),
        ("3", "until the machine starts anew", "zeroin stacks -- COMMAND"),
    ],
)
def test_yama(monkeypatch, tmp_path, scope, why, remedy):
    """Each of its settings has a remedy of its own; the real file is not ours to write."""
    (tmp_path / "scope").write_text(f"{scope}\n")
    monkeypatch.setattr(denied, "YAMA", str(tmp_path / "scope"))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = denied._own(17, "sudo zeroin stacks 17")
    assert why in found.why
    assert remedy in found.remedy


def test_a_process_that_has_vanished():
    """It is said so, and there is nothing to type."""
    with subprocess.Popen(["true"]) as gone:
        pass
    found = denied.why(gone.pid, "Permission denied")
    assert found == ("it has ended while we looked", "")


def test_no_such_process_and_no_such_name(zeroin):
    """What happened, and what to type next."""
    with subprocess.Popen(["true"]) as gone:
        pass
    done = zeroin("stacks", str(gone.pid))
    assert done.returncode == 1
    assert f"there is no process {gone.pid}" in done.stderr
    assert f"zeroin why -p {gone.pid}" in done.stderr
    done = zeroin("stacks", "nothing-has-this-name.py")
    assert done.returncode == 1
    assert "no Python runs with 'nothing-has-this-name.py' in its command" in done.stderr


def test_a_program_that_is_no_python(stuck):
    """It is looked at as far as the kernel tells; there is no stack to show: exit code 1."""
    pid = stuck.run("sleep", "1000").pid
    found = stuck.until(pid, lambda f: f.get("processes"))
    assert found["processes"][0]["source"] is None
    assert stuck.zeroin("stacks", str(pid)).returncode == 1


@pytest.mark.needs("gdb")
@pytest.mark.slow
def test_gdb_where_py_spy_does_not_do(stuck, without_py_spy):
    """The last resort, for a program that zeroin did not start: Python's frames or those in C."""
    if os.geteuid():
        pytest.skip("needs root")
    pid = stuck.start("import time\ndef work():\n    time.sleep(1000)\nwork()\n").pid
    stuck.until(pid, "sleeps")
    done = stuck.zeroin(
        *("stacks", str(pid), "--json"), driver=without_py_spy, env={"PATH": "/usr/bin:/bin"}
    )
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["processes"][0]["source"] == "gdb"
    names = [frame["name"] for frame in found["groups"][0]["frames"]]
    assert "work" in names or any("nanosleep" in name for name in names)


@pytest.mark.slow
def test_without_py_spy_the_agent_tells_in_another_terminal(stuck, zeroin, without_py_spy):
    """A program under `zeroin run` is looked at from outside of that run."""
    (stuck.folder / "prog.py").write_text(
        "import time\ndef work():\n    time.sleep(1000)\nwork()\n"
    )
    run = stuck.run(*zeroin.driver, "run", "--", support.base_python(), "prog.py")
    stuck.until(run.pid, "sleeps at prog.py:3")
    done = zeroin(
        "stacks",
        *(str(run.pid), "--json"),
        driver=without_py_spy,
        env={"PATH": f"{support.tools_of(zeroin.base)}:/usr/bin:/bin"},
    )
    found = json.loads(done.stdout)
    told = [p for p in found["processes"] if p["source"] == "faulthandler"]
    assert len(told) == 1
    assert told[0]["failed"] == {"py-spy": "py-spy is not installed"}
    assert found["verdict"].endswith("sleeps at prog.py:3 work()")

"""Ctrl-C at any moment: no traceback of ours, exit code 130; and a program hears it once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import support

# Sends Ctrl-C to this process when so many modules of zeroin are about to be loaded.
AT_AN_IMPORT = """\
import os, signal, sys
left = [int(os.environ["AT_IMPORT"])]
def heard(event, args):
    if event == "import" and args[0].partition(".")[0] == "zeroin":
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(heard)
"""
PROGRAM = """\
import signal, sys, time
heard = []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, lambda number, _: heard.append(number))
print("up", flush=True)
sys.stdin.readline()
print(*map(int, heard), flush=True)
"""


@pytest.mark.parametrize("words", [("log",), ("run", "-q", "--", "true"), ("fake", "a:int")])
def test_interrupt_while_loading(zeroin, project, tmp_path, words):
    """From our first line on, whatever is being loaded: not a word, and exit code 130."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/sitecustomize.py").write_text(AT_AN_IMPORT)
    driver = [support.drivers()[f"3.{sys.version_info[1]}"], "-m", "zeroin"]
    path = f"{tmp_path / 'hook'}:{support.SRC}"
    seen = []
    for number in range(3, 60):  # before that nothing of ours has run but what arranges this
        env = {"PYTHONPATH": path, "AT_IMPORT": str(number)}
        done = zeroin(*words, cwd=project, env=env, driver=driver)
        assert "Traceback" not in done.stderr, (number, done.stderr)
        if done.returncode != 130:
            break
        seen.append(number)
        assert done.stderr.strip() == ""
    assert len(seen) > 5


def test_second_interrupt_while_ending(zeroin, project):
    """A user who presses Ctrl-C twice sees no traceback either."""
    process = subprocess.Popen(
        [*zeroin.driver, "watch", "-n", "10s", "--", "date"],
        cwd=project,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
@pytest.mark.parametrize("whole_group", [True, False], ids=["group", "alone"])
def test_program_hears_a_signal_once(somebody, number, whole_group):
    """Sent to the process group or to zeroin alone, without a terminal: one signal is one."""
    (somebody.project / "hears.py").write_text(PROGRAM)
    process = somebody.start(
        *("run", "-q", "--", "python", "hears.py"),
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    for _ in range(2):  # a second one of the same kind counts as well
        (os.killpg if whole_group else os.kill)(process.pid, number)
        while not _is_delivered(process.pid, number):
            signal.sigtimedwait([], 0.01)
    out, _ = process.communicate("go on\n", timeout=30)
    assert out == f"{int(number)} {int(number)}\n"


def _is_delivered(driver: int, number: int) -> bool:
    """Whether the driver has taken it: it is blocked there, and waits until it is looked for."""
    with open(f"/proc/{driver}/status", encoding="ascii") as file:
        waiting = next(line for line in file if line.startswith("ShdPnd:")).split()[1]
    return not int(waiting, 16) >> (number - 1) & 1


def test_witness_leaves_with_us(somebody):
    """The process that hears signals to the group ends with zeroin, also after `kill -9`."""
    process = somebody.start("run", "-q", "--", "sleep", "1", start_new_session=True)
    while not (found := _of_session(process.pid)):
        signal.sigtimedwait([], 0.01)
    process.kill()
    process.communicate()
    while found & _of_session(process.pid):  # the test has a time limit
        signal.sigtimedwait([], 0.02)


def _of_session(session: int) -> set[int]:
    found = set()
    for pid in support.processes():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z" and pid != session:
            found.add(pid)
    return found

"""`watch` on a terminal: what it paints, its keys, and the terminal as it was afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios

import pytest

BUSY = "import sys; held = bytearray(120_000_000); held[:] = b'x' * len(held); print(flush=True); sys.stdin.read()"
LEAVE = "\x1b[?1049l"


@pytest.fixture
def program(tmp_path):
    """Start a program that holds 120 MB, of that name; it ends with its input."""
    started = []

    def start(name, *args, env=None):
        script = tmp_path / name
        script.write_text(BUSY)
        process = subprocess.Popen(
            [sys.executable, str(script), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | (env or {}),
        )
        process.stdout.readline()
        started.append(process)
        return process

    yield start
    for process in started:
        process.communicate("")


def test_it_comes_it_is_shown_it_ends(watch, program):
    """Waiting, then the row with its memory, then the end with its peak; q prints the peaks."""
    shown = watch("zw-late.py", cols=130)
    shown.until("waiting for 'zw-late.py'")
    process = program("zw-late.py", "--lr", "0.1")
    shown.until(lambda s: re.search(rf"{process.pid} +0\.1\d GB .*zw-late.py --lr 0.1", s.text))
    process.communicate("")
    shown.until(lambda s: re.search(rf"{process.pid} ended after .* peak 0\.\d\d GB", s.text))
    shown.until("all have ended")
    shown.terminal.send("q")
    assert shown.ended() == 0
    last = shown.raw.rpartition(LEAVE)[2]
    assert re.search(rf"{process.pid}  peak 0\.\d\d GB, ended after", last)
    assert "\x1b" not in last


@pytest.mark.parametrize("how", ["q", "ctrl-c", "term", "hup"])
def test_the_terminal_is_as_it_was(watch, how):
    """The first screen, the cursor, wrapping, echo and lines: whatever ended it."""
    shown = watch("memory")
    fd = shown.terminal.process.child_fd
    before = termios.tcgetattr(fd)
    shown.until("machine")
    assert not termios.tcgetattr(fd)[3] & termios.ECHO
    if how == "q":
        shown.terminal.send("q")
    elif how == "ctrl-c":
        shown.terminal.send("\x03")
    else:
        os.kill(shown.terminal.process.pid, getattr(signal, f"SIG{how.upper()}"))
    code = shown.ended()
    assert code == {"q": 0, "ctrl-c": 0, "term": -signal.SIGTERM, "hup": -signal.SIGHUP}[how]
    for sequence in (LEAVE, "\x1b[?25h", "\x1b[?7h"):
        assert sequence in shown.raw
    assert "memory: at most" in shown.raw.rpartition(LEAVE)[2]
    assert before[3] & termios.ECHO


def test_modes_are_put_back(watch, zeroin):
    """The shell that comes after has its echo."""
    words = " ".join(zeroin.driver)
    shown = watch(words=["bash", "-c", f"{words} watch memory; stty -a; read line; echo got $line"])
    shown.until("machine")
    shown.terminal.send("q")
    shown.until(lambda s: " echo " in s.text and " icanon" in s.text)
    shown.terminal.send("word\r")
    shown.until("got word")


def test_the_size_of_the_window(watch):
    """Side by side where it is wide, below one another where it is narrow, and never too long."""
    shown = watch("memory", "cpu", rows=20, cols=120)
    shown.until(lambda s: "── memory" in s.lines[2] and "── cpu" in s.lines[2])
    shown.resize(24, 60)
    shown.until(lambda s: "── memory" in s.lines[2] and s.lines[5].startswith("── cpu"))
    shown.resize(6, 20)
    shown.until(lambda s: s.lines[2].startswith("── memory ─"))
    shown.terminal.send("q")
    assert shown.ended() == 0


def test_keys(watch, program):
    """Help, another order, a pause; arrows are no keys of ours."""
    program("zw-keys.py")
    shown = watch("zw-keys.py", cols=140)
    shown.until("by memory")
    shown.terminal.send("s")
    shown.until("by cpu")
    shown.terminal.send("\x1b[A\x1bOB")
    shown.terminal.send("?")
    shown.until("forget peaks: they count from now on")
    shown.terminal.send("x")
    shown.until(lambda s: "zw-keys.py" in s.lines[4] and "they count" not in s.text)
    shown.terminal.send(" ")
    shown.until("PAUSED")
    shown.terminal.send(" ")
    shown.until(lambda s: "PAUSED" not in s.text)
    shown.terminal.send("+")
    shown.until("every 1 s")
    shown.terminal.send("p")
    shown.terminal.send("q")
    assert shown.ended() == 0


def test_ctrl_z_and_fg(watch, zeroin):
    """Stopped as any program is, with the shell's screen; then on again."""
    words = " ".join(zeroin.driver)
    shown = watch(words=["bash", "--norc", "-i"], env={"PS1": "PROMPT> "})
    shown.until("PROMPT>")
    shown.terminal.line(f"{words} watch memory")
    shown.until("machine")
    shown.terminal.send("\x1a")
    shown.until("Stopped")
    assert LEAVE in shown.raw
    shown.raw = ""
    shown.terminal.line("fg")
    shown.until(lambda s: "\x1b[?1049h" in s.raw and "machine" in s.text)
    shown.terminal.send("q")
    shown.until("watched for")


def test_ctrl_z_stops_plain_lines_too(watch, zeroin):
    """There is no screen to give back, but a program to stop."""
    words = " ".join(zeroin.driver)
    shown = watch(words=["bash", "--norc", "-i"], env={"PS1": "PROMPT> "})
    shown.until("PROMPT>")
    shown.terminal.line(f"{words} watch memory --plain")
    shown.until("machine")
    shown.terminal.send("\x1a")
    shown.until("Stopped")
    shown.terminal.line("kill %1; fg")
    shown.until("watched for")


def test_a_signal_ends_the_command_as_well(watch):
    """Nothing is left running: a fixture looks for it."""
    shown = watch("--", "sh", "-c", "trap '' TERM; echo up; sleep 1000")
    shown.until("up")
    os.kill(shown.terminal.process.pid, signal.SIGTERM)
    assert shown.ended() == -signal.SIGTERM


def test_what_a_command_changes_is_reversed(watch, tmp_path):
    """Only the characters that are others than before; and its exit code is told."""
    state = tmp_path / "state"
    state.write_text("loss 0.51\nsame\n")
    shown = watch("-n", "50ms", "--", "cat", "state", cwd=tmp_path)
    shown.until("loss 0.51")
    state.write_text("loss 0.47\nsame\n")
    shown.until(lambda s: "loss 0.47" in s.lines[3] and s.reversed_at(3) == "47")
    assert shown.reversed_at(4) == ""
    state.unlink()
    shown.until("exit code 1")
    shown.terminal.send("q")
    assert shown.ended() == 0


def test_keys_work_while_a_command_is_slow(watch):
    """It is told for how long it runs; leaving ends it."""
    shown = watch("--", "sleep", "1000")
    shown.until(lambda s: re.search("running for [1-9]", s.text))
    shown.terminal.send("q")
    assert shown.ended() == 0


def test_command_lines_do_not_steer_the_terminal(watch, program):
    """Control characters are shown as what they are; wide ones keep the columns."""
    program("zw-odd.py", "\x1b[2Jgone", "漢字漢字", "a\nb")
    shown = watch("zw-odd.py", cols=160)
    shown.until(lambda s: "\\x1b[2Jgone 漢" in s.text.replace(" 漢 ", " 漢"))
    assert "a\\nb" in shown.text
    shown.terminal.send("q")
    assert shown.ended() == 0


def test_in_any_locale(watch):
    """ASCII where there is nothing else; and without colours where none are wanted."""
    shown = watch(
        "memory",
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "NO_COLOR": "1"},
    )
    shown.until("-- memory ---")
    assert shown.raw.isascii()
    assert not re.search(r"\x1b\[[0-9;]*m", shown.raw)
    shown.terminal.send("q")
    assert shown.ended() == 0


def test_gpus_and_who_holds_them(watch, smi, program):
    """By a stand-in for nvidia-smi; the panel of processes knows their GPU memory, too."""
    env, holders = smi
    process = program("zw-gpu.py", env={"RANK": "2"})
    holders.write_text(f"GPU-aaaa, {process.pid}, 12000\n")
    shown = watch("gpu", "zw-gpu.py", env=env, cols=120, rows=40)
    shown.until("12.94 GB of 25.77 GB · 87 % busy")
    shown.until(lambda s: re.search(rf"{process.pid} +2 .* 12.58 GB ", s.text))
    assert "Imaginary" in shown.text
    assert "61 °C, 250 W" in shown.text
    shown.terminal.send("q")
    assert shown.ended() == 0
    assert re.search(rf"{process.pid} rank 2  peak .*, GPU 12.58 GB", shown.raw)


def test_no_gpu_is_said_and_the_rest_goes_on(watch):
    """Nothing ends for it."""
    shown = watch("gpu", "memory", env={"PATH": "/nowhere"})
    shown.until("no GPU here")
    shown.until("machine")
    shown.terminal.send("q")
    assert shown.ended() == 0

"""`--pause-at-peak`: the whole tree stands still at that memory, and goes on when it is told."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import ClassVar

import pytest

import support
from zeroin.cycle import Cycle
from zeroin.fronts import pause_text
from zeroin.run.execute import Ended
from zeroin.run.hold import Hold

GROWS = """\
import os, sys, time
if len(sys.argv) > 1 and os.fork() == 0:
    print("child", flush=True)
    while os.getppid() > 1: time.sleep(0.001)
    os._exit(0)
kept = []
for step in range(30):
    kept.append(b"x" * 5_000_000)
    time.sleep(0.02)
time.sleep(0.3)  # at the peak
print("grown", flush=True)
"""


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def wait_for(what, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.01)


class Running:
    """A run whose words on stderr are read as they come."""

    all: ClassVar[list[subprocess.Popen[str]]] = []

    def __init__(self, zeroin, project, *words: str) -> None:
        self.process = subprocess.Popen(
            [*zeroin.driver, "run", *words],
            cwd=project,
            env=zeroin.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        Running.all.append(self.process)

    def held(self) -> list[int]:
        """Wait until it is said that it stands still; who does."""
        for line in self.process.stderr:
            if "let it go on" in line:
                return [int(word) for word in re.findall(r"\d+", line)]
        raise AssertionError("it was not held")


@pytest.fixture
def grows(project):
    (project / "grow.py").write_text(GROWS)
    yield project
    while Running.all:  # a test that failed leaves none to the others
        process = Running.all.pop()
        process.kill()
        process.communicate()


def test_the_tree_stands_still_and_goes_on(zeroin, grows):
    """All processes, at that size; `kill -CONT` as printed lets them finish."""
    run = Running(zeroin, grows, "--pause-at-peak=60M", "--", "python", "grow.py", "fork")
    pids = run.held()
    assert len(pids) == 2
    assert [state(pid) for pid in pids] == ["T", "T"]
    has = int(Path(f"/proc/{pids[0]}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert 50_000_000 < has < 140_000_000
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    out, err = run.process.communicate(timeout=30)
    assert (run.process.returncode, "grown" in out) == (0, True)
    assert "it goes on" in err


def test_the_peak_of_the_last_passing_run_is_meant(zeroin, grows):
    """Without a size; and where there was no run, that is said before anything is started."""
    done = zeroin("run", "--pause-at-peak", "--", "python", "grow.py", cwd=grows)
    assert (done.returncode, "has not been run yet" in done.stderr) == (2, True)
    assert zeroin("run", "--", "python", "grow.py", cwd=grows).returncode == 0
    (grows / "grow.py").write_text("raise SystemExit(1)\n")  # one that failed early tells nothing
    assert zeroin("run", "--", "python", "grow.py", cwd=grows).returncode == 1
    (grows / "grow.py").write_text(GROWS)
    run = Running(zeroin, grows, "--pause-at-peak", "--", "python", "grow.py")
    (pid,) = run.held()
    has = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert has > 120_000_000
    os.kill(pid, signal.SIGCONT)
    run.process.communicate(timeout=30)
    assert run.process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_while_it_stands_still(zeroin, grows, number):
    """And ends it as it would otherwise."""
    run = Running(zeroin, grows, "--pause-at-peak=60M", "--", "python", "grow.py")
    (pid,) = run.held()
    run.process.send_signal(number)
    run.process.communicate(timeout=30)
    assert run.process.returncode == -number
    wait_for(lambda: not state(pid))


def test_nothing_stands_still_for_ever(zeroin, grows):
    """After `kill -9` of the driver the command goes on, as under any run, and nothing is left."""
    run = Running(zeroin, grows, "--pause-at-peak=60M", "--", "python", "grow.py")
    (pid,) = run.held()
    run.process.kill()
    run.process.wait()
    wait_for(lambda: state(pid) in ("", "R", "S", "Z"))
    run.process.stdout.close()
    run.process.stderr.close()
    assert support.left_running(os.environ[support.TEST_ID], set(), patience=20) == {}


def test_standing_still_takes_no_time(zeroin, grows):
    """A time-out counts only what it really ran."""
    words = ("--timeout", "3", "--pause-at-peak=60M", "--", "python", "grow.py")
    run = Running(zeroin, grows, *words)
    (pid,) = run.held()
    time.sleep(3.2)  # this is what is tested, not a wait for something
    assert state(pid) == "T"
    os.kill(pid, signal.SIGCONT)
    out, _ = run.process.communicate(timeout=30)
    assert (run.process.returncode, out) == (0, "grown\n")


def test_a_higher_peak_than_the_one_that_was_held_is_told(zeroin, grows):
    """It comes after it was held; the command that is printed holds it there."""
    run = Running(zeroin, grows, "--pause-at-peak=40M", "--", "python", "grow.py")
    (pid,) = run.held()
    os.kill(pid, signal.SIGCONT)
    _, err = run.process.communicate(timeout=30)
    told = re.search(r"zeroin: it was held at \d+\S* MB, and had most after .*: 1[56]\d MB\n", err)
    assert told, err
    words = re.search("hold it there: zeroin run (.*)", err)[1].split()
    again = Running(zeroin, grows, *words)
    (pid,) = again.held()
    os.kill(pid, signal.SIGCONT)
    _, err = again.process.communicate(timeout=30)
    assert "had most" not in err


SHORT = Ended(
    0, 1, 9.0, 0.1, 150_000_000, [(1.0, 9_000_000), (2.0, 9_000_000)], *4 * [False], 0, None
)


def test_a_peak_between_two_looks_is_told():
    """The kernel's mark has it, though nobody looked then; a limit ends it there."""
    told = []
    Hold(100_000_000, told.append).tell_missed(SHORT._replace(peak_between=(1.0, 2.0)))
    (missed,) = told
    assert (missed.peak, missed.between, missed.seen, missed.held) == (
        150_000_000,
        (1.0, 2.0),
        False,
        0,
    )
    assert pause_text.lines(missed, Cycle(("python", "a b.py"), "/")) == [
        "zeroin: it was not held; it had most for a moment shortly before 2.00 s: 150 MB",
        "  end it there, with its stack: zeroin limit memory=142M -- python 'a b.py'",
    ]


def test_a_peak_that_is_over_when_all_stand_still_is_not_held():
    """It goes on at once, and waits for the next one."""
    told = []
    hold = Hold(100_000_000, told.append)
    with subprocess.Popen(["sleep", "60"]) as process:
        hold.look(1.0, 150_000_000, lambda: [process.pid])  # so much a moment ago
        assert (hold.holds, told) == (False, [])
        wait_for(lambda: state(process.pid) == "S")
        process.kill()


def test_a_size_that_is_never_reached(zeroin, grows):
    """That is said, with the size that was."""
    done = zeroin("run", "--pause-at-peak=9G", "--", "python", "grow.py", cwd=grows)
    assert (done.returncode, "held still" in done.stderr) == (0, False)
    assert re.search(r"it was not held: it had 1[56]\d MB at most \(at 9.0 GB\)", done.stderr)
    done = zeroin("run", "--pause-at-peak=much", "--", "true", cwd=grows)
    assert done.returncode == 2

"""Frames whose old code is left, or looked at."""

import subprocess

from support import ROOT

PROGRAM = ROOT / "tests" / "programs" / "warm_left.py"
AGENT = ROOT / "src" / "zeroin" / "agent"


def test_a_frame_that_is_looked_at_holds_nothing_longer(python):
    """Also not where the interpreter keeps the variables that it was asked for."""
    done = subprocess.run([python, PROGRAM, AGENT], capture_output=True, text=True, check=True)
    went_on = ["['_', 'held']", "gone", "after None"] * 2
    had_asked = ["['held', 'seen']", "True", "gone"]  # what the program asked for stays its own
    assert done.stdout.splitlines() == went_on + had_asked


def test_new_code_stands_equally_deep_however_often_it_was_run(python):
    """Some interpreters make calls cheaper that they see often."""
    program = ROOT / "tests" / "programs" / "warm_depth.py"
    done = subprocess.run([python, program, AGENT], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        assert "," not in line, done.stdout

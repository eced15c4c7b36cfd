"""Frames whose old code is left, or looked at."""

import subprocess

from support import ROOT

PROGRAM = ROOT / "tests" / "programs" / "warm_left.py"
AGENT = ROOT / "src" / "zeroin" / "agent"


def test_a_frame_that_is_looked_at_holds_nothing_longer(python):
    """Also not where the interpreter keeps the variables that it was asked for."""
    done = subprocess.run([python, PROGRAM, AGENT], capture_output=True, text=True, check=True)
    went_on = ["['held']", "gone", "after None"]
    had_asked = ["['held', 'seen']", "True", "gone"]  # what the program asked for stays its own
    assert done.stdout.splitlines() == went_on + had_asked

"""A signal to our whole process group is told from one to us alone, however closely they come."""

from __future__ import annotations

import subprocess
import sys

import support

# Signals are taken one by one, as `Run` does it; what is printed is what the witness says of each.
PROGRAM = """\
import os, signal
from zeroin.run.group_witness import GroupWitness
kinds = {signal.SIGUSR1, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, kinds)
witness = GroupWitness()
def take():
    return signal.sigtimedwait(kinds, 10).si_signo
def tell(number):
    print(signal.Signals(number).name, witness.has_heard(number))
os.killpg(0, signal.SIGUSR1)
first = take()
os.killpg(0, signal.SIGUSR1)  # before the witness is asked about the first one
os.killpg(0, signal.SIGTERM)
tell(first)
tell(take())
tell(take())
os.kill(os.getpid(), signal.SIGUSR1)
tell(take())
os.killpg(0, signal.SIGUSR1)
tell(take())
witness.close()
"""


def test_signals_that_come_before_the_witness_is_asked():
    """Two of one kind and one of another, all to the group; then one to us, and one to all."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONPATH": str(support.SRC)},
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "SIGUSR1 True"
    assert sorted(lines[1:3]) == ["SIGTERM True", "SIGUSR1 True"]
    assert lines[3:] == ["SIGUSR1 False", "SIGUSR1 True"]

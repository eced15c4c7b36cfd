"""A constant of code that other threads run is exchanged."""

import subprocess

from support import ROOT

AGENT = ROOT / "src" / "zeroin" / "agent"
# Each round, the first calls of `hit` put `step` in its own place, all threads at once.
PROGRAM = """
import itertools, sys, threading
package = type(sys)("_zeroin_agent")
package.__path__ = [sys.argv[1]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.source import constants

def work():
    for _ in range(2000):
        "hit"()

def play():
    counter = itertools.count()
    step = counter.__next__
    def hit():
        step()
        constants.exchange(code, hit, step)
    consts = tuple(hit if one == "hit" else one for one in work.__code__.co_consts)
    code = work.__code__.replace(co_consts=consts)
    threads = [threading.Thread(target=type(work)(code, {"range": range})) for _ in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    del consts
    return next(counter), step in code.co_consts, sys.getrefcount(hit), sys.getrefcount(step)

def alone():
    def hit():
        return hit
    step = itertools.count().__next__
    held = (step,)
    return sys.getrefcount(hit), sys.getrefcount(step)

sys.setswitchinterval(1e-6)
print({(*counted, alone()[1] - step, alone()[0] - hit)
       for *counted, hit, step in (play() for _ in range(60))})
"""


def test_no_reference_is_lost_and_none_too_many(python):
    """Every call is counted, and both things have as many references as if Python had done it."""
    done = subprocess.run(
        [python, "-W", "ignore", "-c", PROGRAM, AGENT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "{(8000, True, 0, 0)}\n"), done.stderr

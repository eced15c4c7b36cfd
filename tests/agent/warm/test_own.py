"""Memory that a runner has copied before it is needed."""

import ast
import subprocess

from support import ROOT

PROGRAM = """
import mmap, os, resource, sys

package = type(sys)("_zeroin_agent")
package.__path__ = [sys.argv[1]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.fork import native, own

LIMIT, ASKED = int(sys.argv[2]), []
state = [float(number) for number in range(1_000_000)]  # 24 MB, and 8 of the list
untouched = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def is_enough():
    ASKED.append(1)
    return len(ASKED) > int(sys.argv[3])


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


if not os.fork():
    before = resident()
    done = own.make(LIMIT, is_enough)
    grown = resident() - before
    first = faults()
    for one in state:  # which is counted in each of them
        pass
    print({"done": done, "grown": grown, "faults": faults() - first})
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""
AGENT = ROOT / "src" / "zeroin" / "agent"
MUCH = 1 << 30
OBJECTS = 24_000_000


def measured(python, limit=MUCH, parts=1000):
    done = subprocess.run(
        [python, "-c", PROGRAM, AGENT, str(limit), str(parts)],
        capture_output=True,
        text=True,
        check=True,
    )
    return ast.literal_eval(done.stdout)


def test_what_was_copied_is_not_copied_again(python):
    """Each object is written to afterwards without a fault, which without it are thousands.

    Also where the kernel has joined the arenas with the room that was never touched.
    """
    assert measured(python, limit=0)["faults"] > OBJECTS // 4096 // 2
    found = measured(python)
    assert found["done"] > OBJECTS
    assert found["faults"] < 100


def test_memory_that_was_never_touched_does_not_come_to_be(python):
    """A gigabyte that the program only has room for."""
    assert measured(python)["grown"] < 100 << 20


def test_it_ends_when_an_order_comes_or_the_limit_is_reached(python):
    """In parts of four megabytes."""
    assert measured(python, parts=1)["done"] <= 4 << 20
    assert measured(python, limit=9 << 20)["done"] <= 9 << 20

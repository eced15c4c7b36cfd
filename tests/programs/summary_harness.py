"""Loads the agent the way `boot` does, and measures what a summary costs. Runs on 3.9."""

import json
import os
import resource
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "zeroin", "agent")

package = type(sys)("_zeroin_agent")
package.__path__ = [AGENT]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent import summary  # noqa: E402
from _zeroin_agent.summary import reprs  # noqa: E402, F401 - for the victims

results = {}


def memory(key):
    """Read a line of /proc/self/status, in MB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key))


def tell_all(name, items, seconds=1.0):
    """Summarise named values in one call, and note what it took.

    The time is longer than usual: on a busy machine a child may start late.
    """
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak is that from now on
    before = memory("VmRSS")
    start = time.perf_counter()
    told = summary.summarise_all(items, seconds)
    took = time.perf_counter() - start
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    results[name] = {
        "told": told,
        "seconds": took,
        "grown": memory("VmHWM") - before,
        "child_grown": max(0, children - before),
    }
    return told


def tell(name, value, seconds=1.0):
    """Summarise one value."""
    return tell_all(name, [("value", value)], seconds)[0]


def finish(**more):
    """Print everything, as the only thing that is printed."""
    print(json.dumps({"results": results, **more}))

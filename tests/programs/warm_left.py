"""Look at the variables of a frame that goes on. `warm_left.py AGENT`: prints what it sees."""

import sys

package = type(sys)("_zeroin_agent")
package.__path__ = [sys.argv[1]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.source import codes  # noqa: E402


class Held:
    def __del__(self):
        print("gone")


def look(frame):
    print(sorted(codes.variables(frame)))


def goes_on():
    for _ in range(2):
        held = Held()
        look(sys._getframe())
        held = None
        print("after", held)


def has_asked():
    held = Held()
    seen = locals()
    look(sys._getframe())
    print("held" in seen)
    return held


goes_on()
has_asked()

"""How deep new code stands, measured often. `warm_depth.py AGENT`: prints each depth once."""

import sys

package = type(sys)("_zeroin_agent")
package.__path__ = [sys.argv[1]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.stepping import depth, left, steps  # noqa: E402

for ways in (steps._running, left._calling_only):
    print(sorted({depth.between(ways) for _ in range(200)}))

"""The acceptance of the warm engine: an ordinary run holds a part of it, since all of it is long.

`ZEROIN_TEST_FULL=1 make test` runs all: stepped against plain runs over every program on every
Python, the standard library's tests and real examples; the table of edits and random edits against
cold runs; standby and pytest under the loop.
"""

import os

if os.environ.get("ZEROIN_TEST_FULL") != "1":
    collect_ignore = [
        *("stepped/test_stepped_stdlib.py", "stepped/test_stepped_examples.py"),
        "edits",
    ]

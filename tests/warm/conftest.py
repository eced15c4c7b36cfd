"""The acceptance of the warm engine: an ordinary run holds a part of it, since all of it is long.

In every run: each stepped program and each row of the table of edits on one Python, and a few
random edits. `make test ACCEPTANCE=1` runs all of them on every Python, many more random
edits, the standard library's tests and real examples.
"""

import run_size

if not run_size.ACCEPTANCE:
    collect_ignore = ["stepped/test_stepped_stdlib.py", "stepped/test_stepped_examples.py"]

"""The acceptance of the warm engine: long, and not part of an ordinary run while it is being built.

`ZEROIN_TEST_FULL=1 make test` runs it: stepped against plain runs over the grammar, the standard
library's tests and real examples; the table of edits and random edits against cold runs; standby
and pytest under the loop. Some rows are known to differ; see the open issue.
"""

import os

if os.environ.get("ZEROIN_TEST_FULL") != "1":
    collect_ignore = ["stepped", "edits"]

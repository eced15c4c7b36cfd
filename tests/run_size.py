"""How much of the suite a run takes.

- `make test`: every claim on this Python; what depends on the interpreter also on the oldest and
  the newest found; no heavy libraries; a part of the warm engine's acceptance
- `make test FULL=1`: all interpreters, the heavy libraries; CI=true means this one
- `make test ACCEPTANCE=1`: besides, all of the warm engine's acceptance: hours
"""

from __future__ import annotations

import os

ACCEPTANCE = os.environ.get("ZEROIN_TEST_ACCEPTANCE") == "1"
FULL = ACCEPTANCE or os.environ.get("ZEROIN_TEST_FULL") == "1" or os.environ.get("CI") == "true"
# Of the programs and edits that the warm engine is accepted by, a run takes every so many-th.
ACCEPTANCE_STEP = 1 if FULL else 4

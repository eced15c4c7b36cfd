"""The interpreters that zeroin has been tested on: on all others, a program runs as it is.

The warm engine and the rewriting of files lean on how CPython works inside, which each minor
version changes. A version that nobody has tried them on may crash a program, or give it another
result. So what is not in this table is not tried: the program runs plainly, and the reason is
told in one sentence.
"""

from __future__ import annotations

import sys

OLDEST = (3, 9)
NEWEST_STEPPED = (3, 13)  # programs are snapshot and resumed: `loop`, warm tries
NEWEST_REWRITTEN = (3, 14)  # files get probes: `--at`, `shapes`, `which -- COMMAND`


def why_not_stepped() -> str:
    """Say why no snapshots are taken of programs of this interpreter; "" if they are."""
    reason = _why_untested(NEWEST_STEPPED)
    return f"{reason}, so each run starts from the beginning" if reason else ""


def why_not_rewritten() -> str:
    """Say why nothing is put into files of programs of this interpreter; "" if it is."""
    reason = _why_untested(NEWEST_REWRITTEN)
    return f"{reason}, so the program runs as it is" if reason else ""


def _why_untested(newest: tuple[int, int]) -> str:
    if sys.implementation.name != "cpython":
        return f"this works on CPython only, and this is {sys.implementation.name}"
    name = f"CPython {sys.version_info[0]}.{sys.version_info[1]}"
    if not OLDEST <= sys.version_info[:2] <= newest:
        return f"zeroin has not been tested with {name} here (up to {newest[0]}.{newest[1]})"
    if hasattr(sys, "gettotalrefcount"):
        return f"zeroin has not been tested with debug builds of {name}"
    if "t" in getattr(sys, "abiflags", ""):
        return f"zeroin has not been tested with free-threaded builds of {name}"
    return ""

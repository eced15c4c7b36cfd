"""`Verdict`: the answer to "does it still fail the same way?"."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """Three values, because the third is where other tools slip to another bug."""

    SAME = "same"
    PASSED = "passed"
    OTHER = "other"  # failed another way, or could not be tested: never counts as bad

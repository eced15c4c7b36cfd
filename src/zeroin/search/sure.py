"""How sure an answer is whose runs never disagreed, since what fails may still fail only sometimes.

A search that runs each place once is misled by a pass that was luck, and nothing shows it until a
place is run again. So the answer counts for as much as all runs together say: either the failure
always shows, or it comes and goes at a rate that nobody knows (`posterior`).
"""

from __future__ import annotations

import math

from zeroin.named import NamedTuple
from zeroin.search.noisy import cautious
from zeroin.search.posterior import BAD, GOOD, evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# How probable it is, before any run, that what fails once fails always. With more, answers to
# failures that come and go are wrong more often than said (measured).
ALWAYS = 0.2
DOUBT = 0.8  # if it comes and goes: that good ones fail as well


class Seen(NamedTuple):
    """The runs of one place."""

    before: int  # all that are before it, and itself: the bits of a number
    failed: int
    passed: int


def chance(left: int, seen: Sequence[Seen], answer: int) -> float:
    """How probable it is that the first bad one of those in question is in the answer."""
    held = whole = 0.0
    for group, after in _groups(left, seen):
        each = _likely(after, seen)
        whole += group.bit_count() * each
        held += (group & answer).bit_count() * each
    return cautious(held / whole) if whole else 0.0


def _groups(left: int, seen: Sequence[Seen]) -> Iterable[tuple[int, tuple[bool, ...]]]:
    """Those that no run tells apart; and for each place that was run, whether it is bad then."""
    groups: list[tuple[int, tuple[bool, ...]]] = [(left, ())]
    for one in seen:
        parts = (
            (part, (*after, is_bad))
            for group, after in groups
            for part, is_bad in ((group & one.before, True), (group & ~one.before, False))
        )
        groups = [(part, after) for part, after in parts if part]
    return groups


def _likely(is_bad: Sequence[bool], seen: Sequence[Seen]) -> float:
    """How probable the runs are, over all rates, if those places are bad and the others good."""
    sides = [[0, 0], [0, 0]]  # failed and passed: when good, when bad
    for bad, one in zip(is_bad, seen, strict=True):
        sides[bad][0] += one.failed
        sides[bad][1] += one.passed
    (good_failed, good_passed), (bad_failed, bad_passed) = sides
    never = 0.0 if good_failed else 1 - DOUBT
    rarely = DOUBT * math.exp(evidence((good_failed, good_passed), GOOD))
    sometimes = (never + rarely) * math.exp(evidence((bad_failed, bad_passed), BAD))
    always = 0.0 if good_failed or bad_passed else 1.0
    return ALWAYS * always + (1 - ALWAYS) * sometimes


def luck(failed: int, passed: int) -> float:
    """How probable it is that one that passed so often fails as others did, so often."""
    sometimes = (1 - ALWAYS) * math.exp(evidence((failed, 0), BAD))
    lucky = (1 - ALWAYS) * math.exp(evidence((failed, passed), BAD))
    return 1 - cautious(1 - lucky / (ALWAYS + sometimes + lucky))

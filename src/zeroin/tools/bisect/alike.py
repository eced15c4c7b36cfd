"""Releases that fail in the same place with other words: a message is part of what changes.

Only what is left over of a search is looked at so: as long as the words tell failures apart, an
answer is never made of two failures that only have their place in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zeroin.cycle import Verdict
from zeroin.tools.bisect.judge import Judge
from zeroin.tools.bisect.ordered import Ordered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle import Outcome, Signature
    from zeroin.tools.bisect.ordered import Found
    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.tries import Tries


class ByPlace(Judge):
    """Also what fails with the same exception in the same function."""

    def verdict(self, outcome: Outcome | None) -> Verdict:
        """SAME on the new side, PASSED on the old one."""
        found = super().verdict(outcome)
        if found is not Verdict.OTHER or outcome is None:
            return found
        here, new, old = map(place, (outcome.signature, self.oracle.signature, self.before))
        if not here or new == old or here not in (new, old):
            return found
        return Verdict.SAME if (here == new) is not self.fixed else Verdict.PASSED


def place(signature: Signature | None) -> str:
    """The exception and the function; "" for other failures."""
    text = str(signature or "").partition(": ")[0]
    return text if " at " in text else ""


def in_other_words(
    tries: Tries, row: Sequence[str], found: Found, options: BisectOptions
) -> tuple[Found, tuple[str, ...]]:
    """The answer if failures in the same place count as the same; and which count by that."""
    judge = tries.judge
    if found.verdict != "range" or judge is None or options.match or options.exit_code is not None:
        return found, ()
    wider = ByPlace(*judge)
    left = row[row.index(found.good) + 1 : row.index(found.bad)]
    known = [(name, tries.outcomes[name][-1]) for name in left if name in tries.outcomes]
    told = {name: wider.verdict(outcome) for name, outcome in known}
    told = {name: verdict for name, verdict in told.items() if verdict is not Verdict.OTHER}
    if not told:
        return found, ()
    tries.judge = wider
    inner = Ordered(tries, [found.good, *left, found.bad], options).find()
    tries.judge = judge
    if inner.verdict not in ("found", "range"):
        return found, ()
    example = tries.why(next(iter(told)))
    note = f"in the same place, but in other words: {', '.join(told)} ({example})"
    return inner._replace(note=note), tuple(told)

"""From what was found to the report."""

from __future__ import annotations

import re
import time

from zeroin.cycle import Verdict
from zeroin.tools.bisect.report import BisectReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.tools.bisect.report import BisectOptions, Culprit, Skipped
    from zeroin.tools.bisect.row import Found
    from zeroin.tools.bisect.tries import Tries


# Nothing of what is looked for was run.
NOT_BEGUN = re.compile(r"\b(ModuleNotFound|Import|Syntax|Indentation)Error\b")


def answer(
    axis: str,
    tries: Tries,
    found: Found,
    skipped: Sequence[Skipped],
    options: BisectOptions,
    began: float,
    about: Mapping[str, Any],
    notes: Sequence[str],
    culprits: Sequence[Culprit] = (),
) -> BisectReport:
    """All that is told of it."""
    judge = tries.judge
    seen = [one for outcomes in tries.outcomes.values() for one in outcomes]
    headline = next(
        (one.headline for one in seen if judge and judge.oracle.judge(one) is Verdict.SAME), ""
    )
    good = tries.outcomes.get(found.good, ())
    if good and good[-1].failed and not options.fixed:
        about = {**about, "before": good[-1].headline}  # it fails there as well, otherwise
    in_a_row = axis in ("commits", "versions")
    hidden = _hidden(tries, found, options) if in_a_row else []
    return BisectReport(
        axis,
        found.verdict,
        headline,
        str(judge.oracle.signature or "") if judge is not None else "",
        found.bad,
        found.good,
        found.candidates,
        skipped,
        culprits,
        tries.tries,
        tries.memory.resumed,
        time.monotonic() - began,
        found.confidence,
        found.confirmed,
        options.fixed,
        found.why,
        found.hint,
        about,
        [*notes, *([found.note] if found.note else []), *hidden],
        found.flaky,
    )


def is_out_of_sight(tries: Tries, found: Found, options: BisectOptions) -> bool:
    """Whether nothing works before the answer, since it could not even be imported there."""
    if options.fixed or found.verdict != "found" or found.flaky:
        return False
    passed = [name for name in tries.outcomes if tries.verdict(name) is Verdict.PASSED]
    seen = [one for name in passed for one in tries.outcomes[name]]
    return bool(seen) and all(one.failed and NOT_BEGUN.search(one.headline) for one in seen)


def _hidden(tries: Tries, found: Found, options: BisectOptions) -> list[str]:
    """What fails as the good end does counts as good; but would the failure have shown there?"""
    judge = tries.judge
    if judge is None or options.fixed or found.verdict not in ("found", "range"):
        return []
    works, hides = (
        [
            name
            for name, outcomes in tries.outcomes.items()
            if tries.verdict(name) is Verdict.PASSED and outcomes[-1].failed is failed
        ]
        for failed in (False, True)
    )
    if not hides:
        return []
    why = tries.why(hides[-1])
    if not works:
        bad = tries.axis.label(found.bad)
        so = f"fail as the good end does ({why}), which may hide the failure, and it may be older"
        return [f"no {tries.noun} works: those before {bad} {so}"]
    one, other = (tries.axis.label(names[-1]) for names in (works, hides))
    how = f"fails as the good end does ({why}), which may hide the failure"
    return [f"{one} works, and {other} {how}: name {one} as good, and the others are skipped"]

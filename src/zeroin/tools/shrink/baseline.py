"""How it fails as it is, and how that is asked of each try."""

from __future__ import annotations

import os

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import Oracle, repeats_for, wilson
from zeroin.cycle.signature import Strength
from zeroin.tools.shrink.report import Baseline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.axes.payload.group import Group
    from zeroin.cycle import Outcome
    from zeroin.tools.shrink.report import ShrinkOptions
    from zeroin.tools.shrink.tries import Tries

TWICE = 2
FLAKY = 12  # runs of a baseline that does not always fail
SELDOM = repeats_for(0.3, 0.99)  # runs of one that has not failed yet,
LONG = 15.0  # if they take no more seconds than this together
PATIENCE, LEAST = 5, 5.0  # times the baseline's time, and seconds: then a try hangs


def find(tries: Tries, whole: Group, options: ShrinkOptions) -> Baseline:
    """Run it twice, more often if it may fail sometimes; sets what tries are asked and how."""
    given = tries.timeout
    wants_warm = not (options.args or options.env or options.interesting or options.cold)
    outcomes = list(tries.run(whole).outcomes)
    if wants_warm and outcomes[0].failed:  # the second is a whole run as well, with a snapshot
        tries.warm = True
    outcomes += tries.run(whole).outcomes
    while not _is_enough(outcomes, options):
        tries.warm = False
        outcomes += tries.run(whole).outcomes
    oracle = _oracle(outcomes, options)
    slowest = max(outcome.seconds for outcome in outcomes)
    warm_seconds, why = None, ""
    if tries.warm and oracle is not None:
        warm_seconds, why = _warm(tries, whole, outcomes)
    tries.oracle = oracle
    tries.warm = warm_seconds is not None
    tries.timeout = given if given is not None else max(LEAST, PATIENCE * slowest)
    if oracle is None:
        return Baseline(tuple(outcomes), outcomes[-1].headline, "", 0, 1, wanted=_wanted(options))
    same = [one for one in outcomes if oracle.judge(one) is Verdict.SAME]
    return Baseline(
        tuple(outcomes),
        same[0].headline or _wanted(options),
        str(same[0].signature or ""),
        len(same),
        oracle.repeats,
        slowest,
        warm_seconds,
        why,
    )


def _warm(tries: Tries, whole: Group, outcomes: Sequence[Outcome]) -> tuple[float | None, str]:
    """Whether tries can go on from where the payload is used, and come to the same end."""
    resumed = tries.run(whole)
    if not resumed.resumed and not tries.cold_because:  # compiled code opens it: try otherwise
        resumed = tries.run(whole)
    if not resumed.resumed:
        return None, tries.cold_because
    if not _agree([*outcomes, *resumed.outcomes]):
        return None, "a run that went on from a snapshot ended in another way"
    return resumed.outcomes[-1].seconds, ""


def _is_enough(outcomes: Sequence[Outcome], options: ShrinkOptions) -> bool:
    if _oracle(outcomes, options) is None:
        return len(outcomes) >= SELDOM or sum(one.seconds for one in outcomes) > LONG
    return _agree(outcomes) or len(outcomes) >= FLAKY


def _wanted(options: ShrinkOptions) -> str:
    """What the user takes for the failure."""
    if options.interesting:
        return f"{os.path.basename(options.interesting)} ends with 0"
    given = [f"--match {options.match}"] if options.match else []
    given += [f"exit {options.exit_code}"] if options.exit_code is not None else []
    return " and ".join(given)


def rule(options: ShrinkOptions) -> str:
    """What the user gave, if other failures may meet it."""
    if options.interesting:
        return ""
    return _wanted(options) or ("--loose" if options.strength is Strength.LOOSE else "")


def first(oracle: Oracle, baseline: Baseline) -> Outcome:
    """Of the runs of the baseline that showed it."""
    return next(one for one in baseline.outcomes if oracle.judge(one) is Verdict.SAME)


def firmer(oracle: Oracle, baseline: Baseline) -> Oracle | None:
    """What was asked for, and the first failure as well; None if that has said nothing."""
    signature = first(oracle, baseline).signature
    if signature is None:
        return None
    return oracle._replace(signature=signature, strength=Strength.NORMAL, as_well=True)


def _agree(outcomes: Sequence[Outcome]) -> bool:
    return len({(one.kind, str(one.signature)) for one in outcomes}) == 1


def _oracle(outcomes: Sequence[Outcome], options: ShrinkOptions) -> Oracle | None:
    oracle: Oracle
    if options.interesting:
        oracle = _Interesting(None)
    elif options.match or options.exit_code is not None:
        oracle = Oracle(None, match=options.match, exit_code=options.exit_code)
    else:
        found = Oracle.of(outcomes, options.confidence)
        return found._replace(strength=options.strength) if found is not None else None
    times = sum(oracle.judge(one) is Verdict.SAME for one in outcomes)
    if not times:
        return None
    low, _ = wilson(times, len(outcomes))
    certain = times == len(outcomes)
    return oracle._replace(repeats=1 if certain else repeats_for(low, options.confidence))


class _Interesting(Oracle):
    """A script that says itself whether it is interesting: by exit code 0."""

    def judge(self, outcome: Outcome) -> Verdict:
        return Verdict.SAME if outcome.kind is Kind.PASSED else Verdict.PASSED

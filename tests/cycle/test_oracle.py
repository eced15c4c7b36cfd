"""Verdicts, and how sure they are."""

import math

from hypothesis import given
from hypothesis import strategies as st

from zeroin.cycle import Kind, Outcome, Signature, Strength, Verdict
from zeroin.cycle.oracle import Oracle, failure_rates, repeats_for, wilson


def failed(name, kind=Kind.FAILED, **more):
    return Outcome(kind, 1, Signature("E", name, name + " strict"), headline=name, **more)


PASSED = Outcome(Kind.PASSED, 0)
UNFINISHED = Outcome(Kind.UNFINISHED)


def test_three_values():
    """Another failure and a run that could not be made are never "bad"."""
    oracle = Oracle(failed("a").signature)
    assert oracle.judge(failed("a")) is Verdict.SAME
    assert oracle.judge(PASSED) is Verdict.PASSED
    assert oracle.judge(failed("b")) is Verdict.OTHER
    assert oracle.judge(UNFINISHED) is Verdict.OTHER


def test_strength_and_the_users_own_question():
    """Loose takes every failure of the type; a regular expression or exit code replaces all."""
    assert Oracle(failed("a").signature, Strength.LOOSE).judge(failed("b")) is Verdict.SAME
    assert Oracle(None, match="^b").judge(failed("b")) is Verdict.SAME
    assert Oracle(None, exit_code=1).judge(failed("b")) is Verdict.SAME
    assert Oracle(None, exit_code=2).judge(failed("b")) is Verdict.OTHER


def test_repeated_runs():
    """Seen once is the failure; another failure is not a pass; nothing run is no verdict."""
    oracle = Oracle(failed("a").signature)
    assert oracle.judge_all([PASSED, PASSED, failed("a")]) is Verdict.SAME
    assert oracle.judge_all([PASSED, failed("b")]) is Verdict.OTHER
    assert oracle.judge_all([PASSED, PASSED]) is Verdict.PASSED
    assert oracle.judge_all([]) is Verdict.OTHER


def test_oracle_of_a_baseline():
    """A certain failure needs one run; a flaky one as many as make a miss unlikely."""
    certain = Oracle.of([failed("a"), failed("a")])
    assert certain is not None
    assert certain.repeats == 1
    flaky = Oracle.of([failed("a"), PASSED, PASSED, PASSED])
    assert flaky is not None
    assert flaky.repeats > 10
    assert Oracle.of([PASSED, PASSED]) is None


def test_rates_by_signature():
    """Each way to fail has its own rate, the most frequent first."""
    rates = failure_rates([failed("a"), failed("b"), failed("b"), PASSED])
    assert [(rate.signature, rate.times, rate.runs) for rate in rates] == [("b", 2, 4), ("a", 1, 4)]


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_holds_the_share(counted):
    """The interval lies in [0, 1] and holds what was seen."""
    count, runs = counted
    low, high = wilson(count, runs)
    assert 0 <= low <= count / runs + 1e-9
    assert count / runs - 1e-9 <= high <= 1


@given(st.floats(0.01, 0.99), st.floats(0.5, 0.999))
def test_enough_repeats_and_not_one_more(rate, confidence):
    """That many passes leave less doubt than asked for; one fewer would not."""
    repeats = repeats_for(rate, confidence)
    assert (1 - rate) ** repeats <= (1 - confidence) * (1 + 1e-9)
    assert repeats == 1 or (1 - rate) ** (repeats - 1) > (1 - confidence) * (1 - 1e-9)
    assert math.isfinite(repeats)

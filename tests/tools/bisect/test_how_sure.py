"""How sure an answer is that `Ordered` gives, in simulated searches: runs take no time here."""

from __future__ import annotations

import random
import statistics
from types import SimpleNamespace

import pytest

from zeroin.cycle import Kind, Outcome, Signature
from zeroin.cycle.oracle import Oracle
from zeroin.search.graph import Graph
from zeroin.search.noisy import Noisy
from zeroin.tools.bisect.judge import Judge
from zeroin.tools.bisect.luck import until_sure
from zeroin.tools.bisect.ordered import FLAKY, Ordered
from zeroin.tools.bisect.report import BisectOptions
from zeroin.tools.bisect.tries import Tries
from zeroin.tools.bisect.warmth import Pace
from zeroin.tools.workers import Answer

FAILURE = Signature(*["ValueError at total"] * 3)
SLOW = 2.0  # seconds that a run is said to take: such programs are run as seldom as can be


class Workers:
    """All that run end at the same time; each run fails at the rate of its place."""

    workers = next_slot = 0

    def __init__(self, fails, *, warm=False) -> None:
        self.running = []
        self.started = []
        self._fails = fails
        self._warm = warm

    def start(self, trial) -> None:
        self.running.append(trial)
        self.started.append(trial)

    def give_up(self, trials):
        self.running = [one for one in self.running if one not in trials]

    def wait(self):
        done, self.running = self.running, []
        return [(one, Answer(self._outcome(one.name), pace=self._pace(one))) for one in done]

    def _pace(self, trial):
        if not self._warm or trial.bound is None:
            return Pace(SLOW)
        return Pace(SLOW / 10, warm=True, resumed=True)

    def _outcome(self, name):
        if self._fails(name):
            return Outcome(Kind.FAILED, 1, FAILURE, "ValueError", SLOW)
        return Outcome(Kind.PASSED, 0, seconds=SLOW)


def made_tries(fails, jobs, **how):
    axis = SimpleNamespace(noun="commit", key="", label=str, servant=None)
    teller = SimpleNamespace(ends=lambda _: None, progress=lambda _: None, note=lambda _: None)
    options = BisectOptions(jobs=jobs, **how)
    tries = Tries(axis, options, teller, "", None)
    tries._pool = Workers(fails)
    return tries, options


def _search(seed, last, rate, jobs, *, in_line=False):
    """The place that was to be found, what was found, and all tries."""
    drawn = random.Random(seed)
    first = drawn.randint(1, last)
    tries, options = made_tries(lambda name: int(name) >= first and drawn.random() < rate, jobs)
    names = [str(place) for place in range(last + 1)]
    graph = None if in_line else Graph.of([[], *([place] for place in range(last))])
    return str(first), Ordered(tries, names, options, graph=graph).find(), tries


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7, 0.9])
def test_luck_is_noticed(rate, jobs):
    """A slow program that fails only sometimes: no more wrong answers than are said to be.

    Also where the bad end failed each time that it was run: such searches are in it.
    """
    searches = [_search(seed, 32, rate, jobs)[:2] for seed in range(300)]
    wrong = [found.bad != first for first, found in searches if found.verdict == "found"]
    said = [found.confidence for _, found in searches if found.verdict == "found"]
    noticed = [found for _, found in searches if found.verdict in (FLAKY, "not-reproduced")]
    assert len(wrong) + len(noticed) == len(searches)
    assert all(0.95 <= one < 1 for one in said)
    assert sum(wrong) <= 0.05 * len(searches)


@pytest.mark.parametrize(("last", "jobs", "more"), [(16, 1, 2.5), (256, 4, 2.5), (1024, 4, 2.5)])
def test_what_always_fails_costs_little_more(last, jobs, more):
    """Than each place once, both ends, and both sides of the answer once more."""
    _, found, _ = _search(1, last, 1, jobs)
    assert (found.verdict, found.confirmed, found.flaky) == ("found", True, False)
    runs = [_search(seed, last, 1, jobs)[2] for seed in range(40)]
    places = [len(tries.outcomes) for tries in runs]
    assert statistics.mean(tries.tries for tries in runs) <= statistics.mean(places) + 2 + more


def test_doubt_costs_no_whole_runs_where_tries_are_warm():
    """Both sides of the answer are run as a whole, and what more it takes from a snapshot."""
    tries, options = made_tries(lambda name: int(name) >= 11, jobs=1)
    tries._pool = Workers(lambda name: int(name) >= 11, warm=True)
    found = Ordered(tries, [str(place) for place in range(17)], options).find()
    assert (found.bad, found.confirmed) == ("11", True)
    whole = [trial.name for trial in tries._pool.started if trial.cold]
    runs = [trial.name for trial in tries._pool.started]
    assert sorted(whole) == ["10", "11"]
    assert runs.count("10") + runs.count("11") > 4


@pytest.mark.parametrize("seed", range(4))
def test_two_runs_of_one_place_that_end_together(seed):
    """Both count: what is said is what all runs together say."""
    first, found, tries = _search(seed, 6, 0.5, 4, in_line=True)
    assert (found.flaky, found.bad) == (True, first)
    seen = [tries.verdicts(str(place)) for place in range(7)]
    counts = [(sum(one.value == "same" for one in runs), len(runs)) for runs in seen]
    state = Noisy.of(6, good=counts[0], bad=counts[6])
    for place, (fails, runs) in enumerate(counts[1:6], 1):
        for number in range(runs):
            state = state.told(place, number < fails)
    assert found.confidence == pytest.approx(state.chance)


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7, 0.9])
def test_what_worked_once_is_run_again(rate):
    """A change that seems to be needed, since it once worked without it: luck is noticed."""
    unnoticed = 0
    for seed in range(300):
        drawn = random.Random(seed)
        tries, options = made_tries(lambda _: drawn.random() < rate, 1)  # noqa: B023 - used at once
        searched = Ordered(tries, ["works", "fails"], options)
        tries.run(["works", "fails", "fails"])
        searched._decide("works", "fails")
        if tries.judge is None or tries.is_flaky("fails"):
            continue
        sure = until_sure(tries, ["works"], options.confidence)
        unnoticed += not tries.is_flaky("works") and sure >= options.confidence
    assert unnoticed <= 0.05 * 300


@pytest.mark.parametrize("jobs", [1, 4])
def test_amounts_waver_close_to_the_edge(jobs):
    """What fails once is not enough: the answer never failed, and no run of either end is wasted."""
    for seed in range(100):
        drawn = random.Random(seed)
        rates = {place: (place - 400) / 20 for place in range(400, 421)}  # enough, then not at all
        tries, options = made_tries(
            lambda name: drawn.random() < rates.get(int(name), int(name) > 400),  # noqa: B023
            jobs,
        )
        names = [str(place) for place in range(1001)]
        tries.judge = Judge(Oracle(FAILURE))
        found = Ordered(tries, names, options, wavers=True).find()
        assert (found.verdict, found.flaky) == ("found", False)
        assert 390 <= int(found.good) < int(found.bad) <= 420
        assert not any(one.failed for one in tries.outcomes[found.good])
        assert any(one.failed for one in tries.outcomes[found.bad])
        assert tries.tries <= 60
        assert tries.runs("0") + tries.runs("1000") <= 4


def test_an_end_that_wavers_is_no_end():
    """The largest amount worked once, and then fails: it is said, and not called enough."""
    tries, options = made_tries(lambda _: True, 1)
    tries.judge = Judge(Oracle(FAILURE))
    tries.outcomes["0"] = [Outcome(Kind.PASSED, 0, seconds=SLOW)]
    found = Ordered(tries, [str(place) for place in range(5)], options, wavers=True).find()
    assert (found.verdict, "fails in" in found.why) == ("not-reproduced", True)


def test_no_more_workers_where_each_would_begin_at_the_start():
    """With --warm, a program that seems to wait brings no new workers, which have no snapshot."""
    tries, _ = made_tries(lambda _: False, jobs=0, warm=True)
    tries.run(["1", "2"])
    tries._pool.workers = 2
    assert tries.free == 2


def test_what_finds_out_is_not_ended_for_a_try_that_nobody_needs():
    """A worker that leaves its first snapshot is worth more than what others begin instead."""
    tries, _ = made_tries(lambda _: False, jobs=2)
    tries.between = lambda: (600, 8.0)
    tries.run(["1"])
    tries.start("2")
    tries.start("3", cold=True)
    tries.give_up({"2", "3"})
    assert tries.running == ["2"]

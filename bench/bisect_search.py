"""How long searches for what broke it take: simulated tries, of uneven lengths and with noise.

No command is run: a rule says what a try would answer, and lengths are drawn (log-normal, 1 in the
mean). Beside ours stand one worker, rounds in step (k-ary), the nearest to the middle where
something can't be tested, `git bisect` and fixed repetition for failures that come and go, and
ddmin for changes in no order.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from typing import TYPE_CHECKING, Any

from bench.report import Row, at_least, at_most
from bench.search import _asked, _ddmin, _ours
from zeroin.cycle import Verdict
from zeroin.search.bisection import Bisection
from zeroin.search.culprits import Culprits, advanced
from zeroin.search.noisy import Noisy
from zeroin.search.ranges import members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bench.scene import Scene

    Verdicts = Callable[[int], Verdict]

LAST, NOISY, ENDS = 1024, 128, 10
UNEVEN = 0.8  # sigma of the logarithm of a length
RATES = (
    *((bad, 0.0) for bad in (0.1, 0.3, 0.6, 0.95, 1.0)),
    *((bad, 0.05) for bad in (0.3, 0.6, 0.95, 1.0)),
    *((bad, 0.2) for bad in (0.6, 0.95, 1.0)),
)


def measure(scene: Scene) -> list[Row]:
    """Workers, what can't be tested, noise, changes in no order."""
    searches = 20 if scene.quick else 200
    return [
        *(_workers(count, searches) for count in (1, 2, 4, 8)),
        *(_stretches(name, searches // 4) for name in STRETCHES),
        *(_noise(bad, good, searches) for bad, good in RATES),
        *(_changes(*row, searches // 10) for row in CHANGES),
    ]


def _workers(count: int, searches: int) -> Row:
    took: dict[str, float] = {}
    for name, in_step, sigma in (
        ("ours", False, UNEVEN),
        ("in step", True, UNEVEN),
        ("equal lengths", False, 0.0),
    ):
        took[name] = statistics.mean(
            _bisected(random.Random(seed), count, in_step, sigma) for seed in range(searches)
        )
    alone = statistics.mean(
        _bisected(random.Random(seed), 1, False, UNEVEN) for seed in range(searches)
    )
    least = math.log(LAST, count + 1)
    return Row(
        f"{LAST:,} candidates, {count} at a time",
        f"{took['ours']:5.1f} lengths of a try, {took['ours'] / alone:.2f} of one worker's",
        f"rounds in step {took['in step']:.1f}; "
        f"equal lengths {took['equal lengths']:.1f}, at least {least:.1f}",
        (at_most(took["ours"] / alone, 0.45, "of one worker's"),) if count == 4 else (),
        {**took, "one": alone, "least": least},
    )


def _bisected(drawn: random.Random, workers: int, in_step: bool, sigma: float) -> float:
    first = drawn.randint(1, LAST)
    numbers, now = itertools.count(), 0.0
    state, running = Bisection.of(LAST), dict[int, tuple[float, int]]()
    while not state.is_over:
        if not (in_step and running):
            for place in state.plan(list(running), workers - len(running)):
                length = drawn.lognormvariate(-(sigma**2) / 2, sigma)
                running[place] = (now + length, next(numbers))
        place = min(running, key=running.__getitem__)
        now = running.pop(place)[0]
        state = state.told(place, Verdict.SAME if place >= first else Verdict.PASSED)
        if not in_step:  # the useless ones are cancelled
            running = {one: end for one, end in running.items() if not state.is_useless(one)}
    return now


STRETCHES: dict[str, Callable[[random.Random, int], Iterable[int]]] = {
    "30 in the middle can't be tested": lambda _, __: range(497, 527),
    "300 in the middle can't be tested": lambda _, __: range(362, 662),
    "one of ten can't be tested": lambda drawn, _: drawn.sample(range(1, LAST), LAST // 10),
    "30 around the first bad one": lambda _, first: range(max(1, first - 15), first + 15),
}


def _stretches(name: str, searches: int) -> Row:
    ours, nearest, hidden = [], [], []
    for seed in range(searches):
        drawn = random.Random(seed)
        first = drawn.randint(1, LAST)
        skipped = set(STRETCHES[name](drawn, first)) & set(range(1, LAST))
        while "middle" in name and {first, first - 1} & skipped:
            first = drawn.randint(1, LAST)
        done, tries = _tried(first, skipped, _planned)
        again, others = _tried(first, skipped, _nearest)
        assert done.candidates == again.candidates
        ours.append(tries)
        nearest.append(others)
        hidden.append(len(done.candidates) - 1)
    values = {
        "ours": statistics.mean(ours),
        "nearest": statistics.mean(nearest),
        "hidden": statistics.mean(hidden),
    }
    return Row(
        name,
        f"{values['ours']:5.1f} tries one by one, for {values['hidden']:.1f} that hide the answer",
        f"the nearest to the middle {values['nearest']:.1f}",
        values=values,
    )


def _tried(
    first: int, skipped: set[int], choose: Callable[[Bisection], int]
) -> tuple[Bisection, int]:
    state, tries = Bisection.of(LAST), 0
    while not state.is_over:
        place = choose(state)
        bad = Verdict.SAME if place >= first else Verdict.PASSED
        state = state.told(place, Verdict.OTHER if place in skipped else bad)
        tries += 1
    return state, tries


def _planned(state: Bisection) -> int:
    return state.plan((), 1)[0]


def _nearest(state: Bisection) -> int:
    middle = (state.good + state.bad) / 2
    useful = (one for one in range(state.good + 1, state.bad) if not state.is_useless(one))
    return min(useful, key=lambda one: abs(one - middle))


def _noise(bad: float, good: float, searches: int) -> Row:
    ours = [_found_in_noise(seed, bad, good) for seed in range(searches)]
    right = statistics.mean(one[0] for one in ours)
    runs = statistics.mean(one[1] for one in ours)
    once = [_repeated(seed, bad, good, 1, True) for seed in range(searches)]
    values: dict[str, Any] = {
        "right": right,
        "runs": runs,
        "git bisect": statistics.mean(one[0] for one in once),
    }
    said = f"git bisect {values['git bisect']:.0%} right"
    goals = [at_least(100 * right, _least(0.95, searches), "%")]
    if not good:  # repetition has no answer to good ones that fail
        repeats = _repeats(bad)
        for name, stops in (("all", False), ("until it fails", True)):
            fixed = [_repeated(seed, bad, good, repeats, stops) for seed in range(searches)]
            values[name] = statistics.mean(one[1] for one in fixed)
        guessed = [
            _repeated(seed, bad, good, _repeats(fails / tried), True)
            for seed in range(searches)
            for fails, tried in [_bad_end(random.Random(seed), bad)]
        ]
        values["guessed"] = statistics.mean(one[1] for one in guessed)
        values["guessed right"] = statistics.mean(one[0] for one in guessed)
        sure = [_found_in_noise(seed, bad, good, doubt=0.1) for seed in range(searches)]
        values["little doubt"] = statistics.mean(one[1] for one in sure)
        values["little doubt right"] = statistics.mean(one[0] for one in sure)
        said = (
            f"with little doubt {values['little doubt']:.0f} ({values['little doubt right']:.0%});"
            f" {said}; {repeats} runs each {values['all']:.0f}, until one fails "
            f"{values['until it fails']:.0f}, the same with a guessed rate "
            f"{values['guessed']:.0f} ({values['guessed right']:.0%})"
        )
        if bad == 0.3:
            goals.append(at_most(runs, values["all"], "runs: that often each"))
    what = f"fails in {bad:.0%} of runs when bad, {good:.0%} when good"
    return Row(what, f"{runs:5.0f} runs, {right:.0%} right", said, tuple(goals), values)


def _least(share: float, count: int) -> float:
    """Percent that so many searches must show if the share is right: two standard errors less."""
    return round(100 * (share - 2 * math.sqrt(share * (1 - share) / count)), 1)


def _repeats(rate: float) -> int:
    """So often that all answers of a bisection are right with a confidence of 95 %."""
    return 1 if rate == 1 else math.ceil(math.log(0.05 / math.log2(NOISY)) / math.log(1 - rate))


def _bad_end(drawn: random.Random, bad: float) -> tuple[int, int]:
    """Run until it has failed twice."""
    fails = tried = 0
    while tried < ENDS or fails < 2:
        tried, fails = tried + 1, fails + (drawn.random() < bad)
    return fails, tried


def _found_in_noise(seed: int, bad: float, good: float, **more: float) -> tuple[bool, int]:
    """Both ends are run first; that is not counted."""
    drawn = random.Random(seed)
    first = drawn.randint(1, NOISY)
    passing = (sum(drawn.random() < good for _ in range(ENDS)), ENDS)
    state, runs = Noisy.of(NOISY, good=passing, bad=_bad_end(drawn, bad), **more), 0
    while not state.is_over:
        (place,) = state.plan((), 1)
        state = state.told(place, drawn.random() < (bad if place >= first else good))
        runs += 1
    return state.answer == first, runs


def _repeated(seed: int, bad: float, good: float, repeats: int, stops: bool) -> tuple[bool, int]:
    drawn = random.Random(seed)
    first, low, high, runs = drawn.randint(1, NOISY), 0, NOISY, 0
    while high - low > 1:
        place, failed = (low + high) // 2, False
        for _ in range(repeats):
            failed |= drawn.random() < (bad if place >= first else good)
            runs += 1
            if failed and stops:
                break
        low, high = (low, place) if failed else (place, high)
    return high == first, runs


CHANGES = (
    ("60 changes, 10 pairs of neighbours need each other", 60, 10, 2, True),
    ("60 changes, 10 pairs anywhere", 60, 10, 2, False),
    ("60 changes, 8 groups of 3 neighbours", 60, 8, 3, True),
    ("60 changes, 8 groups of 3 anywhere", 60, 8, 3, False),
)


def _changes(name: str, count: int, groups: int, size: int, near: bool, searches: int) -> Row:
    """Two culprits; how many too many are left, and after how many tries."""
    found: dict[str, list[tuple[int, int]]] = {"ours": [], "one by one": [], "ddmin": []}
    for seed in range(searches):
        rule, least = _groups(random.Random(seed), count, groups, size, near)
        tries, left = _culprits(count, rule)
        found["ours"].append((tries, left - least))
        for way, run in (("one by one", _ours), ("ddmin", _ddmin)):
            one = _asked(run, count, lambda kept, rule=rule: rule(kept) is Verdict.SAME)
            found[way].append((one["questions"], one["left"] - least))
    means = {
        way: tuple(statistics.mean(column) for column in zip(*rows, strict=True))
        for way, rows in found.items()
    }
    told = {way: f"{tries:.0f} tries, {more:.1f} too many" for way, (tries, more) in means.items()}
    others = f"one by one {told['one by one']}; ddmin {told['ddmin']}"
    return Row(name, told["ours"], others, values=means)


def _groups(
    drawn: random.Random, count: int, groups: int, size: int, near: bool
) -> tuple[Callable[[frozenset[int]], Verdict], int]:
    culprits = frozenset(drawn.sample(range(count), 2))
    order = list(range(count))
    if not near:
        drawn.shuffle(order)
    starts = drawn.sample(range(count // size), groups)
    sets = [frozenset(order[at * size : (at + 1) * size]) for at in starts]

    def rule(kept: frozenset[int]) -> Verdict:
        if any(kept & one and not one <= kept for one in sets):
            return Verdict.OTHER
        return Verdict.SAME if culprits <= kept else Verdict.PASSED

    return rule, len(culprits.union(*(one for one in sets if one & culprits)))


def _culprits(count: int, rule: Callable[[frozenset[int]], Verdict]) -> tuple[int, int]:
    verdicts: dict[Any, Verdict] = {}
    search = Culprits.of(count)
    while (question := search.question) is not None:
        verdicts[question.parts] = rule(frozenset(members(question.parts)))
        search = advanced(search, verdicts)
    return len(verdicts), len(search.kept)

"""Candidates in a row, what is known of each, and the workers that find out more."""

from __future__ import annotations

import collections
import os
import time

from zeroin.cycle import Verdict
from zeroin.errors import ZeroinError
from zeroin.tools.bisect.memory import Memory
from zeroin.tools.bisect.pool import Pool
from zeroin.tools.bisect.report import Progress, TrialOrder, Tried
from zeroin.tools.bisect.warmth import Warmth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from zeroin.cycle import Outcome
    from zeroin.tools.bisect.judge import Judge
    from zeroin.tools.bisect.report import Axis, BisectOptions, Teller

PATIENCE, LEAST = 5, 30.0  # times what the slowest took, and seconds: then a try hangs
MOST_JOBS = 8
SURE, IN_VAIN = 2, 6  # runs of an answer that tell something, or so many in all,
QUICK, QUICKLY_SURE = 1.0, 4  # and of one that takes less than a second
IDLE = 0.05  # a program that needs less of a processor than this waits all the time


class GivenUpError(ZeroinError):
    """A search that has not come to an answer, and does not go on."""


class Tries:
    """All tries of one search, by the name of the candidate."""

    def __init__(
        self, axis: Axis, options: BisectOptions, teller: Teller, folder: str, timeout: float | None
    ) -> None:
        self.axis = axis
        self.teller = teller
        self.noun = axis.noun  # of what is searched among; within a search, another one
        self.judge: Judge | None = None
        self.memory = Memory(folder, fresh=options.fresh)
        self.outcomes: dict[str, list[Outcome]] = {}
        self.reasons: dict[str, str] = {}  # why a candidate can't be tested
        self.hints: dict[str, str] = {}  # and what helps against that
        self.tries = 0
        self.began = time.monotonic()
        self.between: Callable[[], tuple[int, float]] = lambda: (0, 0.0)
        self._given = timeout
        self._options = options
        self._warmth = Warmth(wanted=not options.cold, demanded=options.warm)
        self.notes: dict[str, None] = {}  # what workers found out about all tries
        self._pool = Pool(axis.servant, MOST_JOBS)
        for name, found in self.memory.known.items():
            for outcome, reason in found:
                self._learn(name, outcome, reason)

    # --- what is known ------------------------------------------------------------------------

    def _learn(self, name: str, outcome: Outcome | None, reason: str) -> None:
        if outcome is None:
            self.reasons[name] = reason
        else:
            self.outcomes.setdefault(name, []).append(outcome)

    def is_known(self, name: str) -> bool:
        """Whether it has been tried."""
        return name in self.outcomes or name in self.reasons

    def verdicts(self, name: str) -> list[Verdict]:
        """Of each run."""
        if self.judge is None:
            return []
        return [self.judge.verdict(outcome) for outcome in self.outcomes.get(name, [])]

    def verdict(self, name: str) -> Verdict | None:
        """Of all runs together: where one shows it, it is there; None if nobody knows."""
        if not self.is_known(name) or self.judge is None:
            return None
        seen = self.verdicts(name)
        order = (Verdict.SAME, Verdict.PASSED)
        return next((one for one in order if one in seen), Verdict.OTHER)

    def is_flaky(self, name: str) -> bool:
        """Whether its runs tell different things; one that told nothing is none of them."""
        return {Verdict.SAME, Verdict.PASSED} <= set(self.verdicts(name))

    def is_sure(self, name: str) -> bool:
        """Whether it was run often enough to be an answer."""
        return self.lacking(name) <= 0

    def lacking(self, name: str) -> int:
        """How many runs more make it sure."""
        seen = self.verdicts(name)
        # The longest was a whole run: what goes on from a snapshot seems to be quick.
        longest = max((one.seconds for found in self.outcomes.values() for one in found), default=0)
        wanted = QUICKLY_SURE if longest < QUICK else SURE
        told = sum(one is not Verdict.OTHER for one in seen)
        return min(wanted - told, IN_VAIN - len(seen))

    def runs(self, name: str) -> int:
        """How often it was run."""
        return len(self.outcomes.get(name, ()))

    def why(self, name: str) -> str:
        """A line on how it went."""
        if name in self.reasons:
            return self.reasons[name]
        outcomes = self.outcomes.get(name)
        return outcomes[-1].headline if outcomes else ""

    # --- trying -------------------------------------------------------------------------------

    @property
    def timeout(self) -> float | None:
        """What was given; else some times the slowest run so far."""
        if self._given is not None:
            return self._given
        took = [one.seconds for found in self.outcomes.values() for one in found]
        return max(LEAST, PATIENCE * max(took)) if len(took) > 1 else None

    @property
    def free(self) -> int:
        """How many more tries are worth starting."""
        return self._jobs() - len(self._pool.running)

    def _jobs(self) -> int:
        """As many as keep the processors busy: programs that wait leave room for more."""
        if self._options.jobs:
            return min(self._options.jobs, MOST_JOBS)
        if (self.is_warm or self._options.warm) and self._pool.workers:
            return self._pool.workers  # a new one would have to begin at the start
        cores = os.cpu_count() or 1
        seen = [one for found in self.outcomes.values() for one in found if one.seconds > IDLE]
        if not seen:
            return min(max(2, cores), MOST_JOBS)
        used = sum(one.cpu_seconds for one in seen) / sum(one.seconds for one in seen)
        idle = max(1.0, cores - max(0.0, os.getloadavg()[0] - len(self._pool.running)))
        return max(1, min(MOST_JOBS, round(idle / max(used, IDLE))))

    @property
    def at_once(self) -> int:
        """How many tries it goes about with."""
        return self._jobs()

    @property
    def is_warm(self) -> bool:
        """Whether workers go on from far behind the start."""
        return self._warmth.pays

    @property
    def running(self) -> list[str]:
        """Candidates that are being tried."""
        return [trial.name for trial in self._pool.running]

    def start(self, name: str, *, cold: bool = False) -> None:
        """Try it."""
        cold = cold or self._options.cold
        slot = self._pool.next_slot
        bound = None if cold else self._warmth.bound(slot, lambda: self.between()[1])
        self._pool.start(TrialOrder(name, self.timeout, cold, bound))

    def give_up(self, names: Collection[str]) -> None:
        """Nobody needs to know about these any more; a warm worker is worth more than a try."""
        if self.is_warm:
            return
        self._pool.give_up(
            [one for one in self._pool.running if one.name in names and one.bound is None]
        )

    def wait(self) -> list[str]:
        """The candidates of which more is known now."""
        done = []
        for trial, answer in self._pool.wait():
            again = self.is_known(trial.name)
            self._warmth.learn(answer.pace)
            if answer.reason:
                self.notes[answer.reason] = None
            self._learn(trial.name, answer.outcome, answer.error)
            self.memory.note(trial.name, answer.outcome, answer.error)
            if answer.hint:
                self.hints[trial.name] = answer.hint
            self.tries += 1
            done.append(trial.name)
            self._tell(trial.name, answer.outcome, answer.error, again=again)
        most = self._options.max_runs
        if most and self.tries >= most:
            raise GivenUpError(
                f"it was to make no more than {most:,} runs",
                hint="the same command with a larger --max-runs goes on from here",
            )
        return done

    def _tell(self, name: str, outcome: Outcome | None, reason: str, *, again: bool) -> None:
        verdict = None
        if self.judge is not None:
            verdict = self.judge.verdict(outcome)
        between, left = self.between()
        took = (time.monotonic() - self.began) / max(1, self.tries)
        fixed = self.judge is not None and self.judge.fixed
        tried = Tried(name, self.axis.label(name), verdict, outcome, reason, again, fixed)
        progress = Progress(tried, between, self.tries, left, left * took, self.noun)
        self.teller.progress(progress)

    def run(self, names: Sequence[str], *, cold: bool = False) -> None:
        """Try these, and wait for them."""
        left = list(names)
        missing = collections.Counter(left)
        while missing.total():
            while left and self.free > 0:
                self.start(left.pop(0), cold=cold)
            missing -= collections.Counter(self.wait())

    def close(self) -> None:
        """End what is under way."""
        self._pool.close()
        self.memory.close()

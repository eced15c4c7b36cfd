"""Both ends of a set of changes: what works, what fails, and how often."""

from __future__ import annotations

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import repeats_for, wilson
from zeroin.named import NamedTuple
from zeroin.tools.bisect.judge import judge_of, why_untestable
from zeroin.tools.bisect.report import Ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Outcome
    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.tries import Tries

TWICE = 2  # runs of the failing end
MORE = 6  # runs of ends that don't differ as they should
FLAKY = 12  # runs of an end that fails only sometimes, to know how often
QUESTIONS = 8  # that all have to be answered rightly, about


class Problem(NamedTuple):
    """Why there is nothing to search for."""

    why: str
    hint: str = ""


class Both:
    """The ends, by the names of their candidates."""

    def __init__(
        self, tries: Tries, good: str, bad: str, count: int, options: BisectOptions
    ) -> None:
        self._tries = tries
        self._good, self._bad = good, bad
        self._count = count  # changes between them
        self._options = options
        self.repeats = 1  # runs without the failure, until it is believed not to be there

    def look(self) -> Problem | None:
        """Run both, the failing one twice at least, and decide what to look for."""
        tries, good, bad = self._tries, self._good, self._bad
        is_told = tries.judge is not None  # by a search before
        runs = max(TWICE, self._options.repeat)
        wanted = [name for name in (bad, good) if not tries.is_known(name)]
        again = [bad] * max(0, runs - max(1, tries.runs(bad)))
        again += [good] * max(0, self._options.repeat - max(1, tries.runs(good)))
        # Runs that go on from one snapshot draw the same random numbers: repeats are whole runs.
        left = [*((name, False) for name in wanted), *((name, True) for name in again)]
        while left or tries.running:
            while left and tries.free > 0:
                name, cold = left.pop(0)
                tries.start(name, cold=cold)
            tries.wait()
        for name in (bad, good):
            if name in tries.reasons:
                label = tries.axis.label(name)
                return Problem(f"{label}: {tries.why(name)}")
        self._decide()
        for name in (good, bad):
            if untestable := why_untestable(tries.outcomes[name], self._options):
                return Problem(f"{tries.axis.label(name)} can't be tested: {untestable}")
        if tries.judge is None:
            missing = [name for name in (bad, good) for _ in range(MORE - tries.runs(name))]
            tries.run(missing, cold=True)
            self._decide()
        if tries.judge is None:
            return self._what_is_wrong()
        if not is_told:
            self._tell()
        return None

    def _decide(self) -> None:
        """What to look for, by any two runs of the ends that differ as they should."""
        tries = self._tries
        for old in tries.outcomes[self._good]:
            for new in tries.outcomes[self._bad]:
                tries.judge = tries.judge or judge_of(old, new, self._options)

    def _what_is_wrong(self) -> Problem:
        tries = self._tries
        label = tries.axis.label
        good, bad = label(self._good), label(self._bad)
        old, new = tries.outcomes[self._good], tries.outcomes[self._bad]
        hint = ""
        if self._options.match or self._options.exit_code is not None:
            why = f"the failure that was asked for does not tell the two apart: {good} gives "
            why += f"{_how(old)}, {bad} gives {_how(new)}"
        elif not _fails(old) and not _fails(new):
            why = f"both work: {good} and {bad}, {len(new)} runs each"
            hint = "does it fail rarely?  --repeat 50"
        elif _fails(old) and not _fails(new):
            why = f"{good} fails and {bad} works: {_how(old)}"
            hint = "swap the two"
        else:
            why = f"both fail in the same way: {_how(new)}"
            hint = "it takes one that works"
        return Problem(why, hint)

    def _tell(self) -> None:
        tries = self._tries
        same = [one is Verdict.SAME for one in tries.verdicts(self._bad)]
        failing = next(
            one for one, is_same in zip(tries.outcomes[self._bad], same, strict=True) if is_same
        )
        judge = tries.judge
        tries.teller.ends(
            Ends(
                tries.axis.label(self._good),
                tries.axis.label(self._bad),
                tries.why(self._good),
                failing.headline,
                str((judge and judge.oracle.signature) or ""),
                self._count,
                sum(same) / len(same),
                self._options.fixed,
                tries.at_once,
                tries.noun,
            )
        )

    # --- where it fails only sometimes --------------------------------------------------------

    @property
    def is_flaky(self) -> bool:
        """Whether an end does not always do the same."""
        return self._tries.is_flaky(self._bad) or self._tries.is_flaky(self._good)

    def rates(self) -> Problem | None:
        """How often each end fails, and so how often a try has to be run."""
        tries = self._tries
        runs = max(FLAKY, self._options.repeat)
        ends = (self._bad, self._good)
        tries.run([name for name in ends for _ in range(runs - tries.runs(name))], cold=True)
        times = {name: tries.verdicts(name).count(Verdict.SAME) for name in ends}
        label = tries.axis.label
        if times[self._good] or not times[self._bad]:
            rates = ", ".join(
                f"{label(name)} fails in {times[name]} of {tries.runs(name)} runs"
                for name in (self._good, self._bad)
            )
            return Problem(
                f"it is flaky, whatever of this changes: {rates}",
                "zeroin run --until-fail -- COMMAND",
            )
        low, _ = wilson(times[self._bad], tries.runs(self._bad), z=1.0)
        wrong = (1 - self._options.confidence) / QUESTIONS
        self.repeats = repeats_for(low, 1 - wrong)
        rate = times[self._bad] / tries.runs(self._bad)
        tries.teller.note(
            f"{label(self._bad)} fails in {rate:.0%} of its runs: each try is run up to "
            f"{self.repeats} times"
        )
        return None


def _fails(outcomes: list[Outcome]) -> bool:
    return any(one.kind is not Kind.PASSED for one in outcomes)


def _how(outcomes: list[Outcome]) -> str:
    failing = next((one for one in outcomes if one.failed), None)
    return failing.headline if failing is not None else "no failure"

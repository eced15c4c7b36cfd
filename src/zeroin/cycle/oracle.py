"""`Oracle`: does it still fail the same way? Also where it does so only sometimes."""

from __future__ import annotations

import math
import re

from zeroin.cycle.outcome import Kind
from zeroin.cycle.signature import Strength
from zeroin.cycle.verdict import Verdict
from zeroin.errors import UNTESTABLE
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zeroin.cycle.outcome import Outcome
    from zeroin.cycle.signature import Signature


class Oracle(NamedTuple):
    """The failure looked for, and how much has to agree.

    A user's own `match` (a regular expression on the headline) and `exit_code` take the place
    of the signature, unless that is held to `as_well`.
    """

    signature: Signature | None
    strength: Strength = Strength.NORMAL
    match: str = ""
    exit_code: int | None = None
    repeats: int = 1
    as_well: bool = False  # what the user gave is met by too much

    @classmethod
    def of(cls, baseline: Sequence[Outcome], confidence: float = 0.99) -> Oracle | None:
        """The oracle for what most of the baseline runs showed; None if all passed."""
        rates = failure_rates(baseline)
        if not rates:
            return None
        best = rates[0]
        failing = next(o for o in baseline if o.signature and str(o.signature) == best.signature)
        certain = best.times == best.runs
        repeats = 1 if certain else repeats_for(best.low, confidence)
        return cls(failing.signature, repeats=repeats)

    def judge(self, outcome: Outcome) -> Verdict:
        """The verdict on one run."""
        if outcome.kind is Kind.PASSED:
            return Verdict.PASSED
        if outcome.kind is Kind.UNFINISHED or self._is_untestable(outcome):
            return Verdict.OTHER
        return Verdict.SAME if self._same(outcome) else Verdict.OTHER

    def judge_all(self, outcomes: Iterable[Outcome]) -> Verdict:
        """One verdict on repeated runs: seen once is enough; another failure is not a pass."""
        verdicts = {self.judge(outcome) for outcome in outcomes}
        for verdict in (Verdict.SAME, Verdict.OTHER):
            if verdict in verdicts:
                return verdict
        return Verdict.PASSED if verdicts else Verdict.OTHER

    def _is_untestable(self, outcome: Outcome) -> bool:
        """Whether the command, or what resets the world before it, says that it can't be tested."""
        return outcome.exit_code == UNTESTABLE != self.exit_code

    def _same(self, outcome: Outcome) -> bool:
        if not self._is_asked_for(outcome):
            return False
        if (self.match or self.exit_code is not None) and not self.as_well:
            return True
        return self.signature is not None and self.signature.same(outcome.signature, self.strength)

    def _is_asked_for(self, outcome: Outcome) -> bool:
        """By what the user gave, all of it."""
        if self.match and re.search(self.match, outcome.headline) is None:
            return False
        return self.exit_code in (None, outcome.exit_code)


class Rate(NamedTuple):
    """How often one failure showed, and between which rates it truly lies (95 %)."""

    signature: str
    times: int
    runs: int
    low: float
    high: float


def failure_rates(outcomes: Sequence[Outcome]) -> list[Rate]:
    """Each failure with its rate, the most frequent first."""
    counts: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.signature is not None:
            name = str(outcome.signature)
            counts[name] = counts.get(name, 0) + 1
    runs = len(outcomes)
    rates = [Rate(name, n, runs, *wilson(n, runs)) for name, n in counts.items()]
    return sorted(rates, key=lambda rate: (-rate.times, rate.signature))


def wilson(count: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """The interval of a proportion that is right for few runs as well."""
    if runs == 0:
        return 0.0, 1.0
    share = count / runs
    middle = share + z * z / (2 * runs)
    spread = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def repeats_for(rate: float, confidence: float) -> int:
    """How many passing runs it takes to believe that a failure of that rate is gone."""
    if rate >= 1:
        return 1
    rate = max(rate, 0.001)
    return max(1, math.ceil(math.log(1 - confidence) / math.log(1 - rate)))

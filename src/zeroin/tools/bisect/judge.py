"""Which side of the change an outcome is on."""

from __future__ import annotations

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import Oracle
from zeroin.errors import UNTESTABLE
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from zeroin.cycle import Outcome, Signature
    from zeroin.cycle.crash import Spot
    from zeroin.tools.bisect.report import BisectOptions


class Judge(NamedTuple):
    """What a failure looks like, and what it looked like before.

    A program may fail at both ends, in two ways: then the first way is what counts as good.
    """

    oracle: Oracle
    before: Signature | None = None
    fixed: bool = False  # the new side is the one that works
    spot: Spot | None = None  # where the failure is raised,
    spot_before: Spot | None = None  # and where what it looked like before

    def verdict(self, outcome: Outcome | None) -> Verdict:
        """SAME on the new side, PASSED on the old one."""
        if outcome is None:
            return Verdict.OTHER
        found = self.oracle.judge(outcome)
        if found is Verdict.OTHER and self._is_before(outcome):
            found = Verdict.PASSED
        if self.fixed and found is not Verdict.OTHER:
            return Verdict.PASSED if found is Verdict.SAME else Verdict.SAME
        return found

    def _is_before(self, outcome: Outcome) -> bool:
        return self.before is not None and self.before.same(outcome.signature, self.oracle.strength)


class ByPlace(Judge):
    """Also what fails with the same exception in the same function, in whatever words."""

    def verdict(self, outcome: Outcome | None) -> Verdict:
        """SAME on the new side, PASSED on the old one."""
        found = super().verdict(outcome)
        if found is not Verdict.OTHER or outcome is None:
            return found
        here = self._place(outcome.signature, outcome.spot)
        new = self._place(self.oracle.signature, self.spot)
        old = self._place(self.before, self.spot_before)
        if not here or new == old or here not in (new, old):
            return found
        return Verdict.SAME if (here == new) is not self.fixed else Verdict.PASSED

    def _place(self, signature: Signature | None, spot: Spot | None) -> Spot | str:
        return spot.in_function if spot is not None else place(signature)


class ByLine(ByPlace):
    """Also what fails with the same exception in the same line of a program that stays as it is."""

    def _place(self, signature: Signature | None, spot: Spot | None) -> Spot | str:
        return spot if spot is not None else place(signature)


def place(signature: Signature | None) -> str:
    """The exception and the function; "" for other failures."""
    text = str(signature or "").partition(": ")[0]
    return text if " at " in text else ""


def judge_of(good: Outcome, bad: Outcome, options: BisectOptions) -> Judge | None:
    """The judge for what two ends show; None if they show nothing that differs."""
    failing = good if options.fixed else bad
    other = bad if options.fixed else good
    if failing.kind is Kind.UNFINISHED or other.kind is Kind.UNFINISHED:
        return None
    if not options.match and options.exit_code is None and failing.signature is None:
        return None
    oracle = Oracle(failing.signature, options.strength, options.match, options.exit_code)
    kind = ByPlace if options.by_place else Judge
    if why_untestable([failing, other], options):
        return None  # an end that can't be tested tells nothing of the other
    judge = kind(oracle, other.signature, options.fixed, failing.spot, other.spot)
    if oracle.judge(failing) is not Verdict.SAME or oracle.judge(other) is Verdict.SAME:
        return None
    return judge


def why_untestable(outcomes: Iterable[Outcome], options: BisectOptions) -> str:
    """Say what the first of these runs says that can't be tested; "" if none says so."""
    if options.exit_code == UNTESTABLE:
        return ""
    return next((one.headline for one in outcomes if one.exit_code == UNTESTABLE), "")

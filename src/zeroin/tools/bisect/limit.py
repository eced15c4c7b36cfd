"""`bisect limit`: the smallest value of a limit with which it still works."""

from __future__ import annotations

import os
import time

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import Oracle
from zeroin.digest import digest
from zeroin.emulate import registry
from zeroin.emulate.values import read_count, read_path_and_count, with_amount
from zeroin.errors import UntestableError, UsageError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.run.launch.limited import LimitedLauncher
from zeroin.tools.bisect.answer import answer
from zeroin.tools.bisect.judge import Judge, why_untestable
from zeroin.tools.bisect.ordered import Ordered
from zeroin.tools.bisect.packages import cannot_be_apart, view_of
from zeroin.tools.bisect.row import Found
from zeroin.tools.bisect.tries import Tries
from zeroin.tools.folders import OwnFolder
from zeroin.tools.search.quiet_trial import run_quiet_trial
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.emulate.part import Limit
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller, TrialOrder

PREFIX = "zeroin-bisect-"
STEPS = 1000  # values between the two ends: some ten tries


class AnyFailure(Oracle):
    """With too little it fails in one way, with far too little in another: both are failures."""

    def judge(self, outcome: Outcome) -> Verdict:
        """Whether it works."""
        if outcome.kind is Kind.UNFINISHED:
            return Verdict.OTHER
        return Verdict.PASSED if outcome.kind is Kind.PASSED else Verdict.SAME


def bisect_limit(
    cycle: Cycle,
    name: str,
    ends: tuple[str, str],
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it."""
    low, high = (_read(name, value) for value in ends)
    if low.amount >= high.amount:
        raise UsageError(
            f"{ends[0]} is not below {ends[1]}",
            hint=f"zeroin bisect limit {name} LOW HIGH -- COMMAND: it works with HIGH",
        )
    axis = _Axis(cycle, low, environ, places.find(cycle.cwd, environ).root or cycle.cwd)
    try:
        return _search(axis, low, high, options, teller)
    finally:
        axis.close()


def _read(name: str, value: str) -> Limit:
    if registry.USAGES.get(name, "").startswith(f"{name}=PATH:"):
        raise UsageError(
            f"{name}: a limit for a folder",
            hint=f"zeroin bisect limit {name}=FOLDER LOW HIGH -- COMMAND",
        )
    limit = registry.parse(f"{name}:{value}" if "=" in name else f"{name}={value}")
    if limit.share or not limit.amount:
        raise UsageError(f"{name} {value}: it takes a size or a number", hint="write 500M, or 64")
    return limit


def _search(
    axis: _Axis, low: Limit, high: Limit, options: BisectOptions, teller: Teller
) -> BisectReport:
    began = time.monotonic()
    steps = min(STEPS, int(high.amount - low.amount))
    wide = high.amount - low.amount
    names = [str(round(high.amount - wide * step / steps)) for step in range(steps + 1)]
    kept = os.path.join(axis.store, "bisect", axis.key_for(low, high, options))
    tries = Tries(axis, options, teller, kept, axis.cycle.timeout)
    tries.judge = Judge(AnyFailure(None))
    search = Ordered(tries, names, options, wavers=True)
    try:
        found = search.find()
        if not found.given_up:
            tries.memory.forget()
    except KeyboardInterrupt:
        found = Found("interrupted")
    finally:
        tries.close()
    if found.verdict == "not-reproduced":
        found = found._replace(hint=_hint(tries, low, high, options))
    about: dict[str, Any] = {}
    if found.good:
        about = {"limit": axis.text(found.good), "fails_with": axis.text(found.bad)}
    return answer("limit", tries, found, search.skipped(), options, began, about, ())


def _hint(tries: Tries, low: Limit, high: Limit, options: BisectOptions) -> str:
    top = str(round(high.amount))
    if why_untestable(tries.outcomes.get(top, ()), options):
        return f"exit code 125 says that nothing was tested: make it work with {high.text} first"
    if tries.verdict(top) is not Verdict.PASSED:
        return f"it fails with {high.text} already: give a larger one"
    return f"it works with {low.text} as well: give a smaller one"


class _Axis:
    noun = "value"

    def __init__(self, cycle: Cycle, limit: Limit, environ: Mapping[str, str], root: str) -> None:
        self.cycle = cycle
        self.environ = environ
        self.root = root
        self.store = places.find(cycle.cwd, environ).folder
        self._own = OwnFolder(PREFIX)
        self.folder = self._own.path
        self.key = ""
        self._limit = limit
        reason = cannot_be_apart(self.folder, root)
        if reason:
            self.close()
            raise UntestableError(
                f"a limit is searched in a folder that can be thrown away: {reason}",
                hint="let the kernel have user namespaces",
            )

    def key_for(self, low: Limit, high: Limit, options: BisectOptions) -> str:
        """The same question has the same name."""
        told = options.question
        self.key = digest(repr((self.cycle.key(), low, high, told)))
        return self.key

    def exact(self, name: str) -> str:
        """The limit with this value."""
        where = f"{self._limit.target}:" if self._limit.target else ""
        return f"{self._limit.name}={where}{name}"

    def text(self, name: str) -> str:
        """Likewise, for people."""
        is_count = registry.kind(self._limit.name).parse in (read_count, read_path_and_count)
        return self.exact(name) if is_count else with_amount(self._limit, int(name)).text

    def label(self, name: str) -> str:
        return self.text(name)

    def servant(self, slot: int) -> _Limited:
        return _Limited(self, slot)

    def close(self) -> None:
        """Leave nothing behind."""
        self._own.close()


class _Limited(NamedTuple):
    """In the process of a worker."""

    axis: _Axis
    slot: int

    def tried(self, trial: TrialOrder) -> Answer:
        """Run it under that limit."""
        axis = self.axis
        scratch = os.path.join(axis.folder, str(self.slot))
        os.makedirs(scratch, exist_ok=True)
        limits = (*axis.cycle.limits, axis.exact(trial.name))
        cycle = axis.cycle._replace(timeout=trial.timeout, limits=limits)
        launcher = LimitedLauncher(view_of(axis.root, scratch))
        try:
            return Answer(run_quiet_trial(cycle, launcher, axis.environ).outcome)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)

    def close(self) -> None:
        """Nothing is kept."""

"""`bisect envs`: which package, of all that differ between two environments, broke it."""

from __future__ import annotations

import shlex
import time

from zeroin.cycle import Verdict
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.run.environment import users
from zeroin.search.bisection import Bisection
from zeroin.search.cure import Chain, Cure, Cured, Edge
from zeroin.tools.bisect import described
from zeroin.tools.bisect.alike import alike, note
from zeroin.tools.bisect.answer import answer
from zeroin.tools.bisect.both import Both
from zeroin.tools.bisect.culprits import Releases, culprits_of
from zeroin.tools.bisect.judge import ByLine, judge_of, why_untestable
from zeroin.tools.bisect.luck import until_sure
from zeroin.tools.bisect.mixes import Mixes
from zeroin.tools.bisect.packages import Packages, noted
from zeroin.tools.bisect.report import Ends, Skipped
from zeroin.tools.bisect.row import Found
from zeroin.tools.bisect.setting import Setting
from zeroin.tools.bisect.suspects import Traces, chances

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.packages import Rig
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

_MIRROR = {
    Verdict.SAME: Verdict.PASSED,
    Verdict.PASSED: Verdict.SAME,
    Verdict.OTHER: Verdict.OTHER,
}
AT_ONCE = 2  # the more at once, the more tries it takes altogether
OFTEN = 50  # runs of an end that may fail only sometimes
DOUBT = 2  # further runs of the failing one, where several packages seem to be at fault
AGAIN, QUICKLY = 3, 12  # further runs of ends that are not as they should be,
SECONDS = 20.0  # the more of them if they take no longer than this


class EnvOptions(NamedTuple):
    """Which environments."""

    old: str
    new: str
    python: str = ""
    releases: bool = True  # go on to the first bad release,
    to_commit: bool = False  # and to the commit in its repository


def bisect_envs(
    cycle: Cycle,
    wanted: EnvOptions,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it."""
    began = time.monotonic()
    python = wanted.python or described.python_for(wanted.old, wanted.new, cycle.cwd)
    setting = Setting(cycle, environ, python)
    try:
        return _Envs(setting, wanted, options, teller).go(began)
    finally:
        setting.close()


class MixAxis:
    """Mixes of two environments."""

    noun = "package"

    def __init__(self, mixes: Mixes, rig: Rig, key: str) -> None:
        self._mixes = mixes
        self._rig = rig
        self.key = key

    def label(self, name: str) -> str:
        """What is put back."""
        return self._mixes.label(name)

    def servant(self, slot: int) -> Packages:
        """In a worker's process."""
        return Packages(self._rig, slot)


class _Envs:
    def __init__(
        self, setting: Setting, wanted: EnvOptions, options: BisectOptions, teller: Teller
    ) -> None:
        self.setting = setting
        self.wanted = wanted
        self.options = options
        self.teller = teller
        self.alike: set[str] = set()  # mixes that count by where they fail, in whatever words
        self.repeats = 1  # runs without the failure, until it is believed not to be there
        env = users(setting.cycle, setting.environ)
        old, new = (described.described(one, setting, env) for one in (wanted.old, wanted.new))
        self.old, self.new = described.with_own(old, new, setting)
        self.notes = list(dict.fromkeys((*self.old.notes, *self.new.notes)))
        self.mixes = Mixes(setting, self.old.packages, self.new.packages)
        described.check_different(self.old, self.new, self.mixes.changes)
        self._begin()

    def _begin(self) -> None:
        """Have everything at hand."""
        setting, mixes = self.setting, self.mixes
        mixes.fill()
        described.check_different(self.old, self.new, mixes.changes)
        self.releases = Releases(setting, mixes)
        rig = setting.rig(self.releases.mix)
        key = setting.key(self.options, sorted(mixes.old.items()), sorted(mixes.new.items()))
        axis = MixAxis(mixes, rig, key)
        self.tries = setting.tries(axis, self.options, self.teller, setting.cycle.timeout)
        self.graph, self.ranks = mixes.graph()
        self.none, self.all = mixes.name(()), mixes.name(self.graph.all)

    # --- searching ----------------------------------------------------------------------------

    def go(self, began: float) -> BisectReport:
        """What to put back, what goes with it, and since which release."""
        about: dict[str, Any] = {"changes": len(self.mixes.changes)}
        found, cured = Found("interrupted"), None
        count, seconds = 0, 0.0
        try:
            problem = self._ends()
            if problem is None:
                cured, found = self._searched()
                count, seconds = self.tries.tries, time.monotonic() - began
                if self.wanted.releases and found.verdict == "found" and cured is not None:
                    self.releases.look(self.tries, self.graph, cured, self.options)
            else:
                found = problem
        except KeyboardInterrupt:
            found = found if cured is not None else Found("interrupted")
        except UntestableError:
            self.tries.memory.forget()  # the next time it may be otherwise
            raise
        finally:
            self.tries.close()
        if found.verdict != "interrupted" and not found.given_up:
            self.tries.memory.forget()
        if self.wanted.to_commit:
            self.releases.to_commits(self.options, self.teller)
        culprits = culprits_of(self.mixes, self.graph, cured, self.releases) if cured else []
        if culprits:
            first = culprits[0].about
            found = found._replace(good=first["last_good"], bad=first["first_bad"])
            about |= {"seconds": round(seconds, 3), "tries": count}
        notes = [*self.notes, *self.mixes.notes, *self.setting.notes, *self.releases.notes]
        report = answer(
            "envs", self.tries, found, self._skipped(), self.options, began, about, notes, culprits
        )
        return report._replace(tries=count or report.tries)

    def _searched(self) -> tuple[Cured | None, Found]:
        """What cures it; once more with repeated runs where one and the same mix flips."""
        cured = self._cure()
        found = self._confirmed(cured)
        if self.repeats == 1 and (len(cured.alone) > 1 or any(cured.partners.values())):
            self.tries.run([self.none] * DOUBT)  # that is what chance looks like as well
        if self.repeats > 1 or not any(map(self.tries.is_flaky, self.tries.outcomes)):
            return cured, found
        problem = self._repeat()
        if problem is not None:
            return None, problem
        cured = self._cure()
        return cured, self._confirmed(cured)

    def _repeat(self) -> Found | None:
        """It fails only sometimes: from now on a mix works if it does so often enough."""
        both = Both(self.tries, self.all, self.none, len(self.mixes.changes), self.options)
        problem = both.rates()
        if problem is not None:
            return Found("not-reproduced", why=problem.why, hint=problem.hint)
        self.repeats = both.repeats
        return None

    def _ends(self) -> Found | None:
        """Both as they are; the other way round if the old one fails."""
        tries, bad, good = self.tries, self.none, self.all
        runs = max(1, self.options.repeat)
        tries.run([name for name in (bad, good) for _ in range(runs - tries.runs(name))])
        for name, one in ((bad, self.new), (good, self.old)):
            if name in tries.reasons:
                why = f"{one.label} can't be tested: {tries.why(name)}"
                raise UntestableError(why, hint=tries.hints.get(name, ""))
            if untestable := why_untestable(tries.outcomes[name], self.options):
                why = f"{one.label} can't be tested: {untestable}"
                return Found("not-reproduced", why=why)
        failed = {name: any(one.failed for one in tries.outcomes[name]) for name in (bad, good)}
        if failed[good] and not failed[bad]:
            return self._turned()
        self._decide()
        if tries.judge is None:
            problem = self._unlike_ends()
            if problem is not None:
                return problem
        if self.repeats == 1 and (tries.is_flaky(bad) or tries.is_flaky(good)):
            problem = self._repeat()
            if problem is not None:
                return problem
        same = [one is Verdict.SAME for one in tries.verdicts(bad)]
        self.teller.ends(
            Ends(
                self.old.label,
                self.new.label,
                tries.why(good),
                self._failure(),
                str((tries.judge and tries.judge.oracle.signature) or ""),
                len(self.mixes.changes),
                sum(same) / len(same),
                at_once=min(tries.at_once, self.options.jobs or AT_ONCE),
                noun=tries.noun,
            )
        )
        return None

    def _decide(self) -> None:
        """What to look for, by any two runs of the ends that differ as they should."""
        for old in self.tries.outcomes[self.all]:
            for new in self.tries.outcomes[self.none]:
                self.tries.judge = self.tries.judge or judge_of(old, new, self.options)

    def _failure(self) -> str:
        tries = self.tries
        pairs = zip(tries.outcomes[self.none], tries.verdicts(self.none), strict=True)
        return next((one.headline for one, is_ in pairs if is_ is Verdict.SAME), "")

    def _turned(self) -> Found | None:
        """The old one fails and the new one works."""
        self.notes.append(
            f"{self.old.label} fails and {self.new.label} works: searched the other way round"
        )
        self.teller.note(self.notes[-1])
        self.tries.close()
        self.old, self.new = self.new, self.old
        self.mixes = Mixes(self.setting, self.old.packages, self.new.packages)
        self._begin()
        return self._ends()

    def _unlike_ends(self) -> Found | None:
        tries, bad, good = self.tries, self.none, self.all
        longest = max(one.seconds for name in (bad, good) for one in tries.outcomes[name])
        fit = int(SECONDS / max(longest, SECONDS / QUICKLY))
        runs = max(AGAIN, fit, self.options.repeat)
        tries.run([name for name in (bad, good) for _ in range(runs)])
        self._decide()
        if tries.judge is not None:
            return None
        if any(one.failed for one in tries.outcomes[bad]):
            why = f"it fails in the same way with both: {tries.why(bad)}"
            return Found("not-reproduced", why=why, hint="is it for the packages at all?")
        runs = tries.runs(bad)
        why = f"it works with both, {self.old.label} and {self.new.label}, {runs} runs each"
        repeat = ("--repeat", str(max(OFTEN, 2 * runs)))
        words = shlex.join((self.old.label, self.new.label, *repeat, "--", *self.setting.given))
        hint = f"it may fail only sometimes: zeroin bisect envs {words}"
        return Found("not-reproduced", why=why, hint=hint)

    def _cure(self) -> Cured:
        """What cures it; once more with failures in the same line as the same, if that tells more.

        A mix that fails in other words tells nothing, so more is put back than it takes.
        """
        tries, cured = self.tries, self._search_cure()
        judge, told = tries.judge, alike(tries, list(tries.outcomes), self.options, ByLine)
        if judge is None or not told:
            return cured
        tries.judge = ByLine(*judge)
        again = self._search_cure()
        if _vagueness(again) < _vagueness(cured):
            self.alike.update(told)
            self.notes.append(note(tries, told))
            return again
        tries.judge = judge
        return cured

    def _search_cure(self) -> Cured:
        seen = [
            Traces(told.get("loaded", ()), told.get("shown", ()))
            for told in (noted(self.setting.folder, name) for name in (self.none, self.all))
        ]
        weights = chances(self.mixes.changes, seen, self._failure())
        search = Cure(self.graph, weights, self.ranks).search()
        question = next(search)
        while True:
            try:
                if isinstance(question, Chain):
                    question = search.send(self._edge(question))
                else:
                    question = search.send(self._verdict(question.put_back))
            except StopIteration as over:
                cured: Cured = over.value
                return cured

    def _verdict(self, put_back: frozenset[int]) -> Verdict:
        name = self.mixes.name(put_back)
        while not self._is_known(name):
            lacking = self.repeats - self.tries.runs(name)
            self.tries.run([name] * min(lacking, max(1, self.tries.free)))
        return self.tries.verdict(name) or Verdict.OTHER

    def _is_known(self, name: str) -> bool:
        """One failure tells; that it works is believed after so many runs."""
        tries = self.tries
        if not tries.is_known(name):
            return False
        told = name in tries.reasons or tries.verdict(name) is Verdict.SAME
        return told or tries.runs(name) >= self.repeats

    def _edge(self, chain: Chain) -> Edge:
        """Several at once."""
        tries = self.tries
        names = [self.mixes.name(one) for one in chain.sets]
        at = {name: number for number, name in enumerate(names)}
        search = Bisection.of(len(names) - 1, chain.chances)
        tries.between = lambda: (len(search.candidates), search.tries_left(max(1, tries.free)))
        while True:
            for name in names[1:-1]:
                verdict = tries.verdict(name)
                if verdict is not None and self._is_known(name):
                    search = search.told(at[name], _MIRROR[verdict])
            running = [at[name] for name in tries.running]
            tries.give_up({names[one] for one in running if search.is_useless(one)})
            if search.is_over:
                return Edge(search.good, search.bad)
            running = [at[name] for name in tries.running]
            free = min(tries.free, (self.options.jobs or AT_ONCE) - len(running))
            for position in search.plan(running, free) if free > 0 else ():
                tries.start(names[position])
            tries.wait()

    def _confirmed(self, cured: Cured) -> Found:
        """Once more: with it put back it works, without that it fails."""
        tries = self.tries
        tries.between = lambda: (0, 0.0)
        name = self.mixes.name(cured.put_back)
        tries.run([name] * self.repeats)
        sure = not tries.is_flaky(name) and tries.verdict(name) is Verdict.PASSED
        flaky = self.repeats > 1
        confidence = self.options.confidence
        if not flaky:
            confidence = until_sure(tries, [name], confidence)
        return Found("found", confirmed=sure, confidence=confidence, flaky=flaky)

    def _skipped(self) -> Sequence[Skipped]:
        tries = self.tries
        names = (*tries.outcomes, *tries.reasons)
        names = tuple(one for one in names if one not in self.alike | self.releases.alike)
        told = {name: tries.why(name) for name in names if tries.verdict(name) is Verdict.OTHER}
        return [Skipped(self.mixes.label(name), why) for name, why in told.items()]


def _vagueness(cured: Cured) -> tuple[int, int]:
    """How many have to be put back, and of how many nobody knows whether they break it alone."""
    return len(cured.needed), sum(alone is None for alone in cured.alone.values())

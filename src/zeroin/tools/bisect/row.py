"""Candidates in a row, and its two ends: what is looked for is what tells them apart."""

from __future__ import annotations

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import repeats_for, wilson
from zeroin.named import NamedTuple
from zeroin.search.bisection import Bisection
from zeroin.tools.bisect.backwards import spread
from zeroin.tools.bisect.judge import judge_of, why_untestable
from zeroin.tools.bisect.report import Ends, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from zeroin.cycle import Outcome
    from zeroin.search.graph import Graph
    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.tries import Tries

MORE = 5  # further runs of an end that does not do what it should
TELLING = 0.3  # of all: if more are likely, that tells nothing
PROBES = 15  # candidates that are looked at where both ends work


class Found(NamedTuple):
    """Where it is: the first bad one is one of the candidates."""

    verdict: str  # found, range, not-reproduced
    good: str = ""
    bad: str = ""
    candidates: tuple[str, ...] = ()
    confirmed: bool = False
    confidence: float = 1.0
    why: str = ""
    hint: str = ""
    note: str = ""
    flaky: bool = False  # runs of the same candidate told different things
    given_up: bool = False  # before all that could be told was told; `why` says why


class Row:
    """Names, the first of which is the good end and the last the bad one; and what is known."""

    def __init__(
        self,
        tries: Tries,
        names: Sequence[str],
        options: BisectOptions,
        is_an_end: Callable[[str], bool] = lambda _: True,
        graph: Graph | None = None,
        likely: Callable[[Sequence[str]], Collection[str]] = lambda _: (),
        *,
        wavers: bool = False,
    ) -> None:
        """`is_an_end`: whether the answer is the last word, and so to be looked at once more.

        With a `graph` names are in an order in which what is before another comes first. `likely`
        are those to begin with, given what is said of the failure. Names that are amounts may
        `waver` close to the edge: what fails once is not enough.
        """
        self._tries = tries
        self._graph = graph
        self._is_an_end = is_an_end
        self._names = names
        self._at = {name: position for position, name in enumerate(names)}
        self._options = options
        self._last = len(names) - 1
        self._likely = likely
        self._wavers = wavers
        self._in_vain: dict[str, None] = {}  # those that told nothing since one told something
        self._search: Bisection | Graph | None = graph or Bisection.of(self._last)
        tries.between = self._between

    def _between(self) -> tuple[int, float]:
        """How many are left, and about how many tries one after the other."""
        if self._search is None:
            return self._last, 0.0
        search = self._told(self._search)
        return len(search.candidates), search.tries_left(len(self._tries.running) + 1)

    def _running(self) -> list[int]:
        """Where tries are under way; of an outer search some may be, too."""
        return [self._at[name] for name in self._tries.running if name in self._at]

    def _told(self, search: Bisection | Graph) -> Bisection | Graph:
        """With all that is known by now."""
        names = [*self._tries.outcomes, *self._tries.reasons]
        if self._wavers:  # one that worked at first may have failed since
            search = Bisection.of(self._last)
            names.sort(key=lambda name: self._tries.verdict(name) is not Verdict.SAME)
        for name in names:
            position = self._at.get(name, 0)
            verdict = self._tries.verdict(name)
            if verdict is not None and 0 < position < self._last:
                search = search.told(position, verdict)
        return search

    def find(self) -> Found:
        """The answer."""
        raise NotImplementedError

    def find_repair(self, tries: Tries) -> str:
        """Since when it works again, in words."""
        raise NotImplementedError

    def _ends(self) -> Found | None:
        """Look at both; what is likely to be asked next is begun meanwhile."""
        tries, good, bad = self._tries, self._names[0], self._names[-1]
        wanted = [name for name in (bad, good) if not tries.is_known(name)]
        for name in wanted:
            tries.start(name)
        if wanted and tries.free > 0:
            self._search = self._expecting()
        while not (tries.is_known(good) and tries.is_known(bad)):
            self._begin_ahead()
            tries.wait()
        for name in (bad, good):
            if name in tries.reasons:
                label = tries.axis.label(name)
                why = f"{label} can't be tested: {tries.why(name)}"
                other = f"name another {tries.noun} as {'bad' if name == bad else 'good'}"
                return Found("not-reproduced", why=why, hint=tries.hints.get(name) or other)
        if tries.judge is not None:  # what is looked for is known from an outer search
            return self._is_inside(good, bad)
        self._decide(good, bad)
        if tries.judge is None:
            tries.give_up(set(tries.running))
            problem = self._look_again(good, bad)
            if problem is not None:
                return problem
        signature = tries.judge.oracle.signature if tries.judge is not None else None
        rate = [one is Verdict.SAME for one in tries.verdicts(bad)]
        tries.teller.ends(
            Ends(
                tries.axis.label(good),
                tries.axis.label(bad),
                self._headline(good, Verdict.PASSED),
                self._headline(bad, Verdict.SAME),
                str(signature or ""),
                self._last - 1,
                sum(rate) / len(rate) if rate else 1.0,
                at_once=tries.at_once,
                noun=tries.noun,
            )
        )
        return None

    def _headline(self, name: str, wanted: Verdict) -> str:
        """Of a run that showed what it was to show: there may be others."""
        seen = zip(self._tries.outcomes[name], self._tries.verdicts(name), strict=True)
        return next((one.headline for one, verdict in seen if verdict is wanted), "")

    def _is_inside(self, good: str, bad: str) -> Found | None:
        tries = self._tries
        lacking = [one for one in (bad, good) for _ in range(self._repeats() - tries.runs(one))]
        tries.run(lacking, cold=True)
        if tries.is_flaky(good) or tries.is_flaky(bad):
            return None  # how often is looked at later
        if tries.verdict(bad) is Verdict.SAME and tries.verdict(good) is Verdict.PASSED:
            return None
        name = bad if tries.verdict(bad) is not Verdict.SAME else good
        how = tries.why(name) or "it works"
        return Found("not-reproduced", why=f"{tries.axis.label(name)}: {how}")

    def _repeats(self) -> int:
        """Runs after which a pass is believed: one, unless the failure is known to come and go."""
        tries = self._tries
        if not any(map(tries.is_flaky, tries.outcomes)):
            return 1
        seen = [one for one in map(self._counted, tries.outcomes) if one[0]]
        low, _ = wilson(sum(one[0] for one in seen), sum(one[1] for one in seen), z=1.0)
        return repeats_for(low, self._options.confidence)

    def _expecting(self) -> Bisection | Graph:
        """Nothing is known yet but what is likely."""
        outcomes = self._tries.outcomes.get(self._names[-1], ())
        said = [f"{one.headline} {one.signature}" for one in outcomes if one.failed]
        some = [self._at[name] for name in self._likely(said) if name in self._at]
        if len(some) > TELLING * self._last:
            some = []
        if self._graph is not None:
            return self._graph.expecting(some)
        return Bisection.expecting(self._last, some)

    def _begin_ahead(self) -> None:
        """Both ends will most likely be as they should."""
        search = self._search
        running = self._running()
        if search is None or self._tries.free <= 0:
            return
        for position in search.plan(running, self._tries.free):
            if not self._tries.is_known(self._names[position]):
                self._tries.start(self._names[position])

    def _decide(self, good: str, bad: str) -> None:
        """What to look for, by any two runs of the ends that differ as they should."""
        for old in self._tries.outcomes[good]:
            for new in self._tries.outcomes[bad]:
                self._tries.judge = self._tries.judge or judge_of(old, new, self._options)

    def _look_again(self, good: str, bad: str) -> Found | None:
        """An end is not as it should be: is that always so?"""
        tries = self._tries
        for name in (good, bad):
            if untestable := why_untestable(tries.outcomes[name], self._options):
                why = f"{tries.axis.label(name)} can't be tested: {untestable}"
                return Found("not-reproduced", why=why)
        runs = max(MORE, self._options.repeat)
        lacking = [one for one in (bad, good) for _ in range(runs - tries.runs(one) + 1)]
        tries.run(lacking, cold=True)  # those that go on from one snapshot draw the same numbers
        self._decide(good, bad)
        if tries.judge is not None:
            return None
        old, new = tries.outcomes[good], tries.outcomes[bad]
        if not _fails(old) and not _fails(new):
            return self._middle(good, bad)
        why, hint = self._what_is_wrong(old, new)
        return Found("not-reproduced", why=why, hint=hint)

    def _what_is_wrong(self, old: list[Outcome], new: list[Outcome]) -> tuple[str, str]:
        label = self._tries.axis.label
        good, bad = label(self._names[0]), label(self._names[-1])
        if self._options.match or self._options.exit_code is not None:
            what = f"{good} gives {_how(old)}, {bad} gives {_how(new)}"
            return f"the failure that was asked for does not tell the two apart: {what}", ""
        if _fails(old) and not _fails(new) and not self._options.fixed:
            why = f"{good} fails and {bad} works: {_how(old)}"
            return why, "to find what repaired it, add --fixed; or swap the two"
        if _fails(new) and not _fails(old) and self._options.fixed:
            why = f"{bad} fails and {good} works: {_how(new)}"
            return why, "to find what broke it, leave --fixed out"
        why = f"{good} fails in the same way as {bad}: {_how(new)}"
        return why, "name an older one as good, where it worked"

    def _middle(self, good: str, bad: str) -> Found | None:
        """Both ends work: does anything between them fail?"""
        names, tries = self._names, self._tries
        label = tries.axis.label
        nothing = Found(
            "not-reproduced",
            why=f"both ends work: {label(good)} and {label(bad)}, {tries.runs(bad)} runs each",
            hint="does the command fail by itself?  zeroin run -- ...; rarely: --repeat 50",
        )
        for position in spread(1, self._last)[:PROBES]:
            tries.run([names[position]])
            outcomes = tries.outcomes.get(names[position])
            if not outcomes or not outcomes[-1].failed:
                continue
            outcome = outcomes[-1]
            tries.judge = judge_of(tries.outcomes[good][-1], outcome, self._options)
            inner = type(self)(tries, names[: position + 1], self._options).find()
            later = type(self)(tries, names[position:], self._options._replace(fixed=True))
            repaired = later.find_repair(tries)
            note = f"both ends work, and only what is between fails; it works again {repaired}"
            return inner._replace(note=note)
        return nothing

    def _counted(self, name: str) -> tuple[int, int]:
        """How often it failed, of how many runs that tell something."""
        seen = [one for one in self._tries.verdicts(name) if one is not Verdict.OTHER]
        return sum(one is Verdict.SAME for one in seen), len(seen)

    def skipped(self) -> list[Skipped]:
        """What told nothing."""
        tries = self._tries
        return [
            Skipped(name, tries.why(name))
            for name in self._names
            if tries.verdict(name) is Verdict.OTHER
        ]


def _fails(outcomes: list[Outcome]) -> bool:
    return any(one.kind is not Kind.PASSED for one in outcomes)


def _how(outcomes: list[Outcome]) -> str:
    failing = next((one for one in outcomes if one.failed), None)
    return failing.headline if failing is not None else "no failure"

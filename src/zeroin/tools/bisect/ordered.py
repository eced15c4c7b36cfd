"""The first bad one of candidates in a row."""

from __future__ import annotations

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import repeats_for, wilson
from zeroin.named import NamedTuple
from zeroin.search import sure
from zeroin.search.bisection import Bisection
from zeroin.search.noisy import Noisy
from zeroin.tools.bisect.backwards import spread
from zeroin.tools.bisect.judge import judge_of
from zeroin.tools.bisect.report import Ends, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from zeroin.cycle import Outcome
    from zeroin.search.graph import Graph
    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.tries import Tries

FLAKY = "flaky"  # what has no line can't be searched so
MORE = 5  # further runs of an end that does not do what it should
ENDS = 10  # runs of either end where it fails only sometimes,
MOST_RUNS = 1000  # and of all: it may be that nothing tells the two ends apart
TWICE = 2  # is the bad end run, if that takes no time
DIFFER = 1.64  # standard errors on either side: what differs less is not told apart
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


class Ordered:
    """A search along names, the first of which is the good end and the last the bad one."""

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

    # --- both ends ----------------------------------------------------------------------------

    def find(self) -> Found:
        """Both ends, the search, the answer once more."""
        problem = self._ends()
        if problem is not None:
            return problem
        if self._wavers or not any(map(self._tries.is_flaky, self._names)):
            found = self._exactly()
            if found is not None:
                return found
        return Found(FLAKY) if self._graph is not None else self._noisily()

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
            inner = Ordered(tries, names[: position + 1], self._options).find()
            later = Ordered(tries, names[position:], self._options._replace(fixed=True))
            repaired = later.find_repair(tries)
            note = f"both ends work, and only what is between fails; it works again {repaired}"
            return inner._replace(note=note)
        return nothing

    def find_repair(self, tries: Tries) -> str:
        """Since when it works again, in words."""
        judge = tries.judge
        if judge is None:
            return "later"
        tries.judge = judge._replace(fixed=True)
        found = self._exactly()
        tries.judge = judge
        return f"since {tries.axis.label(found.bad)}" if found is not None else "later"

    # --- where it always fails the same way ---------------------------------------------------

    def _exactly(self) -> Found | None:
        """None where runs of the same candidate tell different things."""
        tries = self._tries
        search = self._expecting()
        while True:
            self._search = search = self._told(search)
            edges = (search.good, search.bad, self._last)  # looked at once more
            running = {name: self._at.get(name, 0) for name in tries.running}
            useless = (name for name, at in running.items() if search.is_useless(at))
            tries.give_up({name for name in useless if running[name] not in edges})
            if search.is_over and self._is_sure(search):
                tries.give_up(set(tries.running))
                break
            self._fill(search)
            if not tries.running:
                break
            done = tries.wait()
            if self._wavers:
                continue
            if any(map(tries.is_flaky, done)):
                tries.give_up(set(tries.running))
                return None
        good, bad = self._names[search.good], self._names[search.bad]
        candidates = tuple(self._names[one] for one in search.candidates)
        verdict = "found" if len(candidates) == 1 else "range"
        confirmed = tries.is_sure(good) and tries.is_sure(bad)
        if self._wavers:
            return self._wavering(Found(verdict, good, bad, candidates, confirmed))
        return Found(verdict, good, bad, candidates, confirmed, self._chance(search))

    def _wavering(self, found: Found) -> Found:
        """With how often the first that is not enough fails, if that is not each time."""
        label = self._tries.axis.label
        fails, runs = self._counted(found.good)
        if fails:  # the good end itself: nothing above it was tried
            how = f"{label(found.good)} fails in {fails} of {runs} runs"
            return Found("not-reproduced", why=how)
        fails, runs = self._counted(found.bad)
        note = f"{label(found.bad)} fails in {fails} of {runs} runs" if fails < runs else ""
        return found._replace(note=note)

    def _is_sure(self, search: Bisection | Graph) -> bool:
        """Whether both sides of the answer were run often enough, and no pass was mere luck."""
        sides = (self._names[search.good], self._names[search.bad])
        is_sure = all(map(self._tries.is_sure, sides))
        if self._wavers:
            return is_sure
        return is_sure and self._chance(search) >= self._options.confidence

    def _most_telling(self, search: Bisection | Graph) -> str:
        """Which side to run once more, until the answer is sure; "" if it is, or soon will be."""
        sides = (self._names[search.good], self._names[search.bad])
        running = [name for name in self._tries.running if name in sides]
        if self._chance(search, running) >= self._options.confidence:
            return ""
        return max(sides, key=lambda name: self._chance(search, [*running, name]))

    def _chance(self, search: Bisection | Graph, more: Sequence[str] = ()) -> float:
        """How sure what is left is, if the failure may come and go; `more` do as before again."""
        if self._graph is not None:
            before, left = self._graph.before, self._graph.left
        else:
            before = tuple((2 << position) - 1 for position in range(self._last + 1))
            left = before[-1] & ~1
        seen = []
        for name in self._tries.outcomes:
            fails, runs = self._counted(name)
            again = (more.count(name), 0) if fails else (0, more.count(name))
            if name in self._at:
                place = before[self._at[name]]
                seen.append(sure.Seen(place, fails + again[0], runs - fails + again[1]))
        answer = sum(1 << position for position in search.candidates)
        return sure.chance(left, seen, answer)

    def _fill(self, search: Bisection | Graph) -> None:
        """Start what is worth it; who is free runs once more what may be the answer."""
        tries = self._tries
        room = tries.free
        while room > 0:
            planned = [] if search.is_over else search.plan(self._running(), room)
            planned = [one for one in planned if not tries.is_known(self._names[one])][:room]
            for position in planned:
                tries.start(self._names[position])
            room -= len(planned)
            if planned:
                continue
            again = self._again(search)
            if again is None:
                return
            tries.start(again[0], cold=again[1])
            room -= 1

    def _again(self, search: Bisection | Graph) -> tuple[str, bool] | None:
        """Which one to run once more, and whether as a whole, as both sides of the answer are."""
        tries, last = self._tries, self._names[-1]
        running = tries.running
        around: list[int] = []
        if search.is_over:
            if not self._is_an_end(self._names[search.bad]):
                return None
            around = [search.bad, search.good]
        elif not tries.is_warm:  # a whole run would take longer than all the rest
            # The answer will be two neighbours among these: one after the other, from the top.
            left = [one for one in search.candidates if not search.is_useless(one)]
            around = [search.bad, *reversed(left), search.good]
        for name in (self._names[one] for one in around):
            if tries.lacking(name) > running.count(name):
                return name, True
        if search.is_over and not self._wavers:
            name = self._most_telling(search)
            if name:
                return name, not tries.is_warm
        # Two runs that differ show what comes and goes; that is worth a free worker, no wait.
        lacks = tries.runs(last) + running.count(last) < TWICE
        return (last, not tries.is_warm) if lacks and (running or tries.is_warm) else None

    # --- where it fails only sometimes --------------------------------------------------------

    def _noisily(self) -> Found:
        tries = self._tries
        self._search = None
        confidence = self._options.confidence
        ends = (self._names[-1], self._names[0])
        problem = self._are_alike(*ends)
        if problem is not None:
            return problem
        counts = [self._counted(name) for name in self._names]
        search = Noisy.of(self._last, confidence, good=counts[0], bad=counts[-1])
        for position, (fails, runs) in enumerate(counts[1:-1], 1):
            for number in range(runs):
                search = search.told(position, number < fails)
        told = {name: tries.runs(name) for name in self._names}
        most = tries.tries + max(MOST_RUNS, self._options.repeat)
        while not search.is_over and tries.tries < most:
            running = self._running()
            if tries.free > 0:
                for position in search.plan(running, tries.free):
                    tries.start(self._names[position], cold=True)
            for name in set(tries.wait()) & self._at.keys():  # of one there may be two at once
                for seen in tries.verdicts(name)[told[name] :] or [Verdict.OTHER]:
                    search = _after(search, self._at[name], seen)
                told[name] = tries.runs(name)
        tries.give_up(set(tries.running))
        candidates = tuple(self._names[one] for one in search.candidates)
        verdict = "found" if len(candidates) == 1 and search.is_over else "range"
        good, bad = self._names[search.answer - 1], self._names[search.answer]
        chance = search.chance
        return Found(verdict, good, bad, candidates, confirmed=True, confidence=chance, flaky=True)

    def _are_alike(self, bad: str, good: str) -> Found | None:
        """Where the good end fails as well: does it fail less often?"""
        tries = self._tries
        ends = (bad, good)
        for runs in (ENDS, 2 * ENDS, 4 * ENDS):
            tries.run([one for one in ends for _ in range(runs - tries.runs(one))], cold=True)
            often, seldom = (self._counted(one) for one in ends)
            if not seldom[0] or wilson(*seldom, z=DIFFER)[1] < wilson(*often, z=DIFFER)[0]:
                return None
        rates = ", ".join(
            f"{tries.axis.label(name)} fails in {fails} of {count} runs"
            for name in (good, bad)
            for fails, count in [self._counted(name)]
        )
        return Found(
            "not-reproduced",
            why=f"it is flaky at both ends alike: {rates}",
            hint="name an older one as good, where it never fails",
        )

    def _counted(self, name: str) -> tuple[int, int]:
        """How often it failed, of how many runs that tell something."""
        seen = [one for one in self._tries.verdicts(name) if one is not Verdict.OTHER]
        return sum(one is Verdict.SAME for one in seen), len(seen)

    # --- the rest -----------------------------------------------------------------------------

    def skipped(self) -> list[Skipped]:
        """What told nothing."""
        tries = self._tries
        return [
            Skipped(name, tries.why(name))
            for name in self._names
            if tries.verdict(name) is Verdict.OTHER
        ]


def _after(search: Noisy, position: int, seen: Verdict) -> Noisy:
    if seen is Verdict.OTHER:
        return search.told_untestable(position)
    return search.told(position, seen is Verdict.SAME)


def _fails(outcomes: list[Outcome]) -> bool:
    return any(one.kind is not Kind.PASSED for one in outcomes)


def _how(outcomes: list[Outcome]) -> str:
    failing = next((one for one in outcomes if one.failed), None)
    return failing.headline if failing is not None else "no failure"

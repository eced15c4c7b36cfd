"""The first bad one of candidates in a row."""

from __future__ import annotations

from zeroin.cycle import Verdict
from zeroin.cycle.oracle import wilson
from zeroin.search import sure
from zeroin.search.bisection import Bisection
from zeroin.search.noisy import Noisy
from zeroin.tools.bisect.row import Found, Row
from zeroin.tools.bisect.tries import GivenUpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.search.graph import Graph
    from zeroin.tools.bisect.tries import Tries

FLAKY = "flaky"  # what has no line can't be searched so
ENDS = 10  # runs of either end where it fails only sometimes,
MOST_RUNS = 1000  # and of all: it may be that nothing tells the two ends apart
TWICE = 2  # is the bad end run, if that takes no time
IN_VAIN = 20  # candidates in a row that told nothing: the rest won't, either
DIFFER = 1.64  # standard errors on either side: what differs less is not told apart


class Ordered(Row):
    """A search along names, the first of which is the good end and the last the bad one."""

    def find(self) -> Found:
        """Both ends, the search, the answer once more; or what is left when it is given up."""
        try:
            return self._find()
        except GivenUpError as error:
            return self._given_up(error)

    def _find(self) -> Found:
        problem = self._ends()
        if problem is not None:
            return problem
        if self._wavers or not any(map(self._tries.is_flaky, self._names)):
            found = self._exactly()
            if found is not None:
                return found
        return Found(FLAKY) if self._graph is not None else self._noisily()

    def find_repair(self, tries: Tries) -> str:
        """Since when it works again, in words."""
        judge = tries.judge
        if judge is None:
            return "later"
        tries.judge = judge._replace(fixed=True)
        found = self._exactly()
        tries.judge = judge
        return f"since {tries.axis.label(found.bad)}" if found is not None else "later"

    # --- where it is given up -----------------------------------------------------------------

    def _given_up(self, error: GivenUpError) -> Found:
        tries = self._tries
        tries.give_up(set(tries.running))
        if tries.judge is None:
            return Found("not-reproduced", why=error.message, hint=error.hint, given_up=True)
        search = self._told(self._search or Bisection.of(self._last))
        good, bad = self._names[search.good], self._names[search.bad]
        left = tuple(self._names[one] for one in search.candidates)
        why, hint = error.message, error.hint
        return Found("range", good, bad, left, why=why, hint=hint, given_up=True)

    def _note_in_vain(self, names: Sequence[str]) -> None:
        """Give up where nothing that is tried tells anything any more."""
        tries = self._tries
        for name in names:
            if tries.verdict(name) is Verdict.OTHER:
                self._in_vain[name] = None
            else:
                self._in_vain.clear()
        if len(self._in_vain) >= IN_VAIN:
            last = next(reversed(self._in_vain))
            raise GivenUpError(
                f"{len(self._in_vain)} {tries.noun}s in a row told nothing, "
                f"{tries.axis.label(last)} the last: {tries.why(last)}",
                hint="what can't be tested there: another Python, --build, --env, other ends?",
            )

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
            self._note_in_vain(done)
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
            done = set(tries.wait()) & self._at.keys()  # of one there may be two at once
            self._note_in_vain(list(done))
            for name in done:
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


def _after(search: Noisy, position: int, seen: Verdict) -> Noisy:
    if seen is Verdict.OTHER:
        return search.told_untestable(position)
    return search.told(position, seen is Verdict.SAME)

"""The fewest of several changes that break it, where any of them may be at fault, or some together.

Both ends are run first. Then changes are left out, group by group, as long as it fails the same
way; what is likely to be asked next is tried meanwhile. The answer is run again from the start:
what works plus these changes, and what fails without them. Where that still fails, something else
breaks it as well, and is looked for, too.
"""

from __future__ import annotations

import math

from zeroin.axes.changes.choice import NOTHING, Choice, is_part, read
from zeroin.cycle import Verdict
from zeroin.named import NamedTuple
from zeroin.search import ahead, culprits
from zeroin.search.culprits import Culprits
from zeroin.search.ranges import members
from zeroin.search.reduction import Reduction
from zeroin.tools.bisect.both import Both
from zeroin.tools.bisect.luck import until_sure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zeroin.axes.changes.choice import Ranges
    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.tries import Tries

TWICE = 2  # runs of the answer
MOST_MEMBERS = 30  # of an answer, each of which is left out once
MOST_STUCK = 12  # that are tried in pairs: some sixty
MOST_SETS = 4  # that are looked for, where several break it independently
AHEAD = 2  # questions for each worker, among which those under way are useful


class Together(NamedTuple):
    """The answer: each of the sets is enough by itself."""

    verdict: str  # found, not-reproduced
    sets: tuple[Choice, ...] = ()
    confirmed: bool = False
    cured: bool = False  # without them it works,
    instead: str = ""  # or fails in this other way
    confidence: float = 1.0
    why: str = ""
    hint: str = ""
    note: str = ""
    flaky: bool = False


class _FlakyError(Exception):
    """Runs of the same thing tell different things."""


class Combined:
    """A search among the changes of `whole`; nothing of it works, all of it fails."""

    def __init__(
        self,
        tries: Tries,
        whole: Choice,
        options: BisectOptions,
        why_not: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._tries = tries
        self._whole = whole
        self._options = options
        self._why_not = why_not
        self._both = Both(tries, NOTHING, whole.name, whole.size, options)
        self._left = whole
        self._useless: dict[str, str] = {}  # names that are no candidates, and why
        self._new = set(tries.outcomes)  # names that may belong to those that work
        self._works: list[Ranges] = []
        self._fails: dict[str, Ranges] = {}
        tries.between = self._between

    def _between(self) -> tuple[int, float]:
        best = self._smaller(self._left) or self._left
        works = (one for one in self._works if is_part(one, best.kept))
        sizes = [sum(stop - start for start, stop in one) for one in works]
        left = best.size - max(sizes, default=0)  # one of these it takes, at least
        return left, math.log2(left) * self._repeats if left > 1 else 0.0

    def find(self) -> Together:
        """Both ends, the search, the answer once more."""
        problem = self._both.look()
        if problem is None and not self._both.is_flaky:
            try:
                return self._sets()
            except _FlakyError:
                self._tries.give_up(set(self._tries.running))
        problem = problem or self._both.rates()
        if problem is not None:
            return Together("not-reproduced", why=problem.why, hint=problem.hint)
        return self._sets()

    @property
    def _repeats(self) -> int:
        return self._both.repeats

    # --- searching ----------------------------------------------------------------------------

    def _sets(self) -> Together:
        """One set of changes after the other, until it works without them."""
        sets: list[Choice] = []
        rest = self._whole
        confirmed = True
        works = [NOTHING]
        while True:
            one = self._fewest(rest)
            rest = rest.without(one)
            confirmed = self._confirm(one, rest) and confirmed
            works += [*self._without_each(one), rest.name]
            sets.append(one)
            after = self._answer(rest)
            if after is not Verdict.SAME or len(sets) >= MOST_SETS or not rest.size:
                break
        confidence = self._options.confidence
        flaky = self._repeats > 1
        if not flaky:
            confidence = until_sure(self._tries, works, confidence)
            if self._both.is_flaky or any(map(self._tries.is_flaky, works)):
                raise _FlakyError
        return Together(
            "found",
            tuple(sets),
            confirmed,
            after is Verdict.PASSED,
            self._tries.why(rest.name) if after is Verdict.OTHER else "",
            confidence,
            flaky=flaky,
        )

    def _answer(self, choice: Choice) -> Verdict:
        """Of a choice that is made to be known."""
        while self._known(choice.name) is None:
            lacking = self._repeats - self._tries.runs(choice.name)
            self._tries.run([choice.name] * min(lacking, max(1, self._tries.free)), cold=True)
        return self._tries.verdict(choice.name) or Verdict.OTHER

    def _known(self, name: str) -> bool | None:
        """Whether that is enough for it to fail; None if nobody knows."""
        tries = self._tries
        if self._useless.get(name):
            return False
        if tries.verdict(name) is Verdict.SAME:
            return True
        if name in tries.reasons or tries.runs(name) >= self._repeats:
            return False
        return None

    def _guessed(self, name: str) -> bool | None:
        """What is part of something that works, works: the answer itself is not left to that."""
        known = self._known(name)
        if known is None and any(is_part(read(name), one) for one in self._working()):
            return False
        return known

    def _working(self) -> list[Ranges]:
        tries = self._tries
        for name in list(self._new):
            if tries.runs(name) >= self._repeats and tries.verdict(name) is not None:
                self._new.discard(name)
                if tries.verdict(name) is Verdict.PASSED:
                    self._works.append(read(name))
        return self._works

    def _fewest(self, begin: Choice) -> Choice:
        """Ask to the end; then make sure that none of the answer can be left out."""
        while True:
            best = self._searched(begin)
            ones = self._without_each(best)
            if not ones:
                return best
            while lacking := [one for one in ones if self._known(one) is None]:
                usable = [one for one in lacking if not self._is_useless(one)]
                self._run(usable)
            if any(map(self._known, ones)):
                begin = best
                continue
            begin = self._untangled(best, ones)
            if begin == best:
                return best

    def _without_each(self, best: Choice) -> list[str]:
        """The names of all but one; none if there are too many."""
        numbers = best.numbers()
        if len(numbers) > MOST_MEMBERS:
            return []
        return [best.of([n for n in numbers if n != one]).name for one in numbers]

    def _untangled(self, best: Choice, ones: Sequence[str]) -> Choice:
        """Changes that need each other can't go one by one: they are tried in pairs and groups."""
        numbers = best.numbers()
        stuck = sum(self._verdict(one) is Verdict.OTHER for one in ones)
        if not 2 <= stuck <= MOST_STUCK:
            return best
        search = Culprits.of(len(numbers))
        verdicts: dict[Ranges, Verdict] = {}
        while search.question is not None:
            names = {
                parts: best.of([numbers[at] for at in members(parts)]).name
                for parts in culprits.tries(search, max(1, self._tries.free), verdicts)
            }
            wanted = [one for one in names.values() if self._known(one) is None]
            self._run([one for one in wanted if not self._is_useless(one)])
            verdicts |= {parts: self._verdict(name) for parts, name in names.items()}
            search = culprits.advanced(search, verdicts)
        return best.of([numbers[at] for at in search.kept])

    def _verdict(self, name: str) -> Verdict:
        """Of what has been tried, or needs no try."""
        return (
            Verdict.OTHER if self._is_useless(name) else self._tries.verdict(name) or Verdict.OTHER
        )

    def _searched(self, begin: Choice) -> Choice:
        search = Reduction.of(self._smaller(begin) or begin)
        self._left = search.payload
        while (question := search.question) is not None:
            answer = self._guessed(question.payload().name)
            if answer is None:
                self._ask(search)
                best = self._smaller(search.payload)
                search = search if best is None else Reduction.of(best)
            else:
                search = search.told(answer)
            self._left = search.payload
        self._tries.give_up(set(self._tries.running))
        return search.payload

    def _smaller(self, than: Choice) -> Choice | None:
        """What was tried ahead may be better than what was asked for."""
        best = None
        for name in (*self._tries.outcomes,):
            if name not in self._fails and self._tries.verdict(name) is Verdict.SAME:
                self._fails[name] = read(name)
        for kept in self._fails.values():
            if kept != than.kept and is_part(kept, than.kept):
                one = Choice(kept, than.levels)
                best = one if best is None or one.size < best.size else best
        return best

    def _ask(self, search: Reduction[Choice]) -> None:
        """Have the next questions tried, and wait until one is."""
        tries = self._tries
        jobs = len(tries.running) + max(0, tries.free)
        known = lambda one: self._guessed(one.payload().name)  # noqa: E731 - said once
        asked = ahead.questions(search, AHEAD * max(1, jobs), known)
        planned = list(dict.fromkeys(one.payload().name for one in asked))
        planned = [name for name in planned if not self._is_useless(name)]
        if not planned or search.question is None:
            return  # what was asked for needs no try
        if tries.free <= 0 and planned[0] not in tries.running:
            tries.give_up(set(tries.running) - set(planned[: max(1, jobs)]) or {tries.running[-1]})
        for name in planned:
            lacking = self._repeats - tries.runs(name) - tries.running.count(name)
            for _ in range(min(lacking, tries.free)):
                tries.start(name, cold=self._repeats > 1)
        self._wait()

    def _wait(self) -> None:
        for name in self._tries.wait():
            self._new.add(name)
            if self._tries.is_flaky(name) and self._repeats == 1:
                raise _FlakyError

    def _run(self, names: Sequence[str]) -> None:
        """Try these, as often as it takes."""
        tries = self._tries
        left = [name for name in names for _ in range(self._repeats - tries.runs(name))]
        while left or tries.running:
            while left and tries.free > 0:
                tries.start(left.pop(0), cold=self._repeats > 1)
            self._wait()

    def _is_useless(self, name: str) -> bool:
        """What can't be tried needs no try."""
        if name not in self._useless:
            self._useless[name] = self._why_not(name)
        return bool(self._useless[name])

    # --- once more ----------------------------------------------------------------------------

    def _confirm(self, one: Choice, rest: Choice) -> bool:
        """From the start: what works, with these changes; and what fails, without them."""
        tries = self._tries
        wanted = [(one.name, TWICE), (NOTHING, TWICE), (rest.name, 1)]
        tries.run(
            [name for name, runs in wanted for _ in range(runs - tries.runs(name))], cold=True
        )
        if self._repeats == 1 and any(tries.is_flaky(name) for name, _ in wanted):
            raise _FlakyError
        good = tries.verdict(NOTHING)
        return tries.verdict(one.name) is Verdict.SAME and good is Verdict.PASSED

    def need(self, one: Choice, number: int) -> tuple[Verdict, str]:
        """How it goes with all of a set but one; and what failed then, if something else did."""
        name = one.of([other for other in one.numbers() if other != number]).name
        if self._useless.get(name):
            return Verdict.OTHER, self._useless[name]
        verdict = self._tries.verdict(name) or Verdict.OTHER
        return verdict, self._tries.why(name) if verdict is Verdict.OTHER else ""

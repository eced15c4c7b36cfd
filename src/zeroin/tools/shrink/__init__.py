"""`shrink`: the smallest payload that still fails the same way.

The baseline says which failure is meant. A search (`zeroin.search`) asks for smaller and smaller
payloads, workers try them, several at once, and the smallest is confirmed at the end.
"""

from __future__ import annotations

import errno
import os
import signal
import time

from zeroin.axes.payload import read
from zeroin.axes.payload.group import Group
from zeroin.cycle import Verdict
from zeroin.cycle.oracle import Rate, wilson
from zeroin.digest import digest
from zeroin.errors import ZeroinError
from zeroin.record import place as places
from zeroin.run import copies, environment
from zeroin.run.apart import View, can_be_apart
from zeroin.run.cutter import Cutter, interpreter
from zeroin.search import ahead
from zeroin.search.clues import Clues
from zeroin.search.reduction import Reduction
from zeroin.tools import limits
from zeroin.tools.shrink import baseline as baselines
from zeroin.tools.shrink import flat, inline
from zeroin.tools.shrink import world as worlds
from zeroin.tools.shrink.report import OtherFailure, Progress, ShrinkReport, Step
from zeroin.tools.shrink.result import Results
from zeroin.tools.shrink.tries import GoneError, Tries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.search.reduction import Candidate
    from zeroin.tools.shrink.report import Baseline, ShrinkOptions, Teller

# What the kernel says where a namespace can't name the owner of a file that is to be changed.
OVERFLOW = os.strerror(errno.EOVERFLOW)
ONCE_MORE = 3  # runs of the result,
QUICK = 1.0  # of a program that takes less than this; a slow one is run once
ENDING = (signal.SIGTERM, signal.SIGHUP)
NOT_THERE = b"raise ImportError\n"
REMEMBERED = 10_000  # candidates


def shrink(
    cycle: Cycle, options: ShrinkOptions, environ: Mapping[str, str], teller: Teller
) -> ShrinkReport:
    """Find it."""
    if cycle.limits:
        cycle = limits.resolved(cycle, environ)
        options = options._replace(cold=True)
    one = _Shrink(cycle, options, environ, teller)
    before = {number: signal.getsignal(number) for number in ENDING}
    for number, how in before.items():
        if how is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        return one.go()
    finally:
        one.close()
        for number, how in before.items():
            signal.signal(number, how)


def _interrupt(number: int, _: object) -> None:
    """Whoever ends us gets the best so far, as after Ctrl-C."""
    raise KeyboardInterrupt(number)


class _Shrink:
    def __init__(
        self, cycle: Cycle, options: ShrinkOptions, environ: Mapping[str, str], teller: Teller
    ) -> None:
        self.options = options
        self.rule = baselines.rule(options)
        self.is_slip_told = False
        self.teller = teller
        self.started = time.monotonic()
        self.notes: list[str] = []
        self.steps: list[Step] = []
        self.cutters: list[Cutter] = []
        self.environ = environ
        self.cycle = cycle
        place = places.find(cycle.cwd, environ)
        self.root = place.root or cycle.cwd
        self.modules: dict[str, str] = {}  # that are to be folded into the script
        paths = options.paths
        if options.inline:
            script = inline.script_of(cycle, options.paths)
            self.modules = inline.modules_of(cycle, environ, self.root, script)
            paths = (*paths, *self.modules.values())
        self.world = worlds.World(worlds.find(paths, cycle.cwd), self._cutter)
        variables = environment.users(cycle, environ) if options.env else {}
        words = cycle.command[1:] if options.args else ()
        self.whole = self.best = self.world.read(words, variables)
        self.notes += self.world.notes
        if self.root == "/":  # it can't be covered as a project's folder is
            self.notes.append("the command runs in /, so what it writes in a try stays; see --cwd")
        for note in self.notes:
            teller.note(note)  # before the search, which may take long because of it
        if options.interesting:
            cycle = cycle._replace(command=(options.interesting, *options.paths))
        self.cycle = cycle
        kept = os.path.join(place.folder, "shrink", self._key())
        self.tries = Tries(self.world, cycle, environ, self._view, kept)
        self.tries.timeout = cycle.timeout
        self.results = Results(self.world, cycle, options)
        self.copied = False  # where namespaces can't be had

    def _cutter(self, path: str, kind: str) -> Cutter | None:
        """The user's own interpreter, if it can read that file."""
        python = interpreter(self.cycle, self.environ)
        one = Cutter(python, path, kind, environment.users(self.cycle, self.environ))
        self.cutters.append(one)
        if one.error:
            self.notes.append(f"{os.path.basename(path)} is made smaller by its bytes: {one.error}")
        return None if one.error else one

    def close(self) -> None:
        """Leave nothing behind."""
        self.tries.close()
        for one in self.cutters:
            one.close()

    def _key(self) -> str:
        """The same question has the same name."""
        told = self.options._replace(jobs=0, fresh=False, cold=False, out="")
        asked = (self.cycle.key(), repr(told), *self.cycle.limits, worlds.name_of(self.whole))
        return digest("\0".join(asked))

    def _view(self, folder: str) -> View:
        """What a worker's tries see, given where it has its things."""
        scratch, payload = os.path.join(folder, "scratch"), os.path.join(folder, "payload")
        os.makedirs(scratch, exist_ok=True)
        instead = tuple(
            (source.full, self.world.place(number, payload))
            for number, source in enumerate(self.world.sources)
        )
        return View("" if self.root == "/" else self.root, scratch, instead, copied=self.copied)

    # --- the steps ----------------------------------------------------------------------------

    def go(self) -> ShrinkReport:
        """Baseline, search, confirmation."""
        self._check_view()
        baseline = baselines.find(self.tries, self.whole, self.options)
        if not self.copied and any(OVERFLOW in one.headline for one in baseline.outcomes):
            self._use_copies("it changes files of another owner or group")
            baseline = baselines.find(self.tries, self.whole, self.options)
        if self.tries.oracle is None:
            return self._report("not-reproduced", baseline, confirmed=False)
        self.slowest = baseline.seconds
        self.teller.baseline(baseline)
        if self.rule:
            self.tries.first = baselines.first(self.tries.oracle, baseline).signature
        failure = baseline.signature or baseline.headline
        self.tries.remember(failure, self._state, fresh=self.options.fresh)
        is_warm = self.tries.warm
        try:
            if self._is_independent(baseline):
                return self._report("independent", baseline, confirmed=False)
            confirmed = self._search_and_confirm()
            if not confirmed and is_warm:
                self.notes.append("not so in a whole run: searched again with whole runs")
                self.tries.forget()
                is_warm = False
                confirmed = self._search_and_confirm()
            if self.options.inline:
                confirmed = self._fold() and confirmed
        except (KeyboardInterrupt, GoneError) as end:
            self.tries.stop()
            if isinstance(end, GoneError):
                self.notes.append(f"{end.message}; this is the best until then")
            return self._report("interrupted", baseline, confirmed=False)
        if not confirmed:
            return self._report("unconfirmed", baseline, confirmed=False, warm=is_warm)
        self._look_at_the_end()
        if not self.whole.size:
            self.notes.append("it is empty already: there is nothing to leave out")
        return self._report("found", baseline, confirmed=True, warm=is_warm)

    def _state(self, written: list[str]) -> str:
        """Of the files that the command may use. Not all that there is belongs to a program."""
        paths = [self.root]
        if self.root in ("/", os.path.realpath(os.path.expanduser("~"))):
            paths = [os.path.join(self.cycle.cwd, word) for word in self.cycle.command]
            paths = [path for path in paths if os.path.isfile(path)]
        return worlds.stamp(paths, [*self.results.targets(), *written])

    def _is_independent(self, baseline: Baseline) -> bool:
        """It fails the same way with nothing in the payload: then that is not what it is about.

        Where that holds only by the user's own rule, the first failure says what is meant.
        """
        oracle = self.tries.oracle
        if self.options.args or self.options.env or not self.whole.size or oracle is None:
            return False
        tried = self.tries.run(self._nothing())
        if tried.verdict is not Verdict.SAME:
            return False
        firm = baselines.firmer(oracle, baseline) if self.rule else None
        if firm is None or firm.judge_all(tried.outcomes) is Verdict.SAME:
            return True
        self.tries.oracle, self.tries.slipped = firm, ""
        self.tries.known[tried.name] = False
        self._note(
            f"{self.rule} is met with nothing in the payload as well "
            f"({tried.outcomes[-1].headline}), so it has to be the first failure, too"
        )
        return False

    def _note(self, text: str) -> None:
        """Something to know before the search is over, and afterwards."""
        self.notes.append(text)
        self.teller.note(text)

    def _search_and_confirm(self) -> bool:
        """The result is run from the start, more than once: does it always fail?"""
        self.best = self._search(self._used())
        rate = self._confirm()
        if rate.times == rate.runs or not rate.times or self.tries.is_repeated:
            return rate.times > 0
        self.notes.append(
            f"it fails {rate.times} of {rate.runs} times only: searched on with repeated tries"
        )
        self.tries.repeat(rate, self.options.confidence)
        self.best = self._search(self.best)
        return self._confirm().times > 0

    def _used(self) -> Group:
        """Of folders only those files that a failing run has opened, if they are enough."""
        self.steps = []
        self.best = self.whole
        members = enumerate(self.whole.members)
        numbers = {at for at, one in members if not one.goes or one.name in self.tries.used}
        if not self.tries.used or len(numbers) == len(self.whole.members):
            return self.whole
        less = self.whole.only(numbers)
        name = worlds.name_of(less)
        if name not in self.tries.known:
            self.tries.run(less)
        if not self.tries.known[name]:
            return self.whole
        self.best = less
        self._step()
        return less

    def _confirm(self) -> Rate:
        self.tries.warm = False
        repeats = self.tries.oracle.repeats if self.tries.oracle is not None else 1
        is_quick = self.slowest < QUICK or repeats > 1
        least = ONCE_MORE if is_quick else 1
        most = max(repeats, baselines.SELDOM if is_quick else 1)  # until it was seen once
        runs = same = 0
        while runs < least or (not same and runs < most):
            runs += 1
            same += self.tries.once(self.best) is Verdict.SAME
        return Rate("", same, runs, *wilson(same, runs))

    def _check_view(self) -> None:
        folder = os.path.join(self.tries.folder, "probe")
        os.makedirs(folder)
        self.world.write(self.whole, os.path.join(folder, "payload"))
        reason = can_be_apart(self._view(folder))
        if reason:
            self._use_copies(reason)

    def _use_copies(self, reason: str) -> None:
        """The second choice: no namespaces, and whole runs."""
        self.tries.stop()
        self.tries.oracle = None
        self.tries.timeout = self.cycle.timeout
        self.copied = True
        copies.check(self._view(os.path.join(self.tries.folder, "probe")))
        self.options = self.options._replace(cold=True)
        self.notes.append(f"each try had a copy of {self.root}, without namespaces: {reason}")

    def _fold(self) -> bool:
        """One file of all; it must fail the same way with none of the modules there."""
        script, *texts = (b"".join(one.payload.pieces()).decode() for one in self.best.members)
        modules = {
            name: (os.path.basename(path) == "__init__.py", text)
            for (name, path), text in zip(self.modules.items(), texts, strict=True)
        }
        plain = self._alone(flat.flattened(script, modules))
        if self.tries.once(plain) is Verdict.SAME:
            self.best = self._search(plain)
        else:
            self.best = self._alone(inline.folded(script, modules))
        return self.tries.once(self.best) is Verdict.SAME

    def _alone(self, script: str) -> Group:
        """A script where the modules are not there."""
        contents = [script.encode(), *(NOT_THERE for _ in self.modules)]
        return self.best.with_contents(contents, read)

    def _look_at_the_end(self) -> None:
        """What one should know about the result."""
        if self.world.is_changed():
            self.notes.append("the payload was changed meanwhile: this is about what it was before")
        for number, source in enumerate(self.world.sources):
            own = [one for one in self.best.members if one.name.startswith(f"{number}/")]
            is_empty = self.whole.size and not sum(one.payload.size for one in own)
            if is_empty and source.full not in self.modules.values():
                self.notes.append(f"the failure does not depend on what is in {source.path}")

    # --- searching ----------------------------------------------------------------------------

    def _search(self, begin: Group) -> Group:
        """Ask to the end; what is likely to be asked next is tried meanwhile."""
        search = Reduction.of(begin, Clues.of(self.tries.clues))
        self.best = begin
        self.answers: dict[Candidate[Group], bool] = {}  # of what needs no try
        self.names: dict[Candidate[Group], str] = {}
        while (question := search.question) is not None:
            answer = self._known(question)
            if answer is None:
                self._ask(search)
                continue
            if answer:
                self.best = question.payload()
                self._tell_slip()
                self._progress()
                self._step()
            search = search.told(answer)
            if len(self.names) > REMEMBERED:
                self.answers.clear()
                self.names.clear()
        return search.payload

    def _tell_slip(self) -> None:
        """The user's rule takes another failure for the first one: as soon as that is seen."""
        if self.tries.slipped and not self.is_slip_told:
            self.is_slip_told = True
            self._note(
                f"{self.rule} is met by another failure as well: {self.tries.slipped}; "
                "without it, only the first failure counts"
            )

    def _known(self, candidate: Candidate[Group]) -> bool | None:
        if candidate in self.names:
            return self.tries.known.get(self.names[candidate])
        return self.answers.get(candidate)

    def _ask(self, search: Reduction[Group]) -> None:
        """Have the next questions tried, and wait until one is."""
        jobs = self.options.jobs
        for candidate in ahead.questions(search, jobs, self._known):
            if candidate in self.names or not self.tries.free(jobs):
                continue
            group = candidate.payload()
            if not group.is_valid():
                self.answers[candidate] = False
                continue
            name = self.names[candidate] = worlds.name_of(group)
            if name not in self.tries.known and not self.tries.is_under_way(name):
                self.tries.start(group, name)
        question = search.question
        if question is not None and self._known(question) is None:
            self.tries.wait()
            self._progress()

    def _step(self) -> None:
        """Remember how soon it was how small."""
        if not self.steps or self.best.size < self.steps[-1].bytes_now:
            seconds = time.monotonic() - self.started
            self.steps.append(Step(self.tries.count, round(seconds, 3), self.best.size))

    def _progress(self) -> None:
        before, now = worlds.counted(self.whole), worlds.counted(self.best)
        self.teller.progress(
            Progress(
                self.tries.count,
                time.monotonic() - self.started,
                self.whole.size,
                self.best.size,
                before[0],
                now[0],
                before[1],
                len(self.tries.others),
            )
        )

    # --- the answer ---------------------------------------------------------------------------

    def _shows(self, command: tuple[str, ...], named: frozenset[int]) -> bool:
        """Whether a command that names results reads those, and no payload by its old name.

        There is nothing in the payloads then, of which the failure does not come; and what it does
        not name does not matter, neither with nothing in it nor as it is.
        """
        if self.options.args or self.options.env or self.options.inline:
            return True  # the command itself is what was shrunk, or it has the script
        try:
            return self._is_shown(command, named)
        except (KeyboardInterrupt, ZeroinError):  # the result is there: nothing of it is lost
            self.tries.stop()
            return False

    def _is_shown(self, command: tuple[str, ...], named: frozenset[int]) -> bool:
        nothing = self._nothing()
        if not self.tries.is_shown_by(command, nothing):
            return False
        if len(named) == len(self.world.sources):
            return True
        pairs = zip(self.whole.members, nothing.members, strict=True)
        members = (
            empty if int(empty.name.partition("/")[0]) in named else whole for whole, empty in pairs
        )
        return self.tries.is_shown_by(command, Group(tuple(members)))

    def _nothing(self) -> Group:
        return self.whole.with_contents([b"" for _ in self.whole.members], read)

    def _report(
        self, verdict: str, baseline: Baseline, *, confirmed: bool, warm: bool = False
    ) -> ShrinkReport:
        payloads = []
        if verdict not in ("not-reproduced", "independent", "unconfirmed"):
            made = os.path.join(self.tries.folder, "result")
            payloads = self.results.write(self.whole, self.best, made)
        shows = self._shows if verdict == "found" else lambda *_: True
        command = self.results.command(payloads, self.environ, shows)
        others = [
            OtherFailure(name, one.headline, one.times, self.results.shown(one.example))
            for name, one in sorted(self.tries.others.items(), key=lambda item: -item[1].times)
        ]
        return ShrinkReport(
            verdict,
            baseline,
            self.tries.count,
            self.tries.resumed,
            time.monotonic() - self.started,
            warm,
            confirmed,
            others,
            payloads,
            command,
            self.cycle.cwd,
            [*self.notes, *self.tries.limits, *self.results.notes],
            self.steps,
        )

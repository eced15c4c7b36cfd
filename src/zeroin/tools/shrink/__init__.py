"""`shrink`: the smallest payload that still fails the same way.

The baseline says which failure is meant. A search (`zeroin.search`) asks for smaller and smaller
payloads, workers try them, several at once, and the smallest is confirmed at the end.
"""

from __future__ import annotations

import os
import shlex
import time
from typing import TYPE_CHECKING

from zeroin.cycle import Kind, Verdict
from zeroin.cycle.oracle import Oracle
from zeroin.digest import digest
from zeroin.errors import UntestableError
from zeroin.record import place as places
from zeroin.run import environment
from zeroin.run.apart import View, can_be_apart
from zeroin.search import ahead
from zeroin.search.reduction import Reduction
from zeroin.tools.shrink import world as worlds
from zeroin.tools.shrink.report import Baseline, OtherFailure, Progress, ShrinkReport, Shrunk
from zeroin.tools.shrink.tries import Tries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.axes.payload.group import Group, Member
    from zeroin.cycle import Cycle, Outcome
    from zeroin.search.reduction import Candidate
    from zeroin.tools.shrink.report import ShrinkOptions, Teller

TWICE = 2
FLAKY = 12  # runs of a baseline that does not always fail
PATIENCE, LEAST = 5, 5.0  # times the baseline's time, and seconds: then a try hangs


def shrink(
    cycle: Cycle, options: ShrinkOptions, environ: Mapping[str, str], teller: Teller
) -> ShrinkReport:
    """Find it."""
    one = _Shrink(cycle, options, environ, teller)
    try:
        return one.go()
    finally:
        one.tries.close()


class _Shrink:
    def __init__(
        self, cycle: Cycle, options: ShrinkOptions, environ: Mapping[str, str], teller: Teller
    ) -> None:
        self.options = options
        self.teller = teller
        self.started = time.monotonic()
        self.sources = worlds.find(options.paths, cycle.cwd)
        self.world = worlds.World(self.sources)
        variables = environment.users(cycle, environ) if options.env else {}
        words = cycle.command[1:] if options.args else ()
        self.whole = self.world.read(words, variables)
        if options.interesting:
            cycle = cycle._replace(command=(options.interesting, *options.paths))
        self.cycle = cycle
        place = places.find(cycle.cwd, environ)
        self.root = place.root or cycle.cwd
        self.kept = os.path.join(place.folder, "shrink", self._key())
        self.tries = Tries(self.world, cycle, environ, self._view, self.kept)
        self.notes: list[str] = []
        self.warm = False
        self.warm_seconds = 0.0
        self.cold_because = ""

    def _key(self) -> str:
        """The same question has the same name."""
        told = self.options._replace(jobs=0, fresh=False, cold=False, out="")
        return digest("\0".join((self.cycle.key(), repr(told), worlds.name_of(self.whole))))

    def _view(self, folder: str) -> View:
        scratch = os.path.join(folder, "scratch")
        os.makedirs(scratch, exist_ok=True)
        payload = os.path.join(folder, "payload")
        instead = tuple(
            (source.full, self.world.place(number, payload))
            for number, source in enumerate(self.sources)
        )
        root = "" if self.root == "/" else self.root
        return View(root, scratch, instead)

    # --- the steps ----------------------------------------------------------------------------

    def go(self) -> ShrinkReport:
        """Baseline, search, confirmation."""
        self._check_view()
        baseline = self._baseline()
        if self.tries.oracle is None:
            return self._report("not-reproduced", baseline, self.whole, confirmed=False)
        self.teller.baseline(baseline)
        if not self.options.fresh:
            self.tries.remember()
        self.best = self.whole
        try:
            best = self._search()
            confirmed = self._confirm(best)
            if not confirmed and self.warm:
                self.notes.append("not so in a whole run: searched again with whole runs")
                self.warm = False
                self.tries.forget()
                best = self._search()
                confirmed = self._confirm(best)
        except KeyboardInterrupt:
            self.tries.stop()
            return self._report("interrupted", baseline, self.best, confirmed=False)
        self._check_unchanged()
        self._check_empty(best)
        return self._report("found", baseline, best, confirmed=confirmed)

    def _confirm(self, best: Group) -> bool:
        """In a whole run, from the start."""
        self.tries.warm = False
        return self.tries.run(best).verdict is Verdict.SAME

    def _check_view(self) -> None:
        folder = os.path.join(self.tries.folder, "probe")
        os.makedirs(folder)
        self.world.write(self.whole, os.path.join(folder, "payload"))
        reason = can_be_apart(self._view(folder))
        if reason:
            raise UntestableError(
                f"the tries can't be kept apart from your files: {reason}",
                hint="user namespaces are needed here: zeroin doctor",
            )

    def _check_unchanged(self) -> None:
        """A result for a payload that is no more would be of no use."""
        now = worlds.World(self.sources).read((), {})
        if _files_of(now) != _files_of(self.whole):
            self.notes.append("the payload was changed meanwhile: this is about what it was before")

    def _check_empty(self, best: Group) -> None:
        """It is no payload if it can be left out."""
        left = {one.name: _length(one) for one in best.members}
        for number, source in enumerate(self.sources):
            own = [name for name in left if name.startswith(f"{number}/")]
            if self.whole.members and not sum(left[name] for name in own):
                self.notes.append(f"the failure does not depend on what is in {source.path}")

    def _baseline(self) -> Baseline:
        self.tries.timeout = self.cycle.timeout
        outcomes: list[Outcome] = []
        wanted = TWICE
        while len(outcomes) < wanted:
            outcomes += self.tries.run(self.whole).outcomes
            if len(outcomes) == TWICE and not self._agree(outcomes):
                wanted = FLAKY
        oracle = self._oracle(outcomes)
        self.warm = oracle is not None and self._warm_up(outcomes)
        self.tries.oracle = oracle
        slowest = max(outcome.seconds for outcome in outcomes)
        if self.tries.timeout is None:
            self.tries.timeout = max(LEAST, PATIENCE * slowest)
        if oracle is None:
            last = outcomes[-1]
            return Baseline(tuple(outcomes), last.headline, "", 0, 1)
        same = [one for one in outcomes if oracle.judge(one) is Verdict.SAME]
        return Baseline(
            tuple(outcomes),
            same[0].headline if same else "",
            str(same[0].signature or "") if same else "",
            len(same),
            oracle.repeats,
            slowest,
            self.warm_seconds if self.warm else None,
            self.cold_because,
        )

    def _warm_up(self, outcomes: list[Outcome]) -> bool:
        """Whether tries can go on from where the payload is used, and come to the same end."""
        options = self.options
        given = options.args or options.env or options.interesting or options.cold
        if given or not self._agree(outcomes):
            return False
        self.tries.warm = True
        whole = self.tries.run(self.whole)
        resumed = self.tries.run(self.whole)
        runs = [*whole.outcomes, *resumed.outcomes]
        if not resumed.resumed:
            self.cold_because = self.tries.cold_because
            return False
        if not self._agree([*outcomes, *runs]):
            self.cold_because = "a resumed run ended in another way"
            return False
        self.warm_seconds = resumed.outcomes[-1].seconds
        return True

    @staticmethod
    def _agree(outcomes: list[Outcome]) -> bool:
        return len({(one.kind, str(one.signature)) for one in outcomes}) == 1

    def _oracle(self, outcomes: list[Outcome]) -> Oracle | None:
        options = self.options
        oracle: Oracle
        if options.interesting:
            oracle = _Interesting(None)
        elif options.match or options.exit_code is not None:
            oracle = Oracle(None, match=options.match, exit_code=options.exit_code)
        else:
            found = Oracle.of(outcomes, options.confidence)
            return found._replace(strength=options.strength) if found is not None else None
        times = sum(oracle.judge(one) is Verdict.SAME for one in outcomes)
        if not times:
            return None
        from zeroin.cycle.oracle import repeats_for, wilson

        low, _ = wilson(times, len(outcomes))
        certain = times == len(outcomes)
        return oracle._replace(repeats=1 if certain else repeats_for(low, options.confidence))

    # --- searching ----------------------------------------------------------------------------

    def _search(self) -> Group:
        """Ask to the end; what is likely to be asked next is tried meanwhile."""
        self.tries.warm = self.warm
        search = Reduction.of(self.whole)
        self.best = self.whole
        self.answers: dict[Candidate[Group], bool] = {}
        self.names: dict[Candidate[Group], str] = {}
        while (question := search.question) is not None:
            answer = self._known(question)
            if answer is None:
                self._ask(search)
                continue
            if answer:
                self.best = question.payload()
                self._progress()
            search = search.told(answer)
            if answer is not None and len(self.answers) > 10_000:
                self.answers.clear()
                self.names.clear()
        return search.payload

    def _known(self, candidate: Candidate[Group]) -> bool | None:
        answer = self.answers.get(candidate)
        if answer is None and candidate in self.names:
            answer = self.tries.known.get(self.names[candidate])
        return answer

    def _ask(self, search: Reduction[Group]) -> None:
        jobs = self.options.jobs
        for candidate in ahead.questions(search, jobs, self._known):
            if candidate in self.names or not self.tries.free(jobs):
                continue
            group = candidate.payload()
            if not group.is_valid():
                self.answers[candidate] = False
                continue
            name = worlds.name_of(group)
            self.names[candidate] = name
            if name not in self.tries.known and not self.tries.is_under_way(name):
                self.tries.start(group)
        question = search.question
        if question is not None and self._known(question) is None:
            self.tries.wait()
            self._progress()

    def _progress(self) -> None:
        told = [_sized(one) for one in (self.whole, self.best)]
        self.teller.progress(
            Progress(
                self.tries.count,
                time.monotonic() - self.started,
                told[0][0],
                told[1][0],
                told[0][1],
                told[1][1],
                told[0][2],
                len(self.tries.others),
            )
        )

    # --- the answer ---------------------------------------------------------------------------

    def _report(
        self, verdict: str, baseline: Baseline, group: Group, *, confirmed: bool
    ) -> ShrinkReport:
        payloads = [] if verdict == "not-reproduced" else self._written(group)
        others = [
            OtherFailure(name, one.headline, one.times, self._shown(one.example))
            for name, one in sorted(self.tries.others.items(), key=lambda item: -item[1].times)
        ]
        return ShrinkReport(
            verdict,
            baseline,
            self.tries.count,
            self.tries.resumed,
            time.monotonic() - self.started,
            self.warm,
            confirmed,
            others,
            payloads,
            self._command(payloads),
            self.notes,
        )

    def _shown(self, path: str) -> str:
        inside = path.startswith(os.path.join(self.cycle.cwd, ""))
        return os.path.relpath(path, self.cycle.cwd) if inside else path

    def _written(self, group: Group) -> list[Shrunk]:
        """Put the result beside the payload."""
        import shutil

        folder = os.path.join(self.tries.folder, "result")
        self.world.write(group, folder)
        found = []
        for number, source in enumerate(self.sources):
            before, after = (
                [one for one in each.members if one.name.startswith(f"{number}/")]
                for each in (self.whole, group)
            )
            target = self._target(source)
            if source.is_folder and os.path.isdir(target):
                shutil.rmtree(target)
            made = self.world.place(number, folder)
            (shutil.copytree if source.is_folder else shutil.copy)(made, target)
            whole = source.is_folder
            noun = "file" if whole else before[0].payload.noun
            found.append(
                Shrunk(
                    source.path,
                    self._shown(target),
                    noun,
                    sum(_length(one) for one in before),
                    sum(_length(one) for one in after),
                    len(before) if whole else before[0].payload.parts,
                    len(after) if whole else sum(one.payload.parts for one in after),
                )
            )
        return found + _words(self.whole, group)

    def _target(self, source: worlds.Source) -> str:
        if self.options.out and len(self.sources) == 1:
            return os.path.join(self.cycle.cwd, self.options.out)
        stem, end = os.path.splitext(source.full)
        return f"{stem}.min{end}"

    def _command(self, payloads: list[Shrunk]) -> list[str]:
        """What shows it: the command with the results in the place of the payloads."""
        words = [one.text for one in payloads if one.path == worlds.ARGS[1:]]
        if words:
            return [self.cycle.command[0], *shlex.split(words[0])]
        new = {os.path.join(self.cycle.cwd, one.path): one.result for one in payloads if one.result}
        return [new.get(os.path.join(self.cycle.cwd, word), word) for word in self.cycle.command]


class _Interesting(Oracle):
    """A script that says itself whether it is interesting: by exit code 0."""

    def judge(self, outcome: Outcome) -> Verdict:
        return Verdict.SAME if outcome.kind is Kind.PASSED else Verdict.PASSED


def _length(member: Member) -> int:
    return sum(len(piece) for piece in member.payload.pieces())


def _files_of(group: Group) -> list[tuple[str, int]]:
    return [(one.name, hash(one.payload)) for one in group.members if not one.name.startswith("@")]


def _sized(group: Group) -> tuple[int, int, str]:
    """Bytes, parts, and what those are called."""
    files = [one for one in group.members if not one.name.startswith("@")]
    length = sum(_length(one) for one in files)
    if len(files) == 1:
        return length, files[0].payload.parts, files[0].payload.noun
    return length, len(files), "file"


def _words(before: Group, after: Group) -> list[Shrunk]:
    found = []
    left = {one.name: one.payload for one in after.members}
    for one in before.members:
        if one.name in (worlds.ARGS, worlds.ENV):
            payload = left[one.name]
            found.append(
                Shrunk(
                    one.name[1:],
                    "",
                    one.payload.noun,
                    _length(one),
                    sum(len(piece) for piece in payload.pieces()),
                    one.payload.parts,
                    payload.parts,
                    shlex.join(payload.words),  # type: ignore[attr-defined]
                )
            )
    return found

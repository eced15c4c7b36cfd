"""`bisect attempts`: which of the differences between two recorded attempts broke it."""

from __future__ import annotations

import difflib
import os
import shlex
import time

from zeroin.axes.changes.choice import NOTHING, read
from zeroin.axes.changes.groups import function_at
from zeroin.digest import digest
from zeroin.errors import UsageError, ZeroinError
from zeroin.run.apart import View, can_be_apart
from zeroin.search.ranges import members
from zeroin.tools.bisect.changes import ChangesAxis, Question, search
from zeroin.tools.bisect.mixer import Mixer, belongings
from zeroin.tools.bisect.report import BisectReport
from zeroin.tools.bisect.states import States
from zeroin.tools.bisect.tries import Tries
from zeroin.tools.folders import OwnFolder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.record.store import Attempt
    from zeroin.tools.bisect.report import BisectOptions, Culprit, Teller
    from zeroin.tools.reading import Reading

PREFIX = "zeroin-bisect-"
RUNS = 12  # where nothing differs


def bisect_attempts(
    reading: Reading,
    names: tuple[str, str],
    cycle: Cycle,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it. What `cycle` sets (variables, resets, time-out, ...) holds for all tries."""
    first, second = (reading.store.resolve(name) for name in names)
    good, bad = _sorted(first, second, options)
    one = _Attempts(States(reading, good, bad, environ), cycle, reading.place.folder, options)
    try:
        return one.go(options, teller)
    finally:
        one.close()


def _sorted(first: Attempt, second: Attempt, options: BisectOptions) -> tuple[Attempt, Attempt]:
    """The one that worked, and the one that failed; else as they were given."""
    if first.id == second.id:
        raise UsageError(
            f"attempt {first.id} twice: it takes one that worked and one that failed",
            hint="zeroin bisect attempts last-passed last-failed",
        )
    for one in (first, second):
        if one.outcome in (None, "unfinished"):
            raise UsageError(f"attempt {one.id} never ended", hint="see: zeroin log")
    passed = [one for one in (first, second) if one.outcome == "passed"]
    asked = options.match or options.exit_code is not None
    if len(passed) == 2:
        raise ZeroinError(
            f"attempts {first.id} and {second.id} both passed",
            hint="zeroin bisect attempts last-passed last-failed",
        )
    if not passed and not asked and first.signature == second.signature:
        raise ZeroinError(
            f"attempts {first.id} and {second.id} failed in the same way: {first.headline}",
            hint="zeroin bisect attempts last-passed last-failed",
        )
    return (second, first) if second.outcome == "passed" else (first, second)


class _Attempts:
    def __init__(self, states: States, given: Cycle, store: str, options: BisectOptions) -> None:
        self.states = states
        self.given = given
        self.notes: list[str] = []
        self.began = time.monotonic()
        self.ends = (f"attempt {states.good.attempt.id}", f"attempt {states.bad.attempt.id}")
        self._own = OwnFolder(PREFIX)
        self.folder = self._own.path
        self.apart = self._can_be_apart()
        self.mine = belongings(states, with_git=self.apart)
        self.tries: Tries | None = None
        key = repr(
            (
                [
                    (one.attempt.code, one.attempt.packages, one.cycle, sorted(one.env.items()))
                    for one in (states.good, states.bad)
                ],
                given,
                options.question,
            )
        )
        self.kept = os.path.join(store, "bisect", digest(key))
        self._look_at_the_rest()

    def _can_be_apart(self) -> bool:
        probe, scratch = (os.path.join(self.folder, name) for name in ("probe", "scratch"))
        for path in (probe, scratch):
            os.mkdir(path)
        reason = can_be_apart(View(self.states.root, scratch, tree=probe))
        if reason:
            self.notes.append(
                f"the tries ran in folders of their own, without namespaces: {reason}"
            )
        return not reason

    def _look_at_the_rest(self) -> None:
        """What differs and can't be varied here."""
        states = self.states
        if states.not_varied:
            one = states.packages[0]
            more = f" and {len(states.packages) - 1} more" if len(states.packages) > 1 else ""
            self.notes.append(
                "installed packages differ as well, and are in all tries as they are now: "
                f"{one.name} {one.old or 'none'} → {one.new or 'none'}{more} ({states.not_varied})"
            )
        if states.installed is not None:
            self.notes += states.installed.notes
        self.notes += [
            f"the code in {root} differs as well, and is in all tries as it is now"
            for root in states.elsewhere
        ]

    def close(self) -> None:
        """Leave nothing behind."""
        if self.tries is not None:
            self.tries.close()
        self.states.close()
        self._own.close()

    # --- searching ----------------------------------------------------------------------------

    def go(self, options: BisectOptions, teller: Teller) -> BisectReport:
        """Both again, the search, the answer."""
        states, whole = self.states, self.states.whole()
        timeout = self.given.timeout or max(
            (one.cycle.timeout or 0.0 for one in (states.good, states.bad)), default=0.0
        )
        axis = ChangesAxis("change", self.kept, whole, self.ends, states.change, self.servant)
        self.tries = tries = Tries(axis, options, teller, self.kept, timeout or None)
        if not whole.size:
            return self._flips(tries)
        question = Question(
            "attempts", whole, self.ends, states.change, self._merged, self._why_not
        )
        report, found = search(question, tries, options, self.notes, self.began)
        if report.verdict == "not-reproduced":
            return report._replace(hint=self._hint(report))
        about = {**report.about, "attempts": [one.attempt.id for one in (states.good, states.bad)]}
        culprits = [self._placed(one) for one in report.culprits]
        about["patch"] = self._patch({n for one in found.sets for n in one.numbers()})
        return report._replace(culprits=culprits, about=about)

    def servant(self, slot: int) -> Mixer:
        """In a worker's process."""
        return Mixer(
            self.states,
            self.given,
            self.mine,
            os.path.join(self.folder, str(slot)),
            apart=self.apart,
        )

    def _hint(self, report: BisectReport) -> str:
        if "flaky" in report.why:
            return report.hint
        return (
            "what made the difference is not in the record: data that git ignores, installed "
            "packages, the machine; or it fails rarely: --repeat 50"
        )

    def _flips(self, tries: Tries) -> BisectReport:
        """Nothing differs: how often does it fail?"""
        states = self.states
        try:
            tries.run([NOTHING] * RUNS, cold=True)
        except KeyboardInterrupt:
            return BisectReport("attempts", "interrupted", tries=tries.tries)
        outcomes = tries.outcomes.get(NOTHING, [])
        fails = sum(one.failed for one in outcomes)
        first, second = (one.attempt.id for one in (states.good, states.bad))
        why = (
            f"it is flaky: attempts {first} and {second} had the same code, variables and "
            f"arguments, and now {fails} of {len(outcomes)} runs fail"
        )
        if self.notes:
            why = f"code, variables and arguments are the same; now {fails} of {len(outcomes)} fail"
        tries.memory.forget()
        return BisectReport(
            "attempts",
            "not-reproduced",
            why=why,
            hint=f"zeroin run --until-fail -- {shlex.join(states.bad.attempt.command)}",
            tries=tries.tries,
            seconds=time.monotonic() - self.began,
            about={"rate": fails / max(1, len(outcomes))},
            notes=self.notes,
        )

    def _why_not(self, name: str) -> str:
        """Why a mixture can't be tried."""
        made = set(members(read(name)))
        installed = self.states.installed
        if not self._compiles(made):
            return "it would not compile"
        return installed.why_not(self.states.packages_of(made)) if installed is not None else ""

    def _compiles(self, made: Collection[int]) -> bool:
        """Whether Python can read each file of a mixture, if it can read both versions."""
        code = self.states.code
        for path in code.paths:
            if path.endswith(".py") and not all(
                side.get(path) is None or _is_python(side[path].content)
                for side in (code.old, code.new)
            ):
                continue
            file = code.mixed(path, made) if path.endswith(".py") else None
            if file is not None and not _is_python(file.content):
                return False
        return True

    # --- the answer ---------------------------------------------------------------------------

    def _merged(self, numbers: Sequence[int]) -> list[list[int]]:
        """Lines of one block that follow one another are told as one."""
        edits = self.states.code.edits
        found: list[list[int]] = []
        for one in numbers:
            before = found[-1][-1] if found else None
            if (
                before is not None
                and before + 1 == one < len(edits)
                and (edits[before].path, edits[before].block) == (edits[one].path, edits[one].block)
            ):
                found[-1].append(one)
            else:
                found.append([one])
        return found

    def _placed(self, culprit: Culprit) -> Culprit:
        """With the function that it is in."""
        if culprit.about.get("kind") != "code":
            return culprit
        file = self.states.code.new[culprit.about["path"]]
        name = function_at(file.content, culprit.about["line"])
        return culprit._replace(about={**culprit.about, "function": name})

    def _patch(self, made: Collection[int]) -> str:
        """The changes of code, as `git apply -R` takes them back where it fails."""
        code = self.states.code
        rest = set(range(len(code.edits))) - set(made)
        text = ""
        for path in dict.fromkeys(edit.path for n, edit in enumerate(code.edits) if n in made):
            old, new = code.mixed(path, rest), code.new.get(path)
            before, after = (_rows(one.content) if one else [] for one in (old, new))
            names = (f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null")
            text += "".join(difflib.unified_diff(before, after, *names))
        return text


def _is_python(content: bytes) -> bool:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _rows(content: bytes) -> list[str]:
    text = content.decode(errors="replace")
    rows = text.splitlines(keepends=True)
    if rows and not rows[-1].endswith("\n"):
        rows[-1] += "\n\\ No newline at end of file\n"
    return rows

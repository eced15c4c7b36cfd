"""`bisect tests`: which tests that ran before make this one fail; or which ones it needs."""

from __future__ import annotations

import difflib
import itertools
import json
import os
import time

from zeroin.axes.changes.choice import NOTHING, Change, Choice, read
from zeroin.digest import digest
from zeroin.errors import UntestableError, UsageError, ZeroinError
from zeroin.record import place as places
from zeroin.run import environment
from zeroin.run.apart import View, can_be_apart
from zeroin.search.ranges import members
from zeroin.tools.bisect.changes import ChangesAxis, Question, each, search
from zeroin.tools.bisect.report import BisectReport
from zeroin.tools.bisect.tries import Tries
from zeroin.tools.bisect.viewed import Viewed
from zeroin.tools.folders import OwnFolder
from zeroin.tools.search.quiet_trial import BRIEF, judge_messages
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.tools.bisect.report import BisectOptions, Teller, TrialOrder

OF_PATHS = ("--rootdir", "--confcutdir", "--ignore", "--deselect", "--basetemp")
PREFIX = "zeroin-bisect-"
PLUGIN = "zeroin_order"
SIMILAR = 3  # names that are proposed


def bisect_tests(
    cycle: Cycle,
    test: str,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find them. `cycle` runs pytest."""
    one = _Tests(cycle, options, environ, teller)
    try:
        return one.go(test)
    finally:
        one.close()


class _Tests:
    def __init__(
        self, cycle: Cycle, options: BisectOptions, environ: Mapping[str, str], teller: Teller
    ) -> None:
        self.cycle = cycle
        self.options = options
        self.environ = environ
        self.teller = teller
        self.began = time.monotonic()
        self.notes: list[str] = []
        self.place = places.find(cycle.cwd, environ)
        self.root = self.place.root or cycle.cwd
        self._own = OwnFolder(PREFIX)
        self.folder = self._own.path
        self.others: list[str] = []  # those that come before it, then those that come behind
        self.target = ""
        self.tries: Tries | None = None
        probe = os.path.join(self.folder, "probe")
        os.mkdir(probe)
        reason = can_be_apart(View(self.root, probe))
        self.apart = not reason
        if reason:
            self.notes.append(f"what the tests write stays: {reason}")

    def close(self) -> None:
        """Leave nothing behind."""
        if self.tries is not None:
            self.tries.close()
        self._own.close()

    def go(self, test: str) -> BisectReport:
        """The order that pytest has; alone, and behind all others; the search."""
        runner = Ordering(self, "list")
        tests = runner.collected()
        self.target = _meant(test, tests)
        at = tests.index(self.target)
        self.others = [*tests[:at], *tests[at + 1 :]]
        self.axis, self.tries = self._begin(tests)
        try:
            count, fixed = self._ends(self.tries, at)
        except KeyboardInterrupt:
            return BisectReport("tests", "interrupted", tries=self.tries.tries)
        if not count:
            return self._neither(self.tries)
        whole = Choice.whole(count, [_by_file(self.others[:count])])
        ends = ("alone", f"behind {count:,} others")
        self.axis.be_about(whole, ends)
        question = Question("tests", whole, ends, self._change, each)
        # One test fails: what its message says of the others' traces is not another failure.
        options = self.options._replace(fixed=fixed, by_place=not self.options.says_what)
        report, found = search(question, self.tries, options, self.notes, self.began)
        before = [self.others[one] for some in found.sets[:1] for one in some.numbers()]
        order = [*before, self.target]
        about = {**report.about, "test": self.target, "order": order}
        about["again"] = [*_without_tests(self.cycle), *order]
        return report._replace(fixed=fixed, about=about)

    def _begin(self, tests: Sequence[str]) -> tuple[ChangesAxis, Tries]:
        key = repr((self.cycle, self.target, tests, self.options.question))
        kept = os.path.join(self.place.folder, "bisect", digest(key.encode(errors="replace")))
        whole = Choice.whole(len(self.others))
        ends = ("alone", f"behind {len(self.others):,} others")
        make = lambda slot: Ordering(self, str(slot))  # noqa: E731 - who serves
        axis = ChangesAxis("test", kept, whole, ends, self._change, make, "behind")
        return axis, Tries(axis, self.options, self.teller, kept, self.cycle.timeout)

    def _change(self, number: int) -> Change:
        return Change(self.others[number], None, "runs before", "test")

    # --- alone, and behind others -------------------------------------------------------------

    def _ends(self, tries: Tries, at: int) -> tuple[int, bool]:
        """How many others to search among, and whether they cure it; 0 if they change nothing."""
        for count in dict.fromkeys((at, len(self.others))):
            if not count:
                continue
            name = Choice.whole(count).name
            tries.run([one for one in (NOTHING, name) if not tries.is_known(one)])
            for one in (NOTHING, name):
                if one in tries.reasons:
                    raise UntestableError(f"{self.target}: {tries.why(one)}")
            alone, behind = (tries.outcomes[one][-1] for one in (NOTHING, name))
            if _told(alone) != _told(behind):
                return count, alone.failed and not behind.failed
        return 0, False

    def _neither(self, tries: Tries) -> BisectReport:
        if not self.others:
            raise UsageError("there is no other test", hint="name the command: -- pytest tests")
        outcome = tries.outcomes[NOTHING][-1]
        tries.memory.forget()
        why = f"{self.target} works alone and behind all others"
        if outcome.failed:
            why = f"{self.target} fails alone as well: {outcome.headline}"
        return BisectReport(
            "tests",
            "not-reproduced",
            why=why,
            hint=f"zeroin run --until-fail -- pytest {self.target!r}"
            if not outcome.failed
            else "no other test is to blame",
            tries=tries.tries,
            seconds=time.monotonic() - self.began,
            notes=self.notes,
        )


class Ordering:
    """Runs some of the tests, in a worker's process or in our own."""

    def __init__(self, shared: _Tests, name: str) -> None:
        self._shared = shared
        self._folder = os.path.join(shared.folder, name)
        self._scratch = os.path.join(self._folder, "scratch")
        os.makedirs(self._scratch, exist_ok=True)
        self._viewed = Viewed()

    def collected(self) -> list[str]:
        """All tests, in the order that pytest gives them."""
        outcome, told = self._run(None, None)
        tests = told.get("tests")
        if not tests:
            why = outcome.headline or "none was collected"
            raise UntestableError(
                f"pytest listed no tests: {why}",
                hint="name the command that runs them: zeroin bisect tests TEST -- pytest tests",
            )
        return list(tests)

    def tried(self, trial: TrialOrder) -> Answer:
        """The test, behind some others."""
        shared = self._shared
        before = [shared.others[one] for one in members(read(trial.name))]
        try:
            outcome, told = self._run([*before, shared.target], trial.timeout)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        if told and not told["target"]:
            return Answer(None, "pytest does not collect it then")
        if told and set(told["reports"]) == {"passed", "skipped"}:
            return Answer(None, "it is skipped")
        return Answer(outcome)

    def _run(
        self, tests: list[str] | None, timeout: float | None
    ) -> tuple[Outcome, dict[str, Any]]:
        shared = self._shared
        result = os.path.join(self._folder, "result")
        if os.path.exists(result):
            os.unlink(result)
        env = environment.users(shared.cycle, shared.environ)
        paths = [environment.ORDER, *filter(None, [env.get("PYTHONPATH", "")])]
        options = [f"-p {PLUGIN}", *filter(None, [env.get("PYTEST_ADDOPTS", "")])]
        more = {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTEST_ADDOPTS": " ".join(options),
        }
        cycle = shared.cycle._replace(env={**shared.cycle.env, **more}, timeout=timeout)
        view = None
        if shared.apart:
            view = View(shared.root, self._scratch, as_is=(self._folder,))
        target = tests[-1] if tests else ""

        order = BRIEF._replace(tests={"tests": tests, "result": result})
        trial = self._viewed.run(cycle, shared.environ, view, order=order)
        # What other tests fail with is not what is asked.
        trial = judge_messages(trial, lambda one: one.get("test", "") in ("", target))
        outcome = trial.outcome
        try:
            with open(result, encoding="utf-8") as file:
                return outcome, json.load(file)
        except FileNotFoundError:
            return outcome, {}

    def close(self) -> None:
        """Nothing is kept."""
        self._viewed.close()


def _without_tests(cycle: Cycle) -> list[str]:
    """The command but for the tests that it names."""
    names = [os.path.basename(word) for word in cycle.command]
    at = next((at for at, name in enumerate(names) if name in ("pytest", "py.test")), len(names))
    found = list(cycle.command[: at + 1])
    for before, word in itertools.pairwise(cycle.command[at:]):
        path = os.path.join(cycle.cwd, word.partition("::")[0])
        is_test = os.path.isdir(path) or (path.endswith(".py") and os.path.exists(path))
        if before in OF_PATHS or not is_test:
            found.append(word)
    return found


def _told(outcome: Outcome) -> str:
    return str(outcome.signature or "")


def _meant(name: str, tests: Sequence[str]) -> str:
    """The test with that id; or the only one whose id ends so."""
    name = name.removeprefix("./")
    if name in tests:
        return name
    ending = [one for one in tests if one.endswith((f"/{name}", f"::{name}"))]
    if len(ending) == 1:
        return ending[0]
    near = ending or difflib.get_close_matches(name, tests, SIMILAR, 0.5)
    several = "several tests end so" if ending else "pytest collects no such test"
    raise UsageError(
        f"{name}: {several}", hint=f"one of: {', '.join(near[:SIMILAR])}" if near else ""
    )


def _by_file(tests: Sequence[str]) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for number, one in enumerate(tests):
        found.setdefault(one.split("::")[0], []).append(number)
    return list(found.values())

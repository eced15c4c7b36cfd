"""A worker whose tries find another file in the place of one that the command reads."""

from __future__ import annotations

import os
import shutil
import time

from zeroin.axes.changes.choice import read
from zeroin.digest import digest
from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.run import copies
from zeroin.run.apart import View, can_be_apart
from zeroin.tools.bisect.changes import ChangesAxis, Question, each, search
from zeroin.tools.bisect.tries import Tries
from zeroin.tools.folders import OwnFolder
from zeroin.tools.shrink.worker import Order, Tryer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zeroin.axes.changes.choice import Change, Choice, Ranges
    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller, TrialOrder
    from zeroin.tools.workers import Answer

PREFIX = "zeroin-bisect-"
BROKEN = "it could not be read"


class Two(NamedTuple):
    """Two files of the user's: the one that works, the one that fails, as they were named."""

    good: str
    bad: str
    contents: tuple[bytes, bytes]


def opened(good: str, bad: str, cwd: str) -> Two:
    """Read both; what can't be read, or is the same, is said."""
    contents = []
    for name in (good, bad):
        try:
            with open(os.path.join(cwd, name), "rb") as file:
                contents.append(file.read())
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise UsageError(f"{name}: {why}", hint=f"paths are taken from {cwd}") from None
    return Two(good, bad, (contents[0], contents[1]))


def places_of(two: Two, at: str, cycle: Cycle) -> list[str]:
    """Where a try finds its own file: what was asked for, what the command names, or both."""
    if at:
        if not os.path.isfile(os.path.join(cycle.cwd, at)):
            raise UsageError(f"--at {at}: no such file", hint="it has to be there to be replaced")
        return [at]
    full = {os.path.realpath(os.path.join(cycle.cwd, one)): one for one in (two.good, two.bad)}
    words = [word.rpartition("=")[2] for word in cycle.command] + list(cycle.command)
    words += [value for value in cycle.env.values() if value]
    named = {os.path.realpath(os.path.join(cycle.cwd, word)) for word in words if word}
    return [one for path, one in full.items() if path in named] or [two.good, two.bad]


class Mixture(NamedTuple):
    """What is searched among, and how some of it is made."""

    axis: str
    noun: str
    ends: tuple[str, str]
    whole: Choice
    change: Callable[[int], Change]
    content: Callable[[Ranges], bytes] | None  # of the file; None: the variables are what differs
    at: Sequence[str] = ()  # where the file is found
    variables: Callable[[Ranges], Mapping[str, str | None]] = lambda _: {}
    valid: Callable[[Ranges], bool] = lambda _: True


def bisect_mixture(
    mixture: Mixture,
    cycle: Cycle,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
    about: object,
) -> BisectReport:
    """Find it. `about` tells one question from another."""
    one = _Replacing(mixture, cycle, options, environ, teller, about)
    try:
        return one.go()
    finally:
        one.close()


class _Replacing:
    def __init__(
        self,
        mixture: Mixture,
        cycle: Cycle,
        options: BisectOptions,
        environ: Mapping[str, str],
        teller: Teller,
        about: object,
    ) -> None:
        self.mixture = mixture
        self.cycle = cycle
        self.environ = environ
        self.options = options
        self.began = time.monotonic()
        self.notes: list[str] = []
        self._own = OwnFolder(PREFIX)
        self.folder = self._own.path
        place = places.find(cycle.cwd, environ)
        self.root = place.root or cycle.cwd
        self.copied = False
        self._check_view()
        key = repr((cycle, about, mixture.at, options.question))
        kept = os.path.join(place.folder, "bisect", digest(key.encode(errors="replace")))
        axis = ChangesAxis(
            mixture.noun, kept, mixture.whole, mixture.ends, mixture.change, self._servant
        )
        self.tries = Tries(axis, options, teller, kept, cycle.timeout)

    def _check_view(self) -> None:
        """Where the kernel keeps nobody apart, each try has a copy of the project."""
        folder = os.path.join(self.folder, "probe")
        os.makedirs(folder)
        view = self.view(folder)
        for _, source in view.instead:
            with open(source, "wb"):
                pass
        reason = can_be_apart(view)
        if reason:
            self.copied = True
            copies.check(self.view(folder))
            self.notes.append(f"each try had a copy of {self.root}, without namespaces: {reason}")

    def view(self, folder: str) -> View:
        """What the tries of one worker see."""
        scratch = os.path.join(folder, "scratch")
        os.makedirs(scratch, exist_ok=True)
        paths = (os.path.realpath(os.path.join(self.cycle.cwd, one)) for one in self.mixture.at)
        instead = tuple(
            (path, os.path.join(folder, f"{number}-{os.path.basename(path)}"))
            for number, path in enumerate(dict.fromkeys(paths))
        )
        return View("" if self.root == "/" else self.root, scratch, instead, copied=self.copied)

    def _servant(self, slot: int) -> Replacer:
        folder = os.path.join(self.folder, str(slot))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return Replacer(self.mixture, self.cycle, self.environ, self.view(folder))

    def go(self) -> BisectReport:
        """Both ends, the search, the answer."""
        mixture = self.mixture
        why_not = lambda name: "" if mixture.valid(read(name)) else BROKEN  # noqa: E731
        question = Question(
            mixture.axis, mixture.whole, mixture.ends, mixture.change, each, why_not
        )
        report, _ = search(question, self.tries, self.options, self.notes, self.began)
        return report._replace(about={**report.about, "replaced": list(mixture.at)})

    def close(self) -> None:
        """Leave nothing behind."""
        self.tries.close()
        self._own.close()


class Replacer:
    """In the process of a worker."""

    def __init__(
        self, mixture: Mixture, cycle: Cycle, environ: Mapping[str, str], view: View
    ) -> None:
        self._mixture = mixture
        self._cycle = cycle
        self._view = view
        for path, source in view.instead:
            shutil.copy(path, source)  # with its mode
        self._tryer = Tryer(cycle, environ, view)

    def tried(self, trial: TrialOrder) -> Answer:
        """Put the mixture in its place, and run it."""
        made = read(trial.name)
        if self._mixture.content is not None:
            content = self._mixture.content(made)
            for _, source in self._view.instead:  # the same file: it may be seen elsewhere
                with open(source, "r+b") as file:
                    file.write(content)
                    file.truncate()
        cycle = self._cycle
        env = {**cycle.env, **self._mixture.variables(made)}
        # A snapshot of the program is good for one set of variables.
        warm = not trial.cold and self._mixture.content is not None
        return self._tryer.tried(Order(cycle.command, env, trial.timeout, warm))

    def close(self) -> None:
        """End what is kept."""
        self._tryer.close()

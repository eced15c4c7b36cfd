"""`bisect versions`: the release of a package that broke it, or that repaired it."""

from __future__ import annotations

import time

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from zeroin.axes.versions import pages, releases
from zeroin.axes.versions.releases import Release
from zeroin.errors import UntestableError, UsageError
from zeroin.named import NamedTuple
from zeroin.run.pins import Pin
from zeroin.run.uv import normal
from zeroin.tools.bisect.alike import in_other_words
from zeroin.tools.bisect.answer import answer
from zeroin.tools.bisect.backwards import walk
from zeroin.tools.bisect.judge import ByLine
from zeroin.tools.bisect.ordered import Ordered
from zeroin.tools.bisect.packages import Mix, Packages
from zeroin.tools.bisect.row import Found
from zeroin.tools.bisect.setting import Setting
from zeroin.tools.bisect.to_commit import to_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.packages import Rig
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Skipped, Teller
    from zeroin.tools.bisect.tries import Tries

AT_ONCE = 2  # releases that are tried at once where a good one is looked for


class VersionOptions(NamedTuple):
    """Which releases."""

    package: str
    good: str = ""  # "" to look for one, further and further back
    bad: str = ""  # "" for the one that is installed, else the newest
    also: tuple[str, ...] = ()  # requirements for every try
    python: str = ""
    to_commit: bool = False  # go on in the package's repository


def bisect_versions(
    cycle: Cycle,
    wanted: VersionOptions,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it."""
    began = time.monotonic()
    setting = Setting(cycle, environ, wanted.python)
    try:
        return _Versions(setting, wanted, options, teller).go(began)
    finally:
        setting.close()


class ReleaseAxis:
    """Releases of one package, by their versions."""

    noun = "release"

    def __init__(self, package: str, rig: Rig, key: str) -> None:
        self._package = package
        self._rig = rig
        self.key = key

    def label(self, name: str) -> str:
        """With the package."""
        return f"{self._package} {name}"

    def servant(self, slot: int) -> Packages:
        """In a worker's process."""
        return Packages(self._rig, slot)


class _Versions:
    def __init__(
        self, setting: Setting, wanted: VersionOptions, options: BisectOptions, teller: Teller
    ) -> None:
        self.setting = setting
        self.wanted = wanted
        self.options = options
        self.teller = teller
        self.package = _name(wanted.package)
        here = setting.installed.get(self.package)
        self.here = _one_spelling(here.version) if here is not None else ""
        self.known = self._known()
        self.bad = self._bad()
        self.good = self._find(wanted.good) if wanted.good else None
        if self.good is not None:  # what can't be is said before anything is made
            releases.between(self.known, self.good, self.bad)
        rig = setting.rig(self._mix)
        key = setting.key(options, self.package, wanted.also)
        axis = ReleaseAxis(self.package, rig, key)
        self.tries: Tries = setting.tries(axis, options, teller, setting.cycle.timeout)
        for one in self.known:
            reason = "" if one.name == self.here else one.unfit(setting.python.version)
            if reason:
                self.tries.reasons[one.name] = reason

    # --- which releases -----------------------------------------------------------------------

    def _known(self) -> list[Release]:
        """All there are, and what is installed, wherever that came from."""
        sources = self.setting.uv.sources()
        environ = self.setting.environ
        found = pages.files(self.package, sources.indexes, sources.links, environ)
        known = releases.releases(self.package, found)
        if not known:
            raise UsageError(
                f"{self.wanted.package}: the package index has no such package",
                hint="is it the name that pip install takes?  the import may have another",
            )
        if self.here and all(one.name != self.here for one in known):
            known = sorted([*known, Release(Version(self.here))])
        return known

    def _find(self, text: str) -> Release:
        return releases.find(self.known, text, self.package)

    def _bad(self) -> Release:
        if self.wanted.bad:
            return self._find(self.wanted.bad)
        if self.here:
            return self._find(self.here)
        python = self.setting.python.version
        fit = [one for one in self.known if not one.yanked and not one.unfit(python)]
        newest = [one for one in fit if not one.version.is_prerelease] or fit or self.known
        return newest[-1]

    def _mix(self, name: str) -> Mix:
        """The environment with that release in it, and what has to move with it."""
        setting = self.setting
        changes = self._changes(name)
        parts = [setting.store.part(Pin(one, version)) for one, version in changes.items()]
        # The new ones first: of two files with one name the first one stays.
        return Mix([*parts, *setting.without(list(changes))], [self.package])

    def _changes(self, name: str) -> dict[str, str]:
        also = self.wanted.also
        if name == self.here and not also:
            return {}  # as it is installed, wherever that came from
        wanted = [f"{self.package}=={name}", *also]
        return self.setting.uv.would_change(self.setting.base, wanted)

    # --- searching ----------------------------------------------------------------------------

    def go(self, began: float) -> BisectReport:
        """The first bad release, and whether a pre-release of it has it already."""
        setting, tries = self.setting, self.tries
        about: dict[str, Any] = {"package": self.package}
        skipped: list[Skipped] = []
        _ = setting.base  # before there are workers
        try:
            found = self._walk_back() if self.good is None else None
            if found is None and self.good is not None:
                row = [one.name for one in releases.between(self.known, self.good, self.bad)]
                search = Ordered(tries, row, self.options)
                found, alike = in_other_words(tries, row, search.find(), self.options)
                skipped = [one for one in search.skipped() if one.name not in alike]
                about |= self._told(found, in_words=not alike)
            if found is None:
                raise ValueError("there is always an answer of some kind")
        except KeyboardInterrupt:
            found = Found("interrupted")
        except UntestableError:
            tries.memory.forget()  # the next time it may be otherwise
            raise
        finally:
            tries.close()
        if self.wanted.to_commit and found.verdict == "found":
            ends = (found.good, found.bad)
            mix = self._mix(found.bad)
            about |= to_commit(setting, self.package, ends, mix, self.options, self.teller)
        if found.verdict != "interrupted" and not found.given_up:
            tries.memory.forget()
        if found.verdict == "not-reproduced":
            found = self._explained(found)
        notes = setting.notes
        return answer("versions", tries, found, skipped, self.options, began, about, notes)

    def _walk_back(self) -> Found | None:
        """Further and further back, until it works."""
        tries, bad = self.tries, self.bad
        if not tries.is_known(bad.name):
            tries.run([bad.name])
        if bad.name in tries.reasons:
            raise self._untestable(bad.name)
        baseline = tries.outcomes[bad.name][-1]
        if baseline.failed == self.options.fixed:
            return Found("not-reproduced", why=f"{tries.axis.label(bad.name)} works", hint=_NAME)
        row = [one.name for one in releases.older(self.known, bad) if one.name not in tries.reasons]
        fixed = self.options.fixed
        walked = walk(tries, [bad.name, *row], fixed=fixed, at_once=AT_ONCE)
        self.bad = self._find(walked.bad)
        if walked.good:
            self.good = self._find(walked.good)
            return None
        hint = "name a release where it worked: --good VERSION"
        if walked.otherwise:
            other = walked.otherwise
            hint = f"{other} fails in another way; since when it fails so: --good {other}"
        why = f"it works with no release that was tried, back to the first: {baseline.headline}"
        return Found("not-reproduced", why=why, hint=hint)

    def _told(self, found: Found, *, in_words: bool) -> dict[str, Any]:
        """What there is to tell of the answer, which was found by words or only by the place."""
        if found.verdict not in ("found", "range"):
            return {}
        first = self._find(found.bad)
        sources = self.setting.uv.sources()
        date = first.date or pages.date_of(
            self.package, first.name, sources.indexes, self.setting.environ
        )
        moved = self._moved(found.good, found.bad)
        told: dict[str, Any] = {"date": date, "yanked": first.yanked, "moved": moved}
        if found.verdict == "found" and not found.flaky:
            told |= self._earlier(found, in_words=in_words)
        return told

    def _moved(self, good: str, bad: str) -> list[dict[str, str]]:
        """What is not the same besides, between the last good and the first bad one."""
        old, new = self._changes(good), self._changes(bad)
        here = {name: one.version for name, one in self.setting.installed.items()}
        found = []
        for name in sorted({*old, *new} - {self.package}):
            before, after = old.get(name, here.get(name, "")), new.get(name, here.get(name, ""))
            if before != after:
                found.append({"name": name, "old": before, "new": after})
        return found

    def _earlier(self, found: Found, *, in_words: bool) -> dict[str, Any]:
        """Whether a pre-release has it already."""
        early = [one.name for one in releases.early(self.known, found.good, found.bad)]
        if not early:
            return {}
        row = [found.good, *early, found.bad]
        tries, judge = self.tries, self.tries.judge
        if judge is not None and not in_words:
            tries.judge = ByLine(*judge)
        refined = Ordered(tries, row, self.options).find()
        tries.judge = judge
        refined, _ = in_other_words(tries, row, refined, self.options)
        if refined.verdict != "found" or refined.bad == found.bad:
            return {}
        return {"early": refined.bad}

    def _untestable(self, name: str) -> UntestableError:
        end = "bad" if name == self.bad.name else "good"
        return UntestableError(
            f"{self.tries.axis.label(name)} can't be tested: {self.tries.why(name)}",
            hint=self.tries.hints.get(name) or f"name another release: --{end} VERSION",
        )

    def _explained(self, found: Found) -> Found:
        """An end that can't be tested is another thing than one that works."""
        ends = [one.name for one in (self.bad, self.good) if one is not None]
        for name in ends:
            if name in self.tries.reasons:
                raise self._untestable(name)
        if not self.setting.was_imported and not self.tries.memory.resumed:
            return found._replace(hint=f"the command did not import {self.package} in any try")
        return found


def _name(text: str) -> str:
    """Of a package, in its one spelling."""
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        return normal(text)
    if asked.specifier:
        one = next(iter(asked.specifier)).version
        raise UsageError(
            f"{text}: it takes a name without a version",
            hint=f"zeroin bisect versions {asked.name} --bad {one} -- COMMAND",
        )
    return normal(asked.name)


def _one_spelling(version: str) -> str:
    """Of an installed one; "" if it is no version at all."""
    try:
        return str(Version(version))
    except InvalidVersion:
        return ""


_NAME = "name a good and a bad release: --good VERSION --bad VERSION"

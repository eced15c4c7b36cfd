"""From what has to be put back to the packages by name, and the first bad release of each."""

from __future__ import annotations

import os

from zeroin.axes.versions import pages, releases
from zeroin.errors import ZeroinError
from zeroin.run.composed import compose
from zeroin.run.pins import Pin
from zeroin.tools.bisect.alike import in_other_words
from zeroin.tools.bisect.mixes import AT
from zeroin.tools.bisect.ordered import Ordered
from zeroin.tools.bisect.packages import Mix
from zeroin.tools.bisect.report import Culprit
from zeroin.tools.bisect.to_commit import to_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from zeroin.axes.envs.needs import Change
    from zeroin.search.cure import Cured, Graph
    from zeroin.tools.bisect.mixes import Mixes
    from zeroin.tools.bisect.report import BisectOptions, Teller
    from zeroin.tools.bisect.setting import Setting
    from zeroin.tools.bisect.tries import Tries


class Releases:
    """Releases between the old and the new version of one package."""

    def __init__(self, setting: Setting, mixes: Mixes) -> None:
        self._setting = setting
        self._mixes = mixes
        self.notes: list[str] = []
        self.alike: set[str] = set()  # mixes that count by where they fail, in whatever words
        self.found: dict[str, dict[str, Any]] = {}  # by package
        self._bad: dict[str, str] = {}  # the mix with the first bad release

    def mix(self, name: str) -> Mix:
        """The environment of any name, in a worker."""
        if AT not in name:
            return self._mixes.mix(name)
        release, _, rest = name.partition(AT)
        package, _, _ = release.partition("==")
        pins = self._mixes.pins(rest)
        base = self._base(rest)
        moved = self._setting.uv.would_change(base, [release])
        pins |= {one: Pin(one, version) for one, version in moved.items()}
        return Mix(self._mixes.parts(pins.values()), [package])

    def _base(self, name: str) -> str:
        """An environment that uv may ask about a mix."""
        own = os.path.join(self._setting.folder, f"base-{os.getpid()}-{name}")
        if not os.path.isdir(own):
            parts = self._mixes.parts(self._mixes.pins(name).values())
            compose(own, self._setting.python, parts)
        return os.path.join(own, "bin", "python")

    def look(self, tries: Tries, graph: Graph, cured: Cured, options: BisectOptions) -> None:
        """For each culprit that is there before and after."""
        tries.noun = "release"
        every = {*cured.alone, *(one for found in cured.partners.values() for one in found)}
        for one in sorted(every):
            change = self._mixes.changes[one]
            if not change.old or not change.new or self._mixes.new[change.name].source:
                continue
            whole = cured.put_back if one in cured.needed else graph.with_needed([one])
            rest = whole - graph.with_needing([one])
            before = tries.tries
            try:
                self._look(tries, change, whole, rest, options)
            except ZeroinError as error:
                self.notes.append(f"the first bad release of {change.name}: {error.message}")
            if change.name in self.found:
                self.found[change.name]["tries"] = tries.tries - before

    def to_commits(self, options: BisectOptions, teller: Teller) -> None:
        """For each that has one first bad release."""
        for package, told in self.found.items():
            if len(told["candidates"]) == 1:
                ends = (told["last_good"], told["first_bad"])
                mix = self.mix(self._bad[package])
                told.update(to_commit(self._setting, package, ends, mix, options, teller))

    def _look(
        self,
        tries: Tries,
        change: Change,
        whole: frozenset[int],
        without: frozenset[int],
        options: BisectOptions,
    ) -> None:
        sources, environ = self._setting.uv.sources(), self._setting.environ
        files = pages.files(change.name, sources.indexes, sources.links, environ)
        known = releases.releases(change.name, files)
        ends = [releases.find(known, text, change.name) for text in (change.old, change.new)]
        up = ends[0].version < ends[1].version
        line = releases.between(known, *(ends if up else ends[::-1]))
        inner = [item.name for item in (line if up else line[::-1])[1:-1]]
        rest = self._mixes.name(without)
        row = [
            self._mixes.name(whole),
            *(self._mixes.release(Pin(change.name, version), rest) for version in inner),
            rest,
        ]
        python = self._setting.python.version
        for item, name in zip(line if up else line[::-1], row, strict=True):
            if AT in name and item.unfit(python):
                tries.reasons[name] = item.unfit(python)
        found = Ordered(tries, row, options).find()
        found, alike = in_other_words(tries, row, found, options)
        self.alike.update(alike)
        if found.verdict not in ("found", "range"):
            self.notes.append(f"the first bad release of {change.name}: {found.why}")
            return
        if found.note:
            self.notes.append(found.note)
        versions = dict(zip(row, [change.old, *inner, change.new], strict=True))
        first = versions[found.bad]
        date = next((item.date for item in line if item.name == first), "")
        self._bad[change.name] = found.bad
        self.found[change.name] = {
            "last_good": versions[found.good],
            "first_bad": first,
            "candidates": [versions[name] for name in found.candidates],
            "date": date or pages.date_of(change.name, first, sources.indexes, environ),
        }


def culprits_of(mixes: Mixes, graph: Graph, cured: Cured, found: Releases) -> list[Culprit]:
    """What it takes, the ones to put back first."""
    told = []
    left = set(cured.needed)
    heads = sorted(cured.alone, key=lambda one: (cured.alone[one] is not True, one))
    for one in (*heads, *sorted(cured.needed)):
        if one not in left:
            continue
        left -= graph.together(one)
        moves = graph.with_needed([one]) - {one}
        about = _about(mixes.changes[one], found)
        about |= {
            "put_back": True,
            "moves_with_it": [_told(mixes.changes[other]) for other in sorted(moves)],
            "breaks_alone": cured.alone.get(one),
            "breaks_with": [mixes.changes[i].name for i in sorted(cured.partners.get(one, ()))],
        }
        told.append(Culprit(*mixes.changes[one], about))
    for one in sorted(_partners(cured)):
        owners = [mixes.changes[i].name for i, with_ in cured.partners.items() if one in with_]
        about = _about(mixes.changes[one], found)
        about |= {"put_back": False, "moves_with_it": [], "breaks_alone": False}
        told.append(Culprit(*mixes.changes[one], about | {"breaks_with": owners}))
    return told


def _partners(cured: Cured) -> Iterable[int]:
    return {one for found in cured.partners.values() for one in found} - cured.needed


def _about(change: Change, found: Releases) -> dict[str, Any]:
    nothing = {"last_good": change.old, "first_bad": change.new, "candidates": [], "date": ""}
    return {**nothing, **found.found.get(change.name, {}), "known": change.name in found.found}


def _told(change: Change) -> dict[str, str]:
    return change._asdict()

"""Mixes of two environments: each package as it is in the one or in the other."""

from __future__ import annotations

from zeroin.axes.envs import needs
from zeroin.axes.envs.needs import Change
from zeroin.run.dists import installed, installed_once
from zeroin.run.uv import UnreachableError
from zeroin.search.cure import Graph
from zeroin.tools.bisect.packages import Mix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zeroin.axes.envs.needs import Asked
    from zeroin.run.composed import Part
    from zeroin.run.dists import Dist
    from zeroin.run.pins import Pin
    from zeroin.tools.bisect.setting import Setting

AT = " with "  # between a release and the mix that it is put into


class Mixes:
    """The failing environment with some packages put back, named by which those are."""

    def __init__(self, setting: Setting, old: Mapping[str, Pin], new: Mapping[str, Pin]) -> None:
        self._setting = setting
        self.old, self.new = dict(old), dict(new)
        self.notes: list[str] = []
        self.changes: list[Change] = []
        self._compare()

    def _compare(self) -> None:
        found = []
        for name in sorted({*self.old, *self.new}):
            before, after = self.old.get(name), self.new.get(name)
            if before is None or after is None or before[1:3] != after[1:3]:
                old = before.version if before is not None else ""
                found.append(Change(name, old, after.version if after is not None else ""))
        self.changes = found

    def fill(self) -> None:
        """Have all releases at hand; what can't be had is the other one in both, and told."""
        pins = dict.fromkeys([*self.new.values(), *self.old.values()])
        failed = self._setting.store.fill(pins)
        for error in failed.values():
            if isinstance(error, UnreachableError):
                raise error
        for pin, error in failed.items():
            for mine, other in ((self.old, self.new), (self.new, self.old)):
                if mine.get(pin.name) != pin:
                    continue
                stand_in = other.get(pin.name)
                if stand_in is None or stand_in in failed:
                    mine.pop(pin.name)
                else:
                    mine[pin.name] = stand_in
            self.notes.append(f"{pin} can't be installed, and is in no try: {error.message}")
        self._compare()

    # --- names --------------------------------------------------------------------------------

    def name(self, put_back: Iterable[int]) -> str:
        """Of a mix: the same for the same two environments."""
        return f"{sum(1 << one for one in put_back):x}"

    def put_back(self, name: str) -> frozenset[int]:
        """What a name means."""
        bits = int(name.rpartition(AT)[2], 16)
        return frozenset(one for one in range(len(self.changes)) if bits >> one & 1)

    @staticmethod
    def release(pin: Pin, name: str) -> str:
        """The name of a mix with one release in the place of what it has."""
        return f"{pin.name}=={pin.version}{AT}{name}"

    def label(self, name: str) -> str:
        """For people."""
        if AT in name:
            return name.partition(AT)[0].replace("==", " ")
        back = sorted(self.put_back(name))
        if not back:
            return "as it is"
        if len(back) == len(self.changes):
            return "all put back"
        if len(back) == 1:
            return f"{self.changes[back[0]].name} put back"
        return f"{len(back)} of {len(self.changes)} put back"

    # --- environments -------------------------------------------------------------------------

    def pins(self, name: str) -> dict[str, Pin]:
        """All packages of a mix."""
        found = dict(self.new)
        for one in self.put_back(name):
            change = self.changes[one]
            if change.old:
                found[change.name] = self.old[change.name]
            else:
                found.pop(change.name)
        return found

    def parts(self, pins: Iterable[Pin]) -> list[Part]:
        """To compose with."""
        return [self._setting.store.part(pin) for pin in pins]

    def mix(self, name: str) -> Mix:
        """The environment of a name without a release."""
        pins = self.pins(name)
        return Mix(self.parts(pins.values()), list(pins), strict=True)

    # --- what goes with what ------------------------------------------------------------------

    def graph(self) -> tuple[Graph, list[int]]:
        """Which changes can be put back only together, and how deep each one is."""
        old = self._asked(self.old)
        new = self._asked(self.new)
        pairs = needs.implied(self.changes, old, new)
        return Graph(len(self.changes), pairs), needs.ranks(self.changes, old, new)

    def _asked(self, pins: Mapping[str, Pin]) -> dict[str, Asked]:
        markers = self._setting.python.markers
        found = {}
        for name, pin in pins.items():
            dist = self.dist(pin)
            if dist is not None:
                found[name] = needs.asked(dist.headers("Requires-Dist"), markers)
        return found

    def dist(self, pin: Pin) -> Dist | None:
        """What is known of a release."""
        if pin.folder:
            return installed_once(pin.folder).get(pin.name)
        return installed([self._setting.store.place(pin)]).get(pin.name)

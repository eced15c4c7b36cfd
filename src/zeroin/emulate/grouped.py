"""Limits by a control group: which ways there are to one, and the part that holds it.

In version 2 a process is in one group, so the limits of a run share one there.
"""

from __future__ import annotations

import errno
import os

from zeroin.emulate import cgroups
from zeroin.emulate.part import Backend, Part
from zeroin.errors import UntestableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import ClassVar

    from zeroin.emulate.part import Limit, Scene

PREFIX = "zeroin-limit-"
SCOPE, V2, V1 = "systemd scope", "cgroup v2", "cgroup v1"


class Grouped(Part):
    """Mixed into the part of a limit. `way` and the rest are the kind's own."""

    way = ""
    controller = ""
    word = ""  # before the way, in the name of the back-end

    _shared: ClassVar[dict[str, tuple[str, cgroups.Group]]] = {}  # by the name of the run

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, self.named())
        self._run = scene.name
        try:
            self._group = self._made(limits, scene)
        except OSError as error:
            raise UntestableError(f"--limit {limits[0].text}: {_reason(error)}") from None
        if self._group.place.scope is not None:
            self.helpers = (self._group.place.scope.pid,)

    @classmethod
    def named(cls) -> str:
        """As the report has it."""
        return cls.way if cls.way == SCOPE else f"{cls.word} {cls.way}".strip()

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> Mapping[str, object]:
        """What is written to the group."""
        raise NotImplementedError

    @classmethod
    def lacks(cls, limits: Sequence[Limit], scene: Scene) -> str:
        """Make one, put a process into it; why that fails, "" if it works."""
        shared = scene.name in cls._shared
        try:
            group = cls._made(limits, scene)
        except OSError as error:
            return _reason(error)
        if not shared:
            cls._shared.pop(scene.name, None)
            group.remove()
        return ""

    @classmethod
    def backend_of(cls) -> Backend:
        """For the list of the kind."""
        return Backend(cls.named(), cls.lacks, cls)

    @classmethod
    def _made(cls, limits: Sequence[Limit], scene: Scene) -> cgroups.Group:
        if cls.way == V1:
            places = cgroups.places(cls.controller, 1)
            return cls._first(places, PREFIX + scene.name, limits)
        way, group = cls._shared.get(scene.name, ("", None))
        if group is not None:
            if way != cls.way:
                raise OSError(errno.EBUSY, f"another limit has its group by {way}")
            cls._enable(group.place)
            group.set(cls.settings(limits))
        elif cls.way == SCOPE:
            group = cls._in_scope(limits, scene)
        else:
            places = cgroups.places(cls.controller, 2)
            group = cls._first(places, PREFIX + scene.name, limits)
        cls._shared[scene.name] = cls.way, group
        return group

    @classmethod
    def _in_scope(cls, limits: Sequence[Limit], scene: Scene) -> cgroups.Group:
        from zeroin.emulate import scopes  # what it needs takes longer to load than a limit may

        scope = scopes.Scope(PREFIX + scene.name)
        try:
            place = cgroups.Place(2, scope.folder, scope)
            cls._enable(place)
            return cls._first([place], "run", limits)
        except BaseException:
            scope.close()
            raise

    @classmethod
    def _enable(cls, place: cgroups.Place) -> None:
        if place.scope is not None:
            place.scope.enable(cls.controller)
        elif not cgroups.has(place.folder, cls.controller):
            raise OSError(errno.ENOENT, f"no {cls.controller} controller where the others are")

    @classmethod
    def _first(
        cls, places: Sequence[cgroups.Place], name: str, limits: Sequence[Limit]
    ) -> cgroups.Group:
        if not places:
            version = cls.way[-1]
            what = f"no {cls.controller} controller of version {version} for us"
            raise OSError(errno.ENOENT, what)
        return cgroups.make(places, name, cls.settings(limits))

    def started(self, pid: int) -> None:
        """All that it starts is in the group then."""
        try:
            self._group.take(pid)
        except OSError as error:
            what = f"--limit {self.limits[0].text}: {self.backend}: {_reason(error)}"
            raise UntestableError(what) from None

    def close(self) -> None:
        """The group goes."""
        self._shared.pop(self._run, None)
        self._group.remove()

    def abandon(self) -> None:
        """Likewise."""
        self._group.abandon()


def _reason(error: OSError) -> str:
    """Our own words, or the system's."""
    text = error.strerror or str(error)
    return text.lower() if text == os.strerror(error.errno or 0) else text

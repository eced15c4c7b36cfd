"""Control groups of a run whose driver was killed while it made them."""

from __future__ import annotations

import os

from zeroin.emulate import cgroups
from zeroin.emulate.grouped import PREFIX
from zeroin.emulate.part import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


CONTROLLERS = ("memory", "pids", "cpu")  # of the limits that have groups


class LeftGroups(Part):
    """No limit of its own: removes whatever groups the run of that name has made by then."""

    def __init__(self, name: str) -> None:
        super().__init__((), "")
        self._name = PREFIX + name

    def abandon(self) -> None:
        """Each in its hierarchy; a scope of systemd's ends by itself."""
        for folder in dict.fromkeys(self._folders()):
            if os.path.isdir(folder):
                cgroups.remove_group(folder)

    def _folders(self) -> Iterator[str]:
        for controller in CONTROLLERS:
            for place in (*cgroups.places(controller, 1), *cgroups.places(controller, 2)):
                yield os.path.join(place.folder, self._name)

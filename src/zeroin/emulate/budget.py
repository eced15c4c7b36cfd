"""`disk=PATH:SIZE` where there are no namespaces: writes below a folder fail after so many bytes.

What is written is really written. All bytes count, also those that overwrite others.
"""

from __future__ import annotations

import errno
import os

from zeroin.emulate import calls
from zeroin.emulate.faults import GAINS, execve, lacks_listener
from zeroin.emulate.part import Effect, Part
from zeroin.emulate.supervisor import Rule, Supervisor
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Limit, Scene

WRITES = ("write", "fallocate")
NOTES = (
    "what is written is really there: this back-end has no overlay",
    "what is written through mmap is not counted, what is overwritten is counted again",
)


class Budget(Part):
    """So many bytes for all processes together."""

    order = 90

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "seccomp listener")
        (limit,) = limits
        found = tuple(call for word in WRITES for call in calls.named(word))
        pattern = limit.target.rstrip("/").replace("[", "[[]") + "/*"
        rule = Rule(found, errno.ENOSPC, path=pattern, budget=int(limit.amount))
        self._supervisor = Supervisor([rule], execve())
        self.helpers = (self._supervisor.pid,)

    def last(self) -> None:
        """From now on its writes ask."""
        self._supervisor.enter()

    def effects(self, ending: Ending) -> list[Effect]:
        """How much was written."""
        del ending
        ((spent, failed),) = self._supervisor.counts()
        (limit,) = self.limits
        detail = f"{size(spent)} of {size(limit.amount)} written"
        if failed:
            detail += f", {failed:,} writes failed"
        notes = (*NOTES, *(f"not by {reason}" for reason in self.instead))
        notes = notes if os.geteuid() == 0 else (*notes, GAINS)
        return [Effect(limit.text, self.backend, failed > 0, detail, notes)]

    def close(self) -> None:
        """Nobody is left who could ask."""
        self._supervisor.close()


def lacks(limits: Sequence[Limit], scene: Scene) -> str:
    """It counts bytes, no files."""
    if any(limit.name != "disk" for limit in limits):
        return "it counts bytes, not files"
    return lacks_listener(limits, scene)

"""The engine's part that keeps a standby: starting it, asking it, ending it.

A program that has come to its place in the background goes on from there. One that is still on
its way is asked as well, and answers at its next step: from where it stands it has less before it
than a cold run has, if the edit leaves valid what it has run. It is waited for no longer than it
has run already, so that waiting in vain can at most double what a cold run costs.
"""

from __future__ import annotations

from zeroin.run.warm import guard
from zeroin.run.warm.exchange import Exchange
from zeroin.run.warm.standby import Standby
from zeroin.run.warm.table import available

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zeroin.run.warm.standby import Command, Place
    from zeroin.run.wires import Wire

PEAKS = 2  # times the program's peak must be free
PATIENCE = 0.5  # seconds that one gets in any case
JUDGE_LIMIT = 30.0  # seconds for one that waits, to decide


class Ahead(Exchange):
    """At most one standby."""

    def __init__(self, folder: str, budget_bytes: int, most: int) -> None:
        super().__init__(folder, budget_bytes, most)
        self._guard: guard.Guard | None = None
        self._handed: list[Wire] = []
        self._hopeless: set[tuple[str, int]] = set()

    def _wait(self, done: Callable[[], object], limit: float) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """End all that was kept; it is gone when this returns."""
        self.end_standby()
        if self._guard is not None:
            self._guard.close()
            self._leaving.add(self._guard.pid)
            self._guard = None
        super().close()

    def stand_by(self, command: Command, place: Place, peak_bytes: int) -> bool:
        """Run ahead to a place; False if it won't do, or if there is no room for it."""
        self.end_standby()
        if self._below or self.through:  # it would be asked, and can't answer for the others
            return False
        if (place.path, place.line) in self._hopeless or available() < PEAKS * peak_bytes:
            return False
        if self._guard is None:
            self._guard = guard.Guard()
            self.aside.keep.add(self._guard.pid)
        self.standby = Standby(command, place, self.folder, self._own)
        self._guard.watch(self.standby.pid)
        self.aside.keep.add(self.standby.pid)
        self.aside.later(self.standby.limit(), self._end_if_late)
        return True

    def end_standby(self) -> None:
        """No process of the program is left in the background when this returns."""
        standby, self.standby = self.standby, None
        if standby is None:
            return
        if standby.line is not None:
            self._hang_up(standby.line)
        if standby.is_lost and not standby.is_parked and standby.answer is None:
            self._hopeless.add((standby.place.path, standby.place.line))
        standby.end()
        self._let_alone(standby)

    def _end_if_late(self) -> None:
        if self.standby is not None and not self.standby.is_usable():
            self.standby.is_lost = True
            self.end_standby()

    def _let_alone(self, standby: Standby) -> None:
        self.aside.keep.discard(standby.pid)
        if self._guard is not None:
            self._guard.watch(0)

    # --- going on from it ---------------------------------------------------------------------

    def _ask_standby(self, order: dict[str, Any]) -> tuple[Standby | None, str]:
        """It, if it has become the program; else why not."""
        standby = self.standby
        if standby is None:
            return None, ""
        newest = self.table.newest()
        has_come = standby.seconds if standby.is_parked else standby.elapsed()
        is_later = newest is None or has_come > newest.seconds
        if not (standby.is_usable() and is_later):
            self.end_standby()
            return None, ""
        limit = JUDGE_LIMIT if standby.is_parked else max(PATIENCE, standby.elapsed())
        self._wait(lambda: standby.line is not None or standby.is_lost, limit)
        following = {"next": newest.id + 1 if newest is not None else 0}
        if standby.line is not None and standby.line.send({**order, **following}):
            self._wait(lambda: self._has_answered(standby), limit)
        answer = standby.answer
        if answer is None or answer["kind"] != "resumed":
            why = str(answer.get("reason") or "") if answer is not None else ""
            self.end_standby()
            return None, why
        self._become(standby, order, following["next"])
        return standby, ""

    def _has_answered(self, standby: Standby) -> bool:
        if standby.answer is None and not standby.is_parked:
            standby.nudge()
        return standby.answer is not None or standby.is_lost

    def _become(self, standby: Standby, order: dict[str, Any], first: int) -> None:
        self.standby = None
        self._let_alone(standby)
        standby.become(str(order["agent"]))
        self._handed = standby.hand_over()
        self.spool = standby.spool
        self._first = first
        self.table.origin = None
        if standby.line is not None:
            self._roles[standby.line] = None

    def handed_over(self) -> list[Wire]:
        """What `Run.execute` takes as `also`."""
        handed, self._handed = self._handed, []
        return handed

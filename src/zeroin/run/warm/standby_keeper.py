"""Keeping one standby: starting it, asking it, ending it.

A program that has come to its place in the background goes on from there. One that is still on
its way is asked as well, and answers at its next step: from where it stands it has less before it
than a cold run has, if the edit leaves valid what it has run. It is waited for no longer than it
has run already, so that waiting in vain can at most double what a cold run costs.
"""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.run.warm import guard
from zeroin.run.warm.standby import Standby
from zeroin.run.warm.table import available

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zeroin.run.aside import Aside
    from zeroin.run.warm.connection import Connection
    from zeroin.run.warm.leaving import Leaving
    from zeroin.run.warm.lines import Line
    from zeroin.run.warm.standby import Command, Place
    from zeroin.run.warm.table import Snapshot

    # Serves agents until something is true, for so many seconds at most.
    Wait = Callable[[Callable[[], object], float], None]

PEAKS = 2  # times the program's peak must be free
PATIENCE = 0.5  # seconds that one gets in any case
JUDGE_LIMIT = 30.0  # seconds for one that waits, to decide


class StandbyAnswer(NamedTuple):
    """The standby that has become the program, or None and why not."""

    standby: Standby | None
    first: int = 0  # the id from which it counts its snapshots
    reason: str = ""


class StandbyKeeper:
    """At most one standby; `aside` is what runs serve, `leaving` waits for what has ended."""

    def __init__(self, folder: str, connection: Connection, aside: Aside, leaving: Leaving) -> None:
        self._folder = folder
        self._connection = connection
        self._aside = aside
        self._leaving = leaving
        self.standby: Standby | None = None
        self._guard: guard.Guard | None = None
        self._hopeless: set[tuple[str, int]] = set()

    def close(self) -> None:
        """End the standby and its guard."""
        self.end()
        if self._guard is not None:
            self._guard.close()
            self._leaving.add(self._guard.pid)
            self._guard = None

    def start(self, command: Command, place: Place, peak_bytes: int) -> bool:
        """Run ahead to a place; False if it won't do, or if there is no room for it."""
        if (place.path, place.line) in self._hopeless or available() < PEAKS * peak_bytes:
            return False
        if self._guard is None:
            self._guard = guard.Guard()
            self._aside.keep.add(self._guard.pid)
        self.standby = Standby(command, place, self._folder, self._connection.aside)
        self._guard.watch(self.standby.pid)
        self._aside.keep.add(self.standby.pid)
        self._aside.later(self.standby.limit(), self._end_if_late)
        return True

    def end(self) -> None:
        """No process of the program is left in the background when this returns."""
        standby, self.standby = self.standby, None
        if standby is None:
            return
        if standby.line is not None:
            self._connection.hang_up(standby.line)
        if standby.is_lost and not standby.is_parked and standby.answer is None:
            self._hopeless.add((standby.place.path, standby.place.line))
        standby.end()
        self._let_alone(standby)

    def _end_if_late(self) -> None:
        if self.standby is not None and not self.standby.is_usable():
            self.standby.is_lost = True
            self.end()

    def _let_alone(self, standby: Standby) -> None:
        self._aside.keep.discard(standby.pid)
        if self._guard is not None:
            self._guard.watch(0)

    def take_message(self, line: Line, message: dict[str, Any]) -> None:
        """Hear of a standby that has called, or has come to its place."""
        standby = self.standby
        if standby is None or message.get("pid") != standby.pid:
            self._connection.hang_up(line)  # one that was given up
            return
        standby.line = line
        self._connection.assign_role(line, standby)
        if message.get("kind") == "parked":
            standby.is_parked = True
            standby.at = str(message.get("at") or "")
            standby.seconds = float(message.get("seconds") or 0.0)

    def ask(self, order: dict[str, Any], newest: Snapshot | None, wait: Wait) -> StandbyAnswer:
        """Let the standby become the program, if it is further than the newest snapshot."""
        standby = self.standby
        if standby is None:
            return StandbyAnswer(None)
        has_come = standby.seconds if standby.is_parked else standby.elapsed()
        is_later = newest is None or has_come > newest.seconds
        if not (standby.is_usable() and is_later):
            self.end()
            return StandbyAnswer(None)
        limit = JUDGE_LIMIT if standby.is_parked else max(PATIENCE, standby.elapsed())
        wait(lambda: standby.line is not None or standby.is_lost, limit)
        first = newest.id + 1 if newest is not None else 0
        if standby.line is not None and standby.line.send({**order, "next": first}):
            wait(lambda: _has_answered(standby), limit)
        answer = standby.answer
        if answer is None or answer["kind"] != "resumed":
            why = str(answer.get("reason") or "") if answer is not None else ""
            self.end()
            return StandbyAnswer(None, reason=why)
        self.standby = None
        self._let_alone(standby)
        standby.become(str(order["agent"]))
        if standby.line is not None:
            self._connection.assign_role(standby.line, None)
        return StandbyAnswer(standby, first)


def _has_answered(standby: Standby) -> bool:
    if standby.answer is None and not standby.is_parked:
        standby.nudge()
    return standby.answer is not None or standby.is_lost

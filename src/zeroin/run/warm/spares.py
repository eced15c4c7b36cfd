"""Spares: forks of snapshots that wait for the next edit, so that it need not wait for a fork."""

from __future__ import annotations

from zeroin.run.warm.table import available

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.run.warm.connection import Connection
    from zeroin.run.warm.table import Runner, Snapshot, Table

MANY_FAULTS = 8192  # of a resumed run, at a page each,
PARTS = 4  # and no less than one in so many of all its pages
PAGE = 4096
ROOM = 4  # times what a spare copies must be free
DEATHS = 3  # spares of one snapshot that may die before nobody asks for another


class Spares:
    """A spare at the newest snapshot, and one where the next edit is expected."""

    def __init__(self, table: Table, connection: Connection) -> None:
        self._table = table
        self._connection = connection
        self._preferred: int | None = None
        self._faults = 0  # pages that the last resumed run copied

    def prefer(self, id_: int | None) -> None:
        """Expect the next edit after the snapshot with this id."""
        self._preferred = id_

    def note_faults(self, faults: int) -> None:
        """Learn from a resumed run how much of a snapshot's memory is written to."""
        self._faults = faults

    def ask_for_all(self) -> None:
        """Have a spare wherever one is wanted, and nowhere else."""
        newest = self._table.newest()
        wanted = {self._preferred, newest.id if newest is not None else None}
        for snapshot in self._table:
            if not snapshot.pid:
                continue
            if snapshot.id in wanted:
                self.ask_for_one(snapshot)
            elif snapshot.spare is not None:
                self._connection.hang_up(snapshot.spare.line)

    def ask_for_one(self, snapshot: Snapshot) -> None:
        """Let a snapshot fork, unless it has a spare or its spares die."""
        if snapshot.spare is None and not snapshot.asked and snapshot.deaths < DEATHS:
            order = {"kind": "fork", "own": self._bytes_to_copy(snapshot)}
            snapshot.asked = snapshot.line.send(order)
            if not snapshot.asked:
                self._table.remove(snapshot)

    def _bytes_to_copy(self, snapshot: Snapshot) -> int:
        """How much a spare may copy ahead: where runs copy much, and there is room for it."""
        much = self._faults >= MANY_FAULTS and self._faults * PAGE * PARTS >= snapshot.rss
        if not much or snapshot is not self._table.newest() or available() < ROOM * snapshot.rss:
            return 0
        return 2 * snapshot.rss

    def note_loss(self, runner: Runner) -> bool:
        """Take notice that a runner has ended; whether it was a spare that nobody had used."""
        snapshot = self._table.get(runner.of)
        if snapshot is None or snapshot.spare is not runner:
            return False
        snapshot.spare = None
        snapshot.deaths += 1
        return True

"""The snapshots there are, what each of them costs, and which to give up first."""

from __future__ import annotations

import itertools
import time

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zeroin.run.warm.lines import Line
    from zeroin.run.warm.spool import Spool

CHEAP = 30  # measuring takes at most one part in so many of the time
WORTH = 1.1  # held over what one snapshot has: below, dropping wins nothing


class Snapshot:
    """A frozen process before a statement of the program."""

    def __init__(
        self, line: Line, message: dict[str, object], cut: int, spool: Spool, first: int
    ) -> None:
        self.line = line
        self.id = _int(message.get("id"))
        self.at = str(message.get("at", ""))
        self.seconds = _float(message.get("seconds"))  # what the program needed to get here
        self.rss = _int(message.get("rss"))
        self.fork_seconds = _float(message.get("fork"))
        self.cut = cut  # how much output came before it,
        self.spool = spool  # and where that is
        self.first = first  # id of the first of those that it knows: its own program's
        self.pid = 0  # known once it is frozen
        self.memory = Memory(0, 0, 0)
        self.spare: Runner | None = None  # forked ahead, waits for the next edit
        self.asked = False  # for a runner that has not called yet
        self.deaths = 0  # of its runners, before they were used


class Runner:
    """A fork of a snapshot that waits for `go`."""

    def __init__(self, line: Line, of: int, pid: int) -> None:
        self.line = line
        self.of = of
        self.pid = pid
        self.answer: dict[str, object] | None = None


class Memory(NamedTuple):
    """Of one process, in bytes; without the files it has mapped."""

    share: int  # with each shared page divided among those who share it
    own: int  # what is free once it has ended
    whole: int


class Table:
    """The snapshots by their ids, oldest first, under a budget."""

    def __init__(self, budget_bytes: int, most: int, drop: Callable[[Snapshot], None]) -> None:
        self.budget = budget_bytes
        self.most = max(2, most)
        self.origin: int | None = None  # the one that the present run came from
        self._drop = drop
        self._on_add: Callable[[Snapshot], None] = lambda _: None
        self._rows: dict[int, Snapshot] = {}
        self._due = 0.0
        self._measured: set[int] = set()  # those that were there at the last look

    def call_on_add(self, call: Callable[[Snapshot], None]) -> None:
        """Tell `call` of each snapshot right after it was taken."""
        self._on_add = call

    def __iter__(self) -> Iterator[Snapshot]:
        return iter([self._rows[id_] for id_ in sorted(self._rows)])

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, id_: int) -> Snapshot | None:
        """The one with this id."""
        return self._rows.get(id_)

    def add(self, snapshot: Snapshot) -> None:
        """One more, asked for but perhaps not frozen yet."""
        self._measured.discard(snapshot.id)
        old = self._rows.pop(snapshot.id, None)
        if old is not None:
            self._drop(old)
        self._rows[snapshot.id] = snapshot
        self._on_add(snapshot)

    def remove(self, snapshot: Snapshot) -> None:
        """It is not to be used any more."""
        if self._rows.get(snapshot.id) is snapshot:
            del self._rows[snapshot.id]
            self._drop(snapshot)

    def remove_after(self, id_: int) -> None:
        """All that are newer than this one."""
        for snapshot in self:
            if snapshot.id > id_:
                self.remove(snapshot)

    def newest(self, until: int | None = None) -> Snapshot | None:
        """The newest that can be used, not newer than `until`."""
        fit = [s for s in self if s.pid and (until is None or s.id <= until)]
        return fit[-1] if fit else None

    # --- what they cost -----------------------------------------------------------------------

    def thin(self, program: int = 0, *, at_once: bool = False) -> bool:
        """Drop what is worth least when there is too much; whether anything was dropped.

        What that frees shows only when they have ended, since they share so much: some of them
        each time, and the next look sees whether that was enough.
        """
        dropped = False
        while len(self) > self.most and self._drop_least():
            dropped = True
        if at_once or time.monotonic() >= self._due or available() < self.budget:
            held = self.measure(program)
            whole = max((s.memory.whole for s in self), default=0)
            if held > max(self.budget, WORTH * whole):
                for _ in range(max(1, len(self) // 4)):
                    dropped |= self._drop_least()
        return dropped

    def measure(self, program: int = 0) -> int:
        """What all of them hold together beyond what the program has anyway."""
        began = time.monotonic()
        held = 0
        for snapshot in self:
            if snapshot.pid:
                snapshot.memory = memory(snapshot.pid)
                held += snapshot.memory.share
            if snapshot.spare is not None:
                held += memory(snapshot.spare.pid).share
        if program:
            live = memory(program)
            held -= live.whole - live.share
        self._measured = {snapshot.id for snapshot in self if snapshot.pid}
        now = time.monotonic()
        self._due = now + CHEAP * (now - began)
        return max(held, sum(s.memory.own for s in self), 0)

    def _drop_least(self) -> bool:
        """Give up the one with the fewest seconds saved for its memory."""
        gaps = {
            snapshot.id: max(0.0, snapshot.seconds - older.seconds)
            for older, snapshot in itertools.pairwise(list(self)[:-1])
            if snapshot.id != self.origin
        }
        if not gaps:
            return False
        # Only what was measured together can be compared: the more they are, the less has each.
        known = self._measured.issuperset(gaps)
        cost = {id_: max(1, self._rows[id_].memory.share) if known else 1 for id_ in gaps}
        least = self._rows[min(gaps, key=lambda id_: (gaps[id_] / cost[id_], id_))]
        if not least.pid:  # not frozen yet, and then this is asked again: another would be a loss
            return False
        self.remove(least)
        return True


def memory(pid: int) -> Memory:
    """Look it up; zeros when it is gone. It costs milliseconds for each gigabyte."""
    fields: dict[bytes, int] = {}
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                words = line.split()
                if len(words) == 3 and words[2] == b"kB":
                    fields[words[0]] = int(words[1]) * 1024
    except OSError:
        pass
    own = fields.get(b"Private_Clean:", 0) + fields.get(b"Private_Dirty:", 0)
    whole = fields.get(b"Anonymous:", 0)
    return Memory(fields.get(b"Pss_Anon:", fields.get(b"Pss:", 0)), own, whole)


def available() -> int:
    """Bytes that the machine could give now."""
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 30


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

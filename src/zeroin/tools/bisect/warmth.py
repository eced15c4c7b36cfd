"""Whether tries go on from snapshots: only where the first of them show that it pays.

A program that snapshots are taken of is watched as it runs, and that costs some programs more
than they could ever save. So the first tries run plainly. If they take long enough for something
to be gained, and enough tries are to come, one worker tries it the other way, within a bound; the
others follow if it was quicker there. Whoever follows is looked at as well: where it turns out
not to pay, all run plainly again.

On a busy machine the clock tells little of a single try: how much of a processor it used has to
say the same.
"""

from __future__ import annotations

import math

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BRIEF = 0.5  # seconds: what is over sooner can't be made quicker by much
FEW = 3.0  # tries one after the other that are left: finding out would take most of them
BOUND = 3.0  # times a plain try: a warm one that takes longer is ended, and made plainly
PAYS = 0.6  # times a plain try: a resumed one must not take longer
CHANCES = 2  # warm tries after the first, one after the other, that may fail to pay
WAITS = 0.1  # of the time: a program that uses less of a processor waits for something else
RECENT = 5  # plain tries: the machine may have been busier before them


class Pace(NamedTuple):
    """How long the command took in a worker, and how it was run."""

    seconds: float
    cpu_seconds: float = 0.0
    warm: bool = False
    resumed: bool = False  # it went on from a snapshot
    ended: bool = False  # it was over its bound, and was made again from the start


class Warmth:
    """In the driver, over all workers."""

    def __init__(self, *, wanted: bool, demanded: bool = False) -> None:
        self._hopeful = wanted
        self._demanded = demanded  # whatever the first tries show
        self._plain: list[Pace] = []  # whole runs
        self._slot: int | None = None  # the worker that finds out
        self._missed = 0  # warm tries since the last one that paid
        self.pays = False

    def bound(self, slot: int, count_left: Callable[[], float]) -> float | None:
        """Seconds that a warm try of this worker may take; None: it is to run plainly.

        `count_left` says how many tries one after the other are still to come.
        """
        if self._demanded:
            return math.inf
        if not self._hopeful or not self._plain:
            return None
        seconds, cpu_seconds = self._usual()
        if self.pays:
            return BOUND * seconds
        waits = cpu_seconds < WAITS * seconds
        if (seconds if waits else min(seconds, cpu_seconds)) < BRIEF:
            return None
        if self._slot is None and count_left() > FEW:
            self._slot = slot
        return BOUND * seconds if self._slot == slot else None

    def learn(self, pace: Pace | None) -> None:
        """A try is over."""
        if pace is None:
            return
        if not pace.warm or not self._plain:  # the first is a whole run in any case
            self._plain.append(pace)
        elif pace.resumed and self._is_quicker(pace):
            self.pays, self._missed = True, 0
        else:
            self._missed += 1
            if pace.ended or self._missed > CHANCES:
                self._hopeful = self.pays = False

    def _is_quicker(self, pace: Pace) -> bool:
        seconds, cpu_seconds = self._usual()
        if pace.seconds > PAYS * seconds:
            return False
        return cpu_seconds < WAITS * seconds or pace.cpu_seconds <= PAYS * cpu_seconds

    def _usual(self) -> tuple[float, float]:
        """What a plain try takes, on the clock and of processors."""
        recent = self._plain[-RECENT:]
        return (
            _middle([one.seconds for one in recent]),
            _middle([one.cpu_seconds for one in recent]),
        )


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]

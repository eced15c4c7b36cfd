"""Several tries at once: started, waited for, or given up when nobody needs them any more."""

from __future__ import annotations

import select
import time

from zeroin.named import NamedTuple
from zeroin.run.inbox import sweep_private_folders
from zeroin.tools.workers import Worker, end_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zeroin.tools.bisect.report import TrialOrder
    from zeroin.tools.workers import Answer, Servant


# Tries that are about to end are waited for: what is begun without knowing is often in vain, and
# to begin takes a while, too. At most this share of a try's length, and so many seconds.
CLOSE, AT_MOST = 0.05, 0.1


class _Task(NamedTuple):
    trial: TrialOrder
    worker: Worker
    began: float


class Pool:
    """Workers by their slot; each has a servant of its own for one slot."""

    def __init__(self, servant: Callable[[int], Servant], jobs: int) -> None:
        self._servant = servant
        self._jobs = jobs
        self._workers: dict[int, Worker] = {}
        self._busy: dict[int, _Task] = {}  # by slot
        self._took = 0.0  # seconds, of the last one that is over

    @property
    def free(self) -> int:
        """How many more can be started."""
        return self._jobs - len(self._busy)

    @property
    def workers(self) -> int:
        """How many there are."""
        return len(self._workers)

    @property
    def running(self) -> list[TrialOrder]:
        """What is under way."""
        return [task.trial for task in self._busy.values()]

    @property
    def next_slot(self) -> int:
        """The worker that the next try is for."""
        return next(one for one in range(self._jobs) if one not in self._busy)

    def start(self, trial: TrialOrder) -> None:
        """Let a worker try it."""
        slot = self.next_slot
        if slot not in self._workers:
            others = list(self._workers.values())
            self._workers[slot] = Worker(lambda: self._servant(slot), others)
        self._busy[slot] = _Task(trial, self._workers[slot], time.monotonic())
        self._workers[slot].send(trial)

    def wait(self) -> list[tuple[TrialOrder, Answer]]:
        """What is over."""
        done = self._over(None)
        while patience := self._about_to_end():
            more = self._over(patience)
            if not more:
                break
            done += more
        return done

    def _over(self, seconds: float | None) -> list[tuple[TrialOrder, Answer]]:
        by_fd = {task.worker.socket.fileno(): slot for slot, task in self._busy.items()}
        ready, _, _ = select.select(list(by_fd), [], [], seconds)
        done = []
        for fd in ready:
            slot = by_fd[fd]
            task = self._busy.pop(slot)
            done.append((task.trial, task.worker.receive()))
            self._took = time.monotonic() - task.began
            if task.worker.is_lost:
                self._workers.pop(slot).close()
        return done

    def _about_to_end(self) -> float:
        """Seconds in which another one should be over, if they all take as long; 0 for none."""
        patience = min(CLOSE * self._took, AT_MOST)
        now = time.monotonic()
        due = [task.began + self._took - now for task in self._busy.values()]
        return patience if any(-patience < left < patience for left in due) else 0.0

    def give_up(self, trials: Sequence[TrialOrder]) -> None:
        """Nobody needs to know: their workers are ended."""
        slots = [slot for slot, task in self._busy.items() if task.trial in trials]
        end_all([self._workers[slot] for slot in slots])
        for slot in slots:
            del self._busy[slot], self._workers[slot]

    def close(self) -> None:
        """End all that is under way, and the workers."""
        end_all([self._workers[slot] for slot in self._busy])
        for slot, worker in self._workers.items():
            if slot not in self._busy:
                worker.close()
        self._workers.clear()
        self._busy.clear()
        sweep_private_folders()

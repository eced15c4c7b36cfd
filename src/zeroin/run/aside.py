"""What a run's event loop waits for beside the run: an engine's lines, keys, changed files.

A poll inside a poll: its descriptors come and go while a run goes on and between two runs, and
whoever waits (`Run`, or `serve` between runs) sees one descriptor. A callback may be called when
nothing is there any more, so what it reads from must not block.
"""

from __future__ import annotations

import heapq
import itertools
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zeroin.run.execute import Run


class Aside:
    """Descriptors and times, with a callback each."""

    def __init__(self) -> None:
        self.run: Run | None = None  # the one that goes on now
        # Processes below us that are not the program's: not measured, nor ended with it, and
        # waited for by whoever put them here.
        self.keep: set[int] = set()
        # Whether somebody is about to let go of the program's output: worth a moment's waiting.
        self.busy: Callable[[], bool] = bool
        self._poll = select.epoll()
        self._calls: dict[int, Callable[[], object]] = {}
        self._later: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()

    def fileno(self) -> int:
        """What to wait on."""
        return self._poll.fileno()

    def add(self, fd: int, call: Callable[[], object], events: int = select.EPOLLIN) -> None:
        """Call whenever the descriptor is ready."""
        self._poll.register(fd, events)
        self._calls[fd] = call

    def remove(self, fd: int) -> None:
        """Wait for it no longer; before it is closed."""
        if self._calls.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def later(self, seconds: float, call: Callable[[], object]) -> None:
        """Call once, after a while."""
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._numbers), call))

    def pause(self, longest: float) -> float:
        """How long one may wait before something of ours is due."""
        if not self._later:
            return longest
        return max(0.0, min(longest, self._later[0][0] - time.monotonic()))

    def serve(self, timeout: float = 0.0) -> bool:
        """Call what is ready; False when nothing was."""
        ready = self._poll.poll(self.pause(timeout))
        for fd, _ in ready:
            call = self._calls.get(fd)  # an earlier callback may have removed it
            if call is not None:
                call()
        called = bool(ready)
        while self._later and self._later[0][0] <= time.monotonic():
            heapq.heappop(self._later)[2]()
            called = True
        return called

    def close(self) -> None:
        """Wait for nothing any more. The descriptors are their owners'."""
        self._calls.clear()
        self._later.clear()
        self._poll.close()

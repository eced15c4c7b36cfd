"""A run's output on its way: read, kept, shown, and held back when nobody takes it."""

from __future__ import annotations

import errno
import os
import select
import signal
import time

from zeroin.run.wires import PIPE, inner_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zeroin.run.keep import Keeper
    from zeroin.run.wires import Wire

    # Gets each piece as it is kept, with its stream; says False when it takes no more.
    Tap = Callable[[str, bytes], bool]

FAST = 250e6  # bytes a second from which output is passed on unread,
SLOW = 50e6  # and below which it is read again
SETTLE = 0.2  # seconds in which a forked snapshot lets go of the output, and usually far fewer
SETTLE_LONG = 2.0  # seconds for one that is known to be on its way
AGAIN = 0.02  # seconds between two tries to show what nobody takes


class Output:
    """The wires of one run, in the run's own poll."""

    def __init__(
        self, laid: list[Wire], keeper: Keeper, poll: select.epoll, tap: Tap | None = None
    ) -> None:
        self.laid = laid
        self.ends = inner_ends(laid)
        self.keeper = keeper
        self.poll = poll
        self.tap = tap
        self.lost: OSError | None = None  # why output could not be shown
        self.wires: dict[int, Wire] = {}
        self.blocked: dict[int, Wire] = {}
        self._hurried = False  # a replay was interrupted: nobody is waited for any more
        self._started = time.monotonic()
        self._inner = {wire.inner for wire in laid}
        self._sources = {wire.source for wire in laid}

    def begin(self, started: float) -> None:
        """The command has its ends: let go of them, and listen at ours."""
        self._started = started
        self._let_go()
        for wire in self.laid:
            # `drain` may have read what the poll announced.
            os.set_blocking(wire.source, False)
            self._watch(wire)

    def also(self, more: list[Wire]) -> None:
        """Wires that the command had before this run: it goes on writing to them."""
        for wire in more:
            if wire.mirror is not None:
                wire.mirror.begin_anew()
        self.laid += more
        self._sources.update(wire.source for wire in more)

    def handle(self, fd: int) -> bool:
        """Go on with a ready descriptor; False when it is none of ours."""
        if fd in self.wires:
            self._pass_on(self.wires[fd])
        elif fd in self.blocked:
            self._retry(self.blocked[fd])
        else:
            return False
        return True

    def resize(self) -> None:
        """The terminal has another size."""
        for wire in self.laid:
            if wire.mirror is not None:
                wire.mirror.resize()

    def drain(self) -> None:
        """Take in all that was written before now, also what can't be shown yet.

        More than a pipe holds was not written before now.
        """
        for wire in [*self.wires.values(), *self.blocked.values()]:
            taken = 0
            while taken < PIPE and wire.express is None:
                data = _read(wire)
                if not data or not self._take(wire, data):
                    break  # an end is the event loop's to see
                taken += len(data)

    def replay(self, pieces: Iterable[tuple[str, bytes]], interrupted: Callable[[], bool]) -> None:
        """Keep and show what an earlier run wrote; after an interrupt, what is taken at once."""
        named = {wire.stream: wire for wire in reversed(self.laid)}
        for stream, data in pieces:
            wire = named.get(stream, self.laid[-1])
            self.keeper.feed(wire.stream, data, 0)
            self._hurried = self._hurried or interrupted()
            if wire.source in self.wires and not self._hurried:
                self._insist(wire, data, interrupted)

    def finish(
        self, hear: Callable[[int], None], busy: Callable[[], bool] | None, *, ended: bool
    ) -> int:
        """Pass on what is still in the wires; leave what background processes will write.

        They keep their output: a copy of us goes on passing it on, the prompt comes back. With
        `busy`, what still holds the wires may just be letting go of them (a snapshot, strace).
        """
        began = time.monotonic()
        for wire in [*self.wires.values(), *self.blocked.values()]:
            self._calm_down(wire)
        while self.wires or self.blocked:
            pause = 1.0 if self.blocked else 0.0
            if busy is not None and not pause and not ended:
                limit = SETTLE_LONG if busy() else SETTLE
                pause = max(0.0, min(AGAIN, began + limit - time.monotonic()))
            ready = self.poll.poll(pause)
            if not ready and not self.blocked and not pause:
                break
            for fd, _ in ready:
                if not self.handle(fd):
                    hear(fd)
        self.keeper.close(self._milliseconds())
        if not self.wires or ended:
            return 0
        if os.fork() == 0:
            _pass_on_for_ever(list(self.wires.values()))
        return 1

    def close(self, targets: tuple[int, int]) -> None:
        """Put the terminal back, and leave no descriptor but the targets we were given."""
        for wire in self.laid:
            if wire.mirror is not None:
                wire.mirror.restore()
            if wire.target not in targets:
                os.close(wire.target)
            if wire.source in self._sources:
                wire.close()
        self._let_go()

    def _let_go(self) -> None:
        while self._inner:
            os.close(self._inner.pop())

    def _milliseconds(self) -> int:
        return int((time.monotonic() - self._started) * 1000)

    # --- reading and showing ------------------------------------------------------------------

    def _watch(self, wire: Wire) -> None:
        self.wires[wire.source] = wire
        self.poll.register(wire.source, select.EPOLLIN)

    def _pass_on(self, wire: Wire) -> None:
        if wire.express is not None:
            self._rush(wire)
            return
        data = _read(wire)
        if data:
            wire.lately += len(data)
            self._take(wire, data)
        elif data is not None:
            self._unwatch(wire)

    def _take(self, wire: Wire, data: bytes) -> bool:
        """Keep and show one piece; False when nobody reads any more."""
        self.keeper.feed(wire.stream, data, self._milliseconds())
        if self.tap is not None and not self.tap(wire.stream, data):
            self.tap = None
        if wire.target in self.blocked:
            wire.waiting = memoryview(bytes(wire.waiting) + data)
            return True
        return self._show(wire, data)

    def _show(self, wire: Wire, data: bytes) -> bool:
        try:
            if not wire.show(data):
                if self._hurried:
                    wire.waiting = memoryview(b"")
                else:
                    self._hold(wire)
        except OSError as error:
            self._lose(wire, error)
            return False
        return True

    def _lose(self, wire: Wire, error: OSError) -> None:
        # Nobody reads, or there is no room: the command shall learn it as without us.
        if error.errno != errno.EPIPE:
            self.lost = error
        self._unwatch(wire)

    def _insist(self, wire: Wire, data: bytes, interrupted: Callable[[], bool]) -> None:
        """Show it all, however long the target takes."""
        writable = select.poll()
        writable.register(wire.target, select.POLLOUT)
        try:
            shown = wire.show(data)
            while not shown and not self._hurried:
                writable.poll(AGAIN * 1000)
                shown = wire.show(wire.waiting)
                self._hurried = interrupted()
        except OSError as error:
            self._lose(wire, error)
        wire.waiting = memoryview(b"")

    def _hold(self, wire: Wire) -> None:
        """Read no further until the target takes more: the command waits, as it would."""
        self.poll.unregister(wire.source)
        del self.wires[wire.source]
        self.blocked[wire.target] = wire
        self.poll.register(wire.target, select.EPOLLOUT)

    def _retry(self, wire: Wire) -> None:
        try:
            taken = wire.express is not None or wire.show(wire.waiting)
        except OSError:
            taken = True
        if taken:
            self.poll.unregister(wire.target)
            del self.blocked[wire.target]
            self._watch(wire)

    def _unwatch(self, wire: Wire) -> None:
        self.poll.unregister(wire.source)
        del self.wires[wire.source]
        self._sources.discard(wire.source)
        wire.close()

    # --- in a rush ----------------------------------------------------------------------------

    def judge_speed(self, seconds: float) -> None:
        """Decide for each wire whether its output is read, or rushes through."""
        for wire in self.laid:
            if wire.express is not None and wire.express.moved - wire.lately < SLOW * seconds:
                self._calm_down(wire)
            elif wire.express is not None:
                wire.lately = wire.express.moved
            elif wire.lately > FAST * seconds and self._may_rush(wire):
                from zeroin.run.express import Express

                wire.express, wire.lately = Express(wire.source, wire.target), 0
            else:
                wire.lately = 0

    def _may_rush(self, wire: Wire) -> bool:
        """A tap wants to see every piece."""
        return self.tap is None and wire.source in self.wires and wire.is_pipes

    def _rush(self, wire: Wire) -> None:
        try:
            moved = wire.express.move() if wire.express is not None else False
        except OSError:
            self._calm_down(wire)
            self._unwatch(wire)
            return
        if moved is None:
            self._hold(wire)
        elif not moved:
            self._calm_down(wire)
            self._unwatch(wire)

    def _calm_down(self, wire: Wire) -> None:
        """Back to reading; what rushed through last is kept."""
        if wire.express is None:
            return
        moved, end = wire.express.leave()
        wire.express, wire.lately = None, 0
        now = self._milliseconds()
        self.keeper.skip(wire.stream, moved - len(end), now)
        self.keeper.feed(wire.stream, end, now)


def _read(wire: Wire) -> bytes | None:
    """The next piece, b"" at the end, None when there is nothing now."""
    try:
        return wire.read()
    except BlockingIOError:
        return None


def _pass_on_for_ever(left: list[Wire]) -> None:
    """In a copy of us: be the pipe that background processes write to."""
    try:
        for number in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        for wire in left:
            os.set_blocking(wire.target, True)
            os.set_blocking(wire.source, True)
        ours = {fd for wire in left for fd in (wire.source, wire.target)}
        terminals = {wire.mirror.terminal for wire in left if wire.mirror is not None}
        _close_all_but({0, 1, 2} | ours | terminals)
        while left:
            ready, _, _ = select.select([wire.source for wire in left], [], [])
            for wire in [w for w in left if w.source in ready]:
                data = wire.read()
                if not data or not wire.show(data):
                    wire.close()
                    left.remove(wire)
    finally:
        os._exit(0)


def _close_all_but(wanted: set[int]) -> None:
    """Others must see the end of what we hold when the one we are a copy of ends."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in wanted:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue

"""One run of one command: pass its output on, keep it, follow its memory, see how it ends."""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from zeroin.run import tree, wires
from zeroin.run.spawn import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper

EVERY = 0.05  # seconds between two looks at the tree
FIRST_LOOKS = (0.002, 0.005, 0.01, 0.02)  # short commands have a peak as well
SIGNALS_EVERY = 0.02
FAST = 250e6  # bytes a second from which output is passed on unread,
SLOW = 50e6  # and below which it is read again
STOPPED = 2.0  # a longer gap between two looks: we were suspended, and so was the clock
PASS_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
KEYBOARD = (signal.SIGINT, signal.SIGQUIT)
FROM_KERNEL = 0x80


class Ended(NamedTuple):
    """All that one run left behind."""

    status: int  # as wait(2) gives it
    pid: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    curve: list[tuple[float, int]]
    timed_out: bool
    interrupted: bool
    stacks: list[Any]
    survivors: int  # background processes that go on
    lost: OSError | None  # why output could not be shown, if it could not


class Run:
    """The event loop. Everything it waits for has a time limit, so nothing can block it."""

    def __init__(self, keeper: Keeper, inbox: Inbox | None, timeout: float | None) -> None:
        self.keeper = keeper
        self.inbox = inbox
        self.timeout = timeout
        self.poll = select.epoll()
        self.wires: dict[int, wires.Wire] = {}
        self.blocked: dict[int, wires.Wire] = {}
        self.interrupted = False
        self.lost: OSError | None = None

    def execute(
        self,
        command: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        targets: tuple[int, int] = (1, 2),
        take_stacks: Callable[[], list[Any]] | None = None,
    ) -> Ended:
        """Run it to its end, or to the time-out."""
        laid = wires.lay(*targets)
        out, err = wires.inner_ends(laid)
        watched: set[int] = {*PASS_ON, *KEYBOARD, signal.SIGWINCH}
        if self.timeout is not None:
            tree.adopt_orphans()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        try:
            self.pid = spawn(command, cwd, env, out, err)
            self.started = time.monotonic()
            gc.enable()  # it was off for a quicker start
            for wire in laid:
                os.close(wire.inner)
                self._watch(wire)
            return self._wait(laid, watched, take_stacks)
        finally:
            for wire in laid:
                if wire.mirror is not None:
                    wire.mirror.restore()
            self.poll.close()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    # --- waiting ------------------------------------------------------------------------------

    def _wait(
        self,
        laid: list[wires.Wire],
        watched: set[int],
        take_stacks: Callable[[], list[Any]] | None,
    ) -> Ended:
        sampler = tree.Sampler(self.pid)
        exited = os.pidfd_open(self.pid)
        self.poll.register(exited, select.EPOLLIN)
        if self.inbox is not None:
            self.poll.register(self.inbox.socket.fileno(), select.EPOLLIN)
        looks = list(FIRST_LOOKS)
        look_at = looks.pop(0)
        deadline = self.timeout
        timed_out = False
        stacks: list[Any] = []
        last = signals_at = looked_at = 0.0
        while not self._turn(max(0.0, look_at - self._now()), exited):
            now = self._now()
            if now - last > STOPPED and deadline is not None:
                deadline += now - last
            last = now
            if now >= look_at:
                sampler.sample(now)
                self.keeper.tick(int(now * 1000))
                self._judge_speed(laid, now - looked_at)
                looked_at = now
                look_at = now + (looks.pop(0) if looks else EVERY)
            if now >= signals_at:  # a call into the kernel, too dear for each piece of output
                self._take_signals(watched, laid)
                signals_at = now + SIGNALS_EVERY
            if deadline is not None and now >= deadline:
                timed_out, deadline = True, None
                stacks = take_stacks() if take_stacks else []
                tree.end(os.getpid())
        seconds = self._now()
        sampler.sample(seconds)
        self._take_signals(watched, laid)
        os.close(exited)
        _, status, usage = os.wait4(self.pid, 0)
        survivors = self._finish(timed_out)
        return Ended(
            status,
            self.pid,
            seconds,
            usage.ru_utime + usage.ru_stime,
            # What was over before anyone could look has no peak that could be told.
            _peak(sampler.peak, usage.ru_maxrss) if sampler.peak else 0,
            sampler.curve,
            timed_out,
            self.interrupted,
            stacks,
            survivors,
            self.lost,
        )

    def _now(self) -> float:
        return time.monotonic() - self.started

    def _turn(self, timeout: float, exited: int) -> bool:
        """Handle what is ready; True once the command has ended."""
        done = False
        for fd, _ in self.poll.poll(timeout):
            if fd == exited:
                done = True
            elif fd in self.wires:
                self._pass_on(self.wires[fd])
            elif fd in self.blocked:
                self._retry(self.blocked[fd])
            else:
                self._hear(fd)
        return done

    # --- output -------------------------------------------------------------------------------

    def _watch(self, wire: wires.Wire) -> None:
        self.wires[wire.source] = wire
        self.poll.register(wire.source, select.EPOLLIN)

    def _pass_on(self, wire: wires.Wire) -> None:
        if wire.express is not None:
            self._rush(wire)
            return
        data = wire.read()
        if not data:
            self._unwatch(wire)
            return
        wire.lately += len(data)
        self.keeper.feed(wire.stream, data, int(self._now() * 1000))
        self._show(wire, data)

    def _judge_speed(self, laid: list[wires.Wire], seconds: float) -> None:
        """Decide for each wire whether its output is read, or rushes through."""
        for wire in laid:
            if wire.express is not None and wire.express.moved - wire.lately < SLOW * seconds:
                self._calm_down(wire)
            elif wire.express is not None:
                wire.lately = wire.express.moved
            elif wire.lately > FAST * seconds and wire.source in self.wires and wire.is_pipes:
                from zeroin.run.express import Express

                wire.express, wire.lately = Express(wire.source, wire.target), 0
            else:
                wire.lately = 0

    def _rush(self, wire: wires.Wire) -> None:
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

    def _calm_down(self, wire: wires.Wire) -> None:
        """Back to reading; what rushed through last is kept."""
        if wire.express is None:
            return
        moved, end = wire.express.leave()
        wire.express, wire.lately = None, 0
        now = int(self._now() * 1000)
        self.keeper.skip(wire.stream, moved - len(end), now)
        self.keeper.feed(wire.stream, end, now)

    def _show(self, wire: wires.Wire, data: bytes) -> None:
        try:
            if not wire.show(data):
                self._hold(wire)
        except OSError as error:
            # Nobody reads, or there is no room: the command shall learn it as without us.
            if error.errno != errno.EPIPE:
                self.lost = error
            self._unwatch(wire)

    def _hold(self, wire: wires.Wire) -> None:
        """Read no further until the target takes more: the command waits, as it would."""
        self.poll.unregister(wire.source)
        del self.wires[wire.source]
        self.blocked[wire.target] = wire
        self.poll.register(wire.target, select.EPOLLOUT)

    def _retry(self, wire: wires.Wire) -> None:
        try:
            taken = wire.express is not None or wire.show(wire.waiting)
        except OSError:
            taken = True
        if taken:
            self.poll.unregister(wire.target)
            del self.blocked[wire.target]
            self._watch(wire)

    def _unwatch(self, wire: wires.Wire) -> None:
        self.poll.unregister(wire.source)
        del self.wires[wire.source]
        wire.close()

    def _finish(self, timed_out: bool) -> int:
        """Pass on what is still in the wires; leave what background processes will write.

        They keep their output: a copy of us goes on passing it on, the prompt comes back.
        """
        for wire in [*self.wires.values(), *self.blocked.values()]:
            self._calm_down(wire)
        while self.wires or self.blocked:
            ready = self.poll.poll(0 if not self.blocked else 1.0)
            if not ready and not self.blocked:
                break
            for fd, _ in ready:
                if fd in self.wires:
                    self._pass_on(self.wires[fd])
                elif fd in self.blocked:
                    self._retry(self.blocked[fd])
                else:
                    self._hear(fd)
        self.keeper.close(int(self._now() * 1000))
        if not self.wires or timed_out:
            return 0
        if os.fork() == 0:
            _pass_on_for_ever(list(self.wires.values()))
        return 1

    # --- agents and signals -------------------------------------------------------------------

    def _hear(self, fd: int) -> None:
        if self.inbox is None:
            return
        if fd == self.inbox.socket.fileno():
            new = self.inbox.accept()
            if new is not None:
                self.poll.register(new, select.EPOLLIN)
        elif self.inbox.owns(fd):
            self.inbox.read(fd)  # closing a descriptor takes it out of the poll

    def _take_signals(self, watched: set[int], laid: list[wires.Wire]) -> None:
        while (info := signal.sigtimedwait(watched, 0)) is not None:
            number = info.si_signo
            if number == signal.SIGWINCH:
                for wire in laid:
                    if wire.mirror is not None:
                        wire.mirror.resize()
                self._tell(number)  # it may have looked before we told its terminal
                continue
            if number == signal.SIGINT:
                self.interrupted = True
            if number in KEYBOARD and info.si_code == FROM_KERNEL:
                continue  # the terminal sent it to the command as well
            self._tell(number)

    def _tell(self, number: int) -> None:
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass


def _peak(sampled: int, maxrss_kb: int) -> int:
    """`ru_maxrss` starts at what we had ourselves when we forked: it tells only above that."""
    own = tree.high_water(os.getpid())
    real = maxrss_kb * 1024
    return max(sampled, real if real > own else 0)


def _pass_on_for_ever(left: list[wires.Wire]) -> None:
    """In a copy of us: be the pipe that background processes write to."""
    try:
        for number in KEYBOARD:
            signal.signal(number, signal.SIG_IGN)
        for wire in left:
            os.set_blocking(wire.target, True)
        while left:
            ready, _, _ = select.select([wire.source for wire in left], [], [])
            for wire in [w for w in left if w.source in ready]:
                data = wire.read()
                if not data or not wire.show(data):
                    wire.close()
                    left.remove(wire)
    finally:
        os._exit(0)

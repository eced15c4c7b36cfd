"""One run of one command: pass its output on, keep it, follow its memory, see how it ends."""

from __future__ import annotations

import gc
import os
import select
import signal
import time

from zeroin.named import NamedTuple
from zeroin.run import tree, wires
from zeroin.run.family import CLOCK, Family, wants_the_clock
from zeroin.run.group_witness import GroupWitness
from zeroin.run.output import Output
from zeroin.run.spawn import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.aside import Aside
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.run.output import Tap
    from zeroin.run.wires import Wire
    from zeroin.run.witness import Witness

EVERY = 0.05  # seconds between two looks at the tree
FIRST_LOOKS = (0.002, 0.005, 0.01, 0.02)  # short commands have a peak as well
SIGNALS_EVERY = 0.02
STOPPED = 2.0  # a longer gap between two looks: we were suspended, and so was the clock
GRACE = 1.0  # seconds that a program that is stopped has for its own end
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
    stopped: bool = False  # ended by our own `stop`
    faults: int = 0  # pages that were new to it, or copied
    limits: tuple[Any, ...] = ()  # what each limit did
    calls: tuple[str, ...] = ()  # the last ones before the end, where they were traced
    peak_between: tuple[float, float] = (0.0, 0.0)  # seconds since the start
    stuck: str = ""  # what the stacks mean together


class Stage(NamedTuple):
    """What a command is run with, whoever starts it."""

    targets: tuple[int, int] = (1, 2)  # where its stdout and stderr appear
    aside: Aside | None = None  # what is served while it runs
    tap: Tap | None = None  # who gets its output as well
    busy: Callable[[], bool] | None = None  # who holds the wires at the end is about to let go
    order: AgentOrder | None = None  # what its agents are asked for


class Run:
    """The event loop. Everything it waits for has a time limit, so nothing can block it."""

    def __init__(
        self,
        keeper: Keeper,
        inbox: Inbox,
        timeout: float | None,
        witnesses: Sequence[Witness] = (),
        *,
        hears_group: bool = True,
    ) -> None:
        self.keeper = keeper
        self.inbox = inbox
        self.timeout = timeout
        self.witnesses = witnesses
        self._hears_group = hears_group  # whether signals may be sent to our whole process group
        self.pid = 0  # of the command, once it has been started
        self._group_witness: GroupWitness | None = None
        self.interrupted = False
        self.stopped = False
        self._heard = 0  # messages of the inbox
        self._clocked = 0  # the process that wants to be told to look at the clock
        self._ticked = 0.0
        self._busy: Callable[[], bool] | None = None
        self._kill_at: float | None = None
        self._over = False
        self._adopts = False  # whether orphans became ours for this run alone

    def execute(
        self,
        command: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        stage: Stage,
        *,
        start: Callable[[int, int], int] | None = None,
        prologue: Iterable[tuple[str, bytes]] = (),
        also: Callable[[], list[Wire]] = list,
    ) -> Ended:
        """Run it to its end, or to the time-out.

        `start` gets the program's ends of the wires and gives the pid of a child of ours, instead
        of the command being started. `prologue` is output that comes before the program's own,
        and is asked for only once the program has been started; so are `also`, wires that it
        writes to already.
        """
        targets, aside, tap, busy, _ = stage
        self.aside = aside
        self._busy = busy if aside is None else aside.busy
        self.poll = select.epoll()
        self.family = Family(aside)
        try:
            laid = wires.lay(*targets)
        except OSError:
            self.poll.close()
            raise
        self.output = Output(laid, self.keeper, self.poll, tap)
        watched: set[int] = {*PASS_ON, *KEYBOARD, signal.SIGWINCH}
        if self.timeout is not None or any(one.may_stop for one in self.witnesses):
            self._adopts = tree.adopt_orphans()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        self._group_witness = GroupWitness() if self._hears_group else None
        try:
            ends = self.output.ends
            self.pid = start(*ends) if start is not None else spawn(command, cwd, env, *ends)
            self.started = time.monotonic()
            if start is not None:
                # It waited for this, and may have started others already.
                self.family.others.difference_update([self.pid, *tree.descendants(self.pid)])
                self.output.also(also())
                self._clocked = self.pid
            if not gc.isenabled():  # it was off for a quicker start
                gc.freeze()  # looking through what is there to stay would copy it after a fork
                gc.enable()
            self.output.begin(self.started)
            for witness in self.witnesses:
                witness.begin(self)
            if aside is not None:
                aside.run = self
                self.poll.register(aside.fileno(), select.EPOLLIN)
            self.output.replay(prologue, lambda: self._interrupted(watched))
            return self._wait(watched)
        finally:
            if aside is not None:
                aside.run = None
            self._dismiss_group_witness()
            self.output.close(targets)
            self.poll.close()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            if self._adopts:
                tree.release_orphans()
                self._adopts = False

    # --- for those aside ----------------------------------------------------------------------

    def drain(self) -> None:
        """Account for all output that was written before now."""
        self.output.drain()

    def stop(self, grace: float = GRACE) -> None:
        """End the program and all below it; without a grace it runs none of its own code."""
        if self._over:
            return
        # A worker that hears nothing would outlive the program.
        self._adopts = tree.adopt_orphans() or self._adopts
        self.stopped = True
        self._kill_at = self.now() + grace
        if grace:
            self._tell(signal.SIGTERM)
            self._tell(signal.SIGCONT)
        else:
            self.family.tell(signal.SIGKILL)

    def interrupt(self) -> None:
        """Give the program a Ctrl-C that came to us."""
        self.interrupted = True
        self._tell(signal.SIGINT)

    def send_clock_to(self, pid: int) -> None:
        """Tell that process from now on when to look at the clock, and not the program."""
        self._clocked = pid

    @property
    def clocked(self) -> int:
        """The process that is told to look at the clock."""
        return self._clocked or self.pid

    def now(self) -> float:
        """Count the seconds since the command was started."""
        return time.monotonic() - self.started

    # --- waiting ------------------------------------------------------------------------------

    def _wait(self, watched: set[int]) -> Ended:
        sampler = self.family.sampler(self.pid)
        exited = os.pidfd_open(self.pid)
        self.poll.register(exited, select.EPOLLIN)
        if self.inbox.socket is not None:
            self.poll.register(self.inbox.socket.fileno(), select.EPOLLIN)
        looks = list(FIRST_LOOKS)
        look_at = looks.pop(0)
        deadline = self.timeout
        timed_out = False
        stacks: list[Any] = []
        stuck = ""
        last = signals_at = looked_at = used = 0.0
        while not self._turn(max(0.0, look_at - self.now()), exited):
            now = self.now()
            is_held = any(one.holds for one in self.witnesses)
            if deadline is not None and (is_held or now - last > STOPPED):
                deadline += now - last
            last = now
            if now >= look_at:
                sampler.sample(now)
                for witness in self.witnesses:
                    witness.look(now, sampler.last, self._members)
                self.keeper.tick(int(now * 1000))
                self.output.judge_speed(now - looked_at)
                self._tick(now)
                looked_at = now
                look_at = now + (looks.pop(0) if looks else self._pause(sampler.last))
            if now >= signals_at:  # a call into the kernel, too dear for each piece of output
                self._take_signals(watched)
                signals_at = now + SIGNALS_EVERY
            if deadline is not None and now >= deadline:
                timed_out, deadline = True, None
                # What a shell has not waited for is not in what the kernel tells of the shell.
                used = tree.cpu_seconds(self._members())
                stacks, stuck = self._take_stacks()
                self._end()
            if self._kill_at is not None and now >= self._kill_at:
                self.family.tell(signal.SIGKILL)
        seconds = self.now()
        last_look = looked_at
        sampler.sample(seconds)
        self._take_signals(watched)
        for witness in self.witnesses:
            witness.end()
        os.close(exited)
        _, status, usage = os.wait4(self.pid, 0)
        self._over = True
        self._dismiss_group_witness()  # a copy of us that passes on later output must not hold it
        if self.stopped:
            self._settle()
            self.family.end(max(0.0, (self._kill_at or 0.0) - seconds))
        # What was over before anyone could look has no peak that could be told.
        peak = _peak(sampler.peak, usage.ru_maxrss) if sampler.peak else 0
        between = (last_look, seconds) if peak > sampler.peak else sampler.peak_between
        survivors = self.output.finish(self._hear, self._busy, ended=timed_out or self.stopped)
        return Ended(
            status=status,
            pid=self.pid,
            seconds=seconds,
            cpu_seconds=max(used, usage.ru_utime + usage.ru_stime),
            peak_bytes=peak,
            curve=sampler.curve,
            timed_out=timed_out,
            interrupted=self.interrupted,
            stacks=stacks,
            survivors=survivors,
            lost=self.output.lost,
            stopped=self.stopped,
            faults=usage.ru_minflt,
            peak_between=between,
            stuck=stuck,
        )

    def _take_stacks(self) -> tuple[list[Any], str]:
        """Take all stacks before everything is ended: by a witness if one wants to, else ours."""
        for witness in self.witnesses:
            found = witness.take_stacks()
            if found is not None:
                return found
        from zeroin.observe.stacks.look import look

        # Orphans of the command hang below us as well.
        pids, faults = tree.descendants(os.getpid()), self.inbox.faults
        seen = look(pids, reader_of=lambda _: faults, gdb=False)
        return seen.stacks, seen.verdict if seen.stacks else ""

    def _pause(self, total: int) -> float:
        """Seconds until the next look."""
        return min([EVERY, *(one.next_look(total) for one in self.witnesses)])

    def _turn(self, timeout: float, exited: int) -> bool:
        """Handle what is ready; True once the command has ended."""
        done = False
        if self.aside is not None:
            timeout = self.aside.pause(timeout)
        for fd, _ in self.poll.poll(timeout):
            if fd == exited:
                done = True
            elif not self.output.handle(fd):
                self._hear(fd)
        if self.aside is not None and not self.aside.pause(1.0):
            self.aside.serve()  # a time has come, not a descriptor
        if self.witnesses:
            self._inform_witnesses()
        return done

    def _inform_witnesses(self) -> None:
        messages = self.inbox.messages
        new, self._heard = messages[self._heard :], len(messages)
        for witness in self.witnesses:
            for message in new:
                witness.hear(message)
            witness.turn(self.now())

    def _end(self) -> None:
        """End the program and all that it has started, orphans that became ours as well."""
        self.family.end(tree.GRACE)

    def _settle(self) -> None:
        """A snapshot that was just forked is not told apart from the program's own yet."""
        until = time.monotonic() + GRACE
        while self.aside is not None and self.aside.busy() and time.monotonic() < until:
            self.aside.serve(SIGNALS_EVERY)

    def _tick(self, now: float) -> None:
        if self._clocked and now - self._ticked >= EVERY and wants_the_clock(self._clocked):
            self._ticked = now
            self._tell(CLOCK, self._clocked)

    # --- agents and signals -------------------------------------------------------------------

    def _hear(self, fd: int) -> None:
        if self.aside is not None and fd == self.aside.fileno():
            self.aside.serve()
        elif self.inbox.socket is not None and fd == self.inbox.socket.fileno():
            new = self.inbox.accept()
            if new is not None:
                self.poll.register(new, select.EPOLLIN)
        elif self.inbox.owns(fd):
            self.inbox.read(fd)  # closing a descriptor takes it out of the poll

    def _interrupted(self, watched: set[int]) -> bool:
        self._take_signals(watched)
        return self.interrupted

    def _take_signals(self, watched: set[int]) -> None:
        while (info := signal.sigtimedwait(watched, 0)) is not None:
            number = info.si_signo
            if number == signal.SIGWINCH:
                self.output.resize()
                self._tell(number)  # it may have looked before we told its terminal
                continue
            if number == signal.SIGINT:
                self.interrupted = True
            passed_on = not self._has_reached_command(info)
            if passed_on:
                self._tell(number)  # it was meant for the command: we are in its place
            for witness in self.witnesses:
                witness.take_signal(number, passed_on=passed_on)

    def _has_reached_command(self, info: signal.struct_siginfo) -> bool:
        """Whether the command was sent it as well: by the terminal, or with all of our group."""
        number = info.si_signo
        if number in KEYBOARD and info.si_code == FROM_KERNEL:
            return True
        return self._group_witness is not None and self._group_witness.has_heard(number)

    def _dismiss_group_witness(self) -> None:
        if self._group_witness is not None:
            self._group_witness.close()
            self._group_witness = None

    def _members(self) -> list[int]:
        return [self.pid, *self.family.members(self.pid)]

    def _tell(self, number: int, pid: int = 0) -> None:
        try:
            os.kill(pid or self.pid, number)
        except ProcessLookupError:
            pass


def _peak(sampled: int, maxrss_kb: int) -> int:
    """`ru_maxrss` starts at what we had ourselves when we forked: it tells only above that."""
    own = tree.high_water(os.getpid())
    real = maxrss_kb * 1024
    return max(sampled, real if real > own else 0)

"""`stacks -- COMMAND`: start it, and look when nothing moves any more, or when asked to."""

from __future__ import annotations

import signal
import threading

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.observe.stacks import proc
from zeroin.run.witness import Witness
from zeroin.tools.run import RunReport, run
from zeroin.tools.stacks import StacksReport, Wanted, is_stuck, stacks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.execute import Ended, Run
    from zeroin.tools.run import Options

QUIET = 3.0  # seconds without work, before it is looked at whether it stands still
BETWEEN = 2.0  # seconds between the two looks that must be the same
LITTLE = 0.02  # of a processor: what a program uses that only looks at a clock
EVERY = 0.5


class How(NamedTuple):
    """When to look, and what then."""

    after: float | None = None  # seconds; None: when nothing moves
    end: bool = False
    values: bool = False
    native: bool = False


def stacks_of_command(
    cycle: Cycle,
    options: Options,
    how: How,
    environ: Mapping[str, str],
    tell: Callable[[StacksReport, str], None],
) -> RunReport:
    """Run it; `tell` gets each look and why it was taken."""
    # Inherited by the command: Ctrl-\ is for us, and would end it otherwise.
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        return run(cycle, options, environ, witnesses=[StacksWitness(how, tell)])
    finally:
        signal.signal(signal.SIGQUIT, before)


class StacksWitness(Witness):
    """Looks at a run from aside: in a thread, since the program's output must go on meanwhile."""

    def __init__(self, how: How, tell: Callable[[StacksReport, str], None]) -> None:
        self.may_stop = how.end
        self._process: Run | None = None
        self.how = how
        self.tell = tell
        self.ended = False  # by us, after the look
        self.seen: list[Any] = []
        self.stuck = ""
        self._looking: threading.Thread | None = None
        self._found: StacksReport | None = None
        self._why = ""
        self._wanted = ""
        self._told_after = False
        self._first: StacksReport | None = None  # of the two that must be the same
        self._next = 0.0
        self._quiet_since = 0.0
        self._used = -1
        self._told_at = -1  # processor time used when it was last said to stand still

    def begin(self, process: Run) -> None:
        """See `Witness`."""
        self._process = process

    def look(self, now: float, total: int, members: Callable[[], Sequence[int]]) -> None:
        """See `Witness`."""
        del total
        if self._looking is not None:
            if not self._looking.is_alive():
                self._take()
                self._used = _processor_time(members())  # without what our look took of it
            return
        if self._wanted:
            self._begin(self._wanted)
            self._wanted = ""
        elif self.how.after is not None:
            if now >= self.how.after and not self._told_after:
                self._told_after = True
                self._begin(f"after {self.how.after:g} s")
        elif now >= self._next:
            self._watch(now, members())

    def next_look(self, total: int) -> float:
        """See `Witness`."""
        del total
        return EVERY

    def take_signal(self, number: int, *, passed_on: bool) -> None:
        """See `Witness`: Ctrl and backslash ask for a look."""
        del passed_on
        if number == signal.SIGQUIT:
            self._wanted = "asked for"

    def end(self) -> None:
        """See `Witness`."""
        if self._looking is not None:
            self._looking.join()

    def take_stacks(self) -> tuple[list[Any], str]:
        """See `Witness`: a last look before all is ended."""
        self.end()
        self._why = "at the time-out"
        self._look()
        if self._found is not None:
            self._tell(self._found)
        return self.seen, self.stuck

    def correct(self, ended: Ended) -> Ended:
        """See `Witness`: what we have ended counts as a hang."""
        if not self.ended:
            return ended
        return ended._replace(timed_out=True, stacks=self.seen, stuck=self.stuck)

    def _watch(self, now: float, pids: Sequence[int]) -> None:
        """Does it use the processor? If not for a while, look twice."""
        self._next = now + EVERY
        used = _processor_time(pids)
        if self._used < 0 or abs(used - self._used) > LITTLE * EVERY * 1e9 * max(1, len(pids)):
            self._quiet_since, self._first = now, None
            self._told_at = -1
        self._used = used
        if self._told_at >= 0:
            return  # it stands as it stood
        if now - self._quiet_since >= QUIET and (self._first is None):
            self._begin("")
            self._next = now + BETWEEN
        elif self._first is not None:
            self._begin("stuck")

    def _begin(self, why: str) -> None:
        self._why = why
        self._found = None
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()

    def _look(self) -> None:
        if self._process is None:
            return
        wanted = Wanted([[self._process.pid]], "the command")
        try:
            (self._found,) = stacks(wanted, values=self.how.values, native=self.how.native)
        except ZeroinError:  # it has just ended
            self._found = None

    def _take(self) -> None:
        found, self._looking = self._found, None
        if found is None:
            return
        if self._why == "":
            self._first = found
        elif self._why != "stuck":
            self._tell(found)
        elif self._first is not None and is_stuck(self._first, found):
            self._why = "nothing moves any more"
            self._told_at = self._used
            self._tell(found)
        elif self._process is not None:
            self._first = None
            self._quiet_since = self._process.now()

    def _tell(self, found: StacksReport) -> None:
        self.seen = found.look.stacks
        self.stuck = found.look.verdict if self.seen else ""
        self.tell(found, self._why)
        if self.how.end and not self.ended and self._process is not None:
            self.ended = True
            self._process.stop()


def _processor_time(pids: Sequence[int]) -> int:
    """Nanoseconds that all threads of these have had."""
    return sum(sum(proc.busy(pid).values()) for pid in pids)

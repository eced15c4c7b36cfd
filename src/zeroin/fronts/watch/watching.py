"""The loop: sample, show, and wait for the time, a key, a signal or the end of a command."""

from __future__ import annotations

import select
import signal
import time

from zeroin.fronts.watch.outputs import Painted
from zeroin.fronts.watch.signals import ENDING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.fronts.watch.outputs import Output
    from zeroin.fronts.watch.rows import CsvFile
    from zeroin.fronts.watch.signals import Signals
    from zeroin.tools.watch import Frame, Session

SORTS = ("memory", "cpu", "age", "pid")
PACES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


class Watching:
    """One session, shown one way."""

    def __init__(
        self,
        session: Session,
        output: Output,
        signals: Signals,
        *,
        seconds: float | None,
        csv: CsvFile | None,
    ) -> None:
        self.session = session
        self.output = output
        self.painted = output if isinstance(output, Painted) else None
        self.signals = signals
        self.csv = csv
        self.ended_by: int | None = None  # a signal
        self.quit = False
        self.reached = False
        self._end = None if seconds is None else time.monotonic() + seconds
        self._due = 0.0
        self._frame: Frame | None = None

    def run(self) -> None:
        """Until something ends it."""
        while not (self.quit or self.reached or self.ended_by):
            ended = self.session.advance()
            now = time.monotonic()
            if self._end is not None and now >= self._end and self._frame is not None:
                return
            if now >= self._due or self._frame is None:
                self._look(now)
            if ended and self._frame is not None:
                self._frame = self.session.again(self._frame)
                self._take(self._frame, commands=True)
            self._wait()

    def _look(self, now: float) -> None:
        frame = self._frame = self.session.look()
        self._take(frame, commands=False)
        took = time.monotonic() - now
        # Where looking takes longer than the interval, half of the time is left to others.
        self._due = now + max(self.session.interval, 2 * took)

    def _take(self, frame: Frame, *, commands: bool) -> None:
        show = self.output.show_commands if commands else self.output.show
        show(frame)
        if self.csv is not None:
            kept = [p for p in frame.panels if (p.kind == "command") == commands]
            self.csv.add(frame._replace(panels=kept))
            if self.painted is not None:
                self.painted.note = self.csv.trouble
        self.reached = self.reached or frame.reached

    def _wait(self) -> None:
        if self.quit or self.reached or self.ended_by:
            return
        times = [self._due, *(c.repeated.due for c in self.session.commands)]
        times.append(self._end)
        until = min(t for t in times if t is not None)
        poll = select.poll()
        poll.register(self.signals, select.POLLIN)
        keys = self.painted.screen.fileno() if self.painted else -1
        if keys >= 0:
            poll.register(keys, select.POLLIN)
        for command in self.session.commands:
            if command.repeated.fileno() >= 0:
                poll.register(command.repeated.fileno(), select.POLLIN)
        ready = {fd for fd, _ in poll.poll(max(0.0, until - time.monotonic()) * 1000 + 0.5)}
        self._hear()
        if keys in ready and self.painted is not None:
            self._keys(self.painted)

    def _hear(self) -> None:
        came = self.signals.take()
        ending = [number for number in ENDING if number in came]
        if ending:
            self.ended_by = ending[0]
        if signal.SIGTSTP in came:
            if self.painted is not None:
                self.painted.screen.close()
            self.signals.stop_here()
        if self.painted is not None and came & {signal.SIGTSTP, signal.SIGWINCH}:
            self.painted.screen.forget()
            self.painted.again()

    def _keys(self, painted: Painted) -> None:
        typed = painted.screen.typed()
        if typed is None:
            painted.screen.no_keys()
            return
        for key in typed:
            self._key(painted, key)
        painted.again()

    def _key(self, painted: Painted, key: str) -> None:
        if painted.help:
            painted.help = False
        elif key in ("q", "Q", "\x04"):
            self.quit = True
        elif key in ("?", "h"):
            painted.help = True
        elif key == " ":
            painted.paused = not painted.paused
        elif key == "p":
            self.session.forget_peaks()
            self._due = 0.0
        else:
            self._change(key)

    def _change(self, key: str) -> None:
        if key == "s" and self.session.processes:
            now = self.session.processes[0].choice.sort
            self.session.choose(sort=SORTS[(SORTS.index(now) + 1) % len(SORTS)])
        elif key == "t" and self.session.processes:
            self.session.choose(tree=not self.session.processes[0].choice.tree)
        elif key in "+=":
            self._pace([p for p in PACES if p > self.session.interval][:1])
        elif key in "-_":
            self._pace([p for p in PACES if p < self.session.interval][-1:])
        else:
            return
        self._due = 0.0

    def _pace(self, found: list[float]) -> None:
        if found:
            self.session.interval = found[0]
            for command in self.session.commands:
                command.repeated.interval = found[0]

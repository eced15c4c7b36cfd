"""`watch`: samples of everything that was asked for, with what is remembered of them."""

from __future__ import annotations

import os
import time

from zeroin.named import NamedTuple
from zeroin.observe.watch.processes import Table
from zeroin.tools.watch import until as conditions
from zeroin.tools.watch.asked import source
from zeroin.tools.watch.gpus import GpuPanel, Gpus
from zeroin.tools.watch.machine import Disk
from zeroin.tools.watch.outputs import Command
from zeroin.tools.watch.processes import Choice, Processes
from zeroin.tools.watch.things import Panel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.observe.watch.processes import Process
    from zeroin.tools.watch.asked import Source
    from zeroin.tools.watch.things import Thing
    from zeroin.tools.watch.until import Until

FIRST = 0.1  # seconds that the first look waits for disks and GPUs
DEFAULT = ("memory", "cpu", "all")


class Frame(NamedTuple):
    """Everything at one moment."""

    stamp: float  # time.time()
    seconds: float  # since the beginning, in steady time
    panels: list[Panel]
    reached: bool  # whether the condition of --until holds


class Peaks(NamedTuple):
    """What is remembered of one WHAT. `value` is in bytes, or percent for cpu."""

    what: str
    kind: str
    value: float
    at: float  # time.time()
    things: list[Thing]  # every process that was seen
    runs: int = 0  # of a command
    changes: int = 0
    failures: int = 0


class Summary(NamedTuple):
    """What is worth knowing afterwards."""

    seconds: float
    samples: int
    peaks: list[Peaks]


class Session:
    """Looks at all that was asked for. Close it."""

    def __init__(
        self,
        whats: Sequence[str],
        command: Sequence[str],
        choice: Choice,
        environ: Mapping[str, str],
        *,
        interval: float,
        until: Until | None = None,
    ) -> None:
        whats = list(whats)
        if until is not None and until.what and until.what not in whats:
            whats.append(until.what)
        self.interval = interval
        self.samples = 0
        self._began = time.monotonic()
        self._until = until
        self._ours = {os.getpid()}
        self._gpus = Gpus()
        self.sources: list[Source] = []
        try:
            for what in whats or (() if command else DEFAULT):
                self.sources.append(source(what, choice, self._gpus, environ))
            if command:
                self.sources.append(Command(command, interval))
            if until is not None:
                conditions.check(until, self.sources)
        except BaseException:
            self.close()
            raise
        # A command that we start must not have more files than it would without us.
        self._table = Table(raise_limit=not command)
        self._sees_processes = any(isinstance(s, Processes | GpuPanel) for s in self.sources)

    @property
    def commands(self) -> list[Command]:
        """Those that are run again and again."""
        return [one for one in self.sources if isinstance(one, Command)]

    @property
    def processes(self) -> list[Processes]:
        """The panels of processes."""
        return [one for one in self.sources if isinstance(one, Processes)]

    def wait(self, seconds: float, *, whole: bool = False) -> None:
        """For first answers of what is asked in the background; `whole`: also by the way."""
        asked = any(isinstance(one, GpuPanel) for one in self.sources)
        if asked or (whole and self.processes):
            self._gpus.wait(seconds)
        for one in self.sources:
            if isinstance(one, Disk):
                one.wait(seconds)

    def look(self) -> Frame:
        """One sample of everything."""
        stamp, now = time.time(), time.monotonic()
        if not self.samples:
            self.wait(FIRST)
        if self._sees_processes:
            self._refresh()
        held = self._gpus.by_process()
        panels = [self._panel(one, now, stamp, held) for one in self.sources]
        self.samples += 1
        reached = self._until is not None and conditions.holds(self._until, self.sources, panels)
        return Frame(stamp, now - self._began, panels, reached)

    def advance(self) -> bool:
        """Start the commands that are due; whether one has ended since the last time."""
        ended = [command.advance() for command in self.commands]
        return any(ended)

    def again(self, frame: Frame) -> Frame:
        """The same with the commands as they are now: nothing else is looked at."""
        panels = [
            one.look(0.0, 0.0) if isinstance(one, Command) else panel
            for one, panel in zip(self.sources, frame.panels, strict=True)
        ]
        reached = self._until is not None and conditions.holds(self._until, self.sources, panels)
        return frame._replace(panels=panels, stamp=time.time(), reached=reached)

    def summary(self) -> Summary:
        """The peaks of all."""
        peaks = []
        for one in self.sources:
            peak = getattr(one, "peak", None)
            value, at = (peak.value, peak.at) if peak else (0.0, 0.0)
            things = one.lasting() if isinstance(one, Processes) else []
            counts = (
                (one.repeated.runs, one.changes, one.failures) if isinstance(one, Command) else ()
            )
            peaks.append(Peaks(one.what, one.kind, value, at, things, *counts))
        return Summary(time.monotonic() - self._began, self.samples, peaks)

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        for one in self.sources:
            one.forget_peaks()

    def choose(self, **changes: object) -> None:
        """Another order, or another number of processes."""
        for one in self.processes:
            before = one.choice
            one.choice = one.choice._replace(**changes)  # type: ignore[arg-type]
            if one.choice.tree != before.tree:
                known = self._table.processes.values()
                one.regroup([p for p in known if p.pid not in self._ours], self._table)

    def close(self) -> None:
        """Stop everything that goes on in the background."""
        self._gpus.close()
        for one in self.sources:
            if isinstance(one, Disk | Command):
                one.close()
        if hasattr(self, "_table"):
            self._table.close()

    def _refresh(self) -> None:
        followed = {pid for one in self.processes for pid in one.members}
        news, gone = self._table.refresh(followed)
        for process in news:
            if process.parent in self._ours:
                self._ours.add(process.pid)
        self._ours.difference_update(process.pid for process in gone)
        self._ours.add(os.getpid())
        news = [process for process in news if process.pid not in self._ours]
        if news:
            for one in self.processes:
                one.refresh(news, self._table)

    def _panel(self, one: Source, now: float, stamp: float, held: dict[int, int]) -> Panel:
        if isinstance(one, Processes):
            return one.look(now, stamp, held, self._has_ended)
        if isinstance(one, GpuPanel):
            return one.look(stamp, self._table.processes)
        try:
            return one.look(now, stamp)
        except OSError as error:  # a container may lack a part of /proc: the others go on
            said = f"{error.filename or ''}: {(error.strerror or str(error)).lower()}"
            return Panel(one.what, one.kind, [], message=said.removeprefix(": "))

    def _has_ended(self, process: Process) -> None:
        self._table.drop(process)


__all__ = ["Choice", "Frame", "Peaks", "Session", "Summary"]

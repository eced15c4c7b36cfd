"""The panels of the machine: memory, processors, network, disks."""

from __future__ import annotations

import os
import time

from zeroin.observe.watch import disks, machine
from zeroin.tools.watch.things import Panel, Peak, Slope, Thing, new_curve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque

PATIENCE = 5.0  # seconds without an answer until that is said
NOTABLE = 64 << 10  # bytes a second: what grows less is not worth a word
FILES = 5  # growing ones


class Memory:
    """What is used of the machine's memory, and of the container's."""

    kind = "memory"

    def __init__(self, what: str) -> None:
        self.what = what
        self.peak = Peak()
        self._curves: dict[str, deque[float]] = {}
        self._slopes: dict[str, Slope] = {}

    def look(self, now: float, stamp: float) -> Panel:
        """One sample."""
        found = machine.memory()
        rows = [("machine", found.total - found.available, found.total)]
        if found.limit is not None and found.limit_used is not None:
            rows.append(("container", found.limit_used, found.limit))
        if found.swap_total:
            rows.append(("swap", found.swap_total - found.swap_free, found.swap_total))
        self.peak.take(rows[0][1], stamp)
        things = []
        for name, used, total in rows:
            curve = self._curves.setdefault(name, new_curve())
            curve.append(used)
            rate = self._slopes.setdefault(name, Slope()).take(now, used)
            free = total - used
            things.append(
                Thing(
                    name,
                    used=used,
                    free=free,
                    total=total,
                    peak=int(self.peak.value) if name == "machine" else None,
                    rate=rate,
                    curve=curve,
                )
            )
        return Panel(self.what, self.kind, things, number=len(things))

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self.peak = Peak()


class Cpu:
    """How busy the processors are: all together, and each."""

    kind = "cpu"

    def __init__(self, what: str) -> None:
        self.what = what
        self.peak = Peak()
        self._before: list[machine.Ticks] = []
        self._curves: dict[str, deque[float]] = {}

    def look(self, now: float, stamp: float) -> Panel:  # noqa: ARG002 - as the others
        """One sample, of the time since the last."""
        ticks = machine.processors()
        things = []
        for number, (tick, before) in enumerate(zip(ticks, self._before, strict=False)):
            whole = tick.whole - before.whole
            busy = 100 * (tick.busy - before.busy) / whole if whole > 0 else None
            name = "all" if not number else str(number - 1)
            curve = self._curves.setdefault(name, new_curve())
            curve.append(busy or 0.0)
            things.append(Thing(name, cpu=busy, cpu_curve=curve))
        self._before = ticks
        if things:
            self.peak.take(things[0].cpu, stamp)
        loads = " ".join(f"{value:.2f}" for value in machine.load())
        return Panel(self.what, self.kind, things, number=len(things), message=f"load {loads}")

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self.peak = Peak()


class Net:
    """What goes through each network interface."""

    kind = "net"

    def __init__(self, what: str) -> None:
        self.what = what
        self.peak = Peak()
        self._before: dict[str, tuple[int, int]] = {}
        self._at = 0.0
        self._curves: dict[str, deque[float]] = {}

    def look(self, now: float, stamp: float) -> Panel:
        """One sample, of the time since the last."""
        found = machine.network()
        things = []
        for name, (received, sent) in found.items():
            before = self._before.get(name)
            read = write = None
            if before is not None and now > self._at:
                read = max(0, received - before[0]) / (now - self._at)
                write = max(0, sent - before[1]) / (now - self._at)
            curve = self._curves.setdefault(name, new_curve())
            curve.append((read or 0.0) + (write or 0.0))
            self.peak.take((read or 0.0) + (write or 0.0), stamp)
            things.append(Thing(name, read=read, write=write, curve=curve))
        self._before, self._at = found, now
        message = "" if things else "no interface has carried anything yet"
        return Panel(self.what, self.kind, things, number=len(things), message=message)

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self.peak = Peak()


class Disk:
    """The file system that a folder is on, and the files below it that grow."""

    kind = "disk"

    def __init__(self, what: str, path: str) -> None:
        self.what = what
        self.path = path
        self.peak = Peak()
        self._curve = new_curve()
        self._slope = Slope()
        self._disk = disks.Disk(path)
        self._disk.start()

    def look(self, now: float, stamp: float) -> Panel:
        """What is known by now."""
        self._disk.ask()
        found, disk = self._disk.space, self._disk
        silent = now - disk.asked_at if disk.asked_at > disk.at else 0.0
        message = disk.error
        if silent > PATIENCE:
            message = f"no answer for {silent:.0f} s: is it a network file system that has gone?"
        if found is None:
            return Panel(self.what, self.kind, [], message=message or "asking")
        rate = self._slope.take(now, found.used)
        self.peak.take(found.used, stamp)
        self._curve.append(found.used)
        full_in = found.free / rate if rate is not None and rate >= NOTABLE else None
        whole = Thing(
            self.path,
            used=found.used,
            free=found.free,
            total=found.total,
            files=found.files_free,
            peak=int(self.peak.value),
            rate=rate,
            full_in=full_in,
            curve=self._curve,
        )
        growing = [
            Thing(os.path.relpath(one.path, self.path), used=one.size, rate=one.rate)
            for one in disk.growing[:FILES]
        ]
        return Panel(self.what, self.kind, [whole, *growing], number=1, message=message)

    def wait(self, seconds: float) -> None:
        """For the first answer, where there is no second look."""
        until = time.monotonic() + seconds
        while self._disk.at == 0.0 and time.monotonic() < until:
            time.sleep(0.005)

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self.peak = Peak()

    def close(self) -> None:
        """Stop looking."""
        self._disk.stop()

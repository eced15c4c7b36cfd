"""`clock=+3d`, `clock=x100`: another time for one command. Not for everyone: see `HAZARDS`.

libfaketime stands in for the C library's clock functions; without it, a time namespace shifts the
monotonic clock and the uptime, but not the date.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re

from zeroin.emulate import kernel
from zeroin.emulate.covers import SHM
from zeroin.emulate.part import Backend, Effect, Kind, Limit, Part
from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Scene

NEW_TIME = 0x80  # CLONE_NEWTIME
_SHIFT = re.compile(r"([+-])(\d+(?:\.\d+)?)([smhdy]?)", re.ASCII)
_SPEED = re.compile(r"x(\d+(?:\.\d+)?)", re.ASCII)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "y": 365 * 86400}
_PLACES = ("/usr/lib*/*/faketime", "/usr/lib*/faketime", "/usr/local/lib*/faketime")
HAZARDS = (
    "only programs that ask the C library for the time are deceived, no static ones (Go)",
    "Event.wait, queues with a time-out and signal.alarm may wait for ever: give --timeout as well",
)


def parse(name: str, value: str) -> Limit:
    """A shift or a speed."""
    text = f"{name}={value}"
    shift, speed = _SHIFT.fullmatch(value), _SPEED.fullmatch(value)
    if shift:
        seconds = float(shift[2]) * _UNITS[shift[3]] * (-1 if shift[1] == "-" else 1)
        return Limit(name, text, "shift", seconds)
    if speed and float(speed[1]):
        return Limit(name, text, "speed", float(speed[1]))
    raise UsageError(
        f"--limit {text}: {value!r} is no time", hint="write clock=+40d, clock=-1h or clock=x100"
    )


def _library() -> str:
    found = [path for place in _PLACES for path in glob.glob(f"{place}/libfaketimeMT.so.1")]
    return found[0] if found else ""


class Preloaded(Part):
    """By libfaketime."""

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, "libfaketime")
        (limit,) = limits
        before = scene.env.get("LD_PRELOAD")
        self.env = {
            "LD_PRELOAD": _library() + (f":{before}" if before else ""),
            "FAKETIME": f"{limit.amount:+.3f}s"
            if limit.target == "shift"
            else f"+0 x{limit.amount:g}",
            "FAKETIME_NO_CACHE": "1",
        }
        self._pid = 0

    def started(self, pid: int) -> None:
        """The library's files have this number in their names."""
        self._pid = pid

    def close(self) -> None:
        """What the library shares among processes stays if the first of them ends at once."""
        for name in ("faketime_shm", "sem.faketime_sem") if self._pid else ():
            path = f"{SHM}/{name}_{self._pid}"
            if os.path.exists(path):
                os.unlink(path)
        self._pid = 0

    abandon = close

    def effects(self, ending: Ending) -> list[Effect]:
        """It can't be reached; it is there or not."""
        del ending
        return [Effect(limit.text, self.backend, False, "", HAZARDS) for limit in self.limits]


def lacks_library(limits: Sequence[Limit], scene: Scene) -> str:
    """Whether it is installed."""
    del limits, scene
    return "" if _library() else "not installed (apt-get install libfaketime)"


class Shifted(Part):
    """By a time namespace."""

    spaces = NEW_TIME
    order = 80

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "time namespace")

    def enter(self, *, apart: bool) -> None:
        """The namespace is for children; we want to be in it ourselves."""
        del apart
        seconds = int(self.limits[0].amount)
        with open("/proc/self/timens_offsets", "w") as file:
            file.write(f"monotonic {seconds} 0\nboottime {seconds} 0\n")
        fd = os.open("/proc/self/ns/time_for_children", os.O_RDONLY | os.O_CLOEXEC)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(fd, NEW_TIME):
                reason = ctypes.get_errno()
                raise OSError(reason, f"time namespace: {os.strerror(reason).lower()}")
        finally:
            os.close(fd)

    def effects(self, ending: Ending) -> list[Effect]:
        """What was shifted, and what was not."""
        del ending
        note = "only the monotonic clock and the uptime are shifted, the date is not: for that, "
        notes = (f"{note}install libfaketime",)
        return [Effect(limit.text, self.backend, False, "", notes) for limit in self.limits]


def lacks_namespace(limits: Sequence[Limit], scene: Scene) -> str:
    """Try it, in a process that ends right after."""
    if limits[0].target == "speed":
        return "it can shift the time, not speed it up"
    part = Shifted(limits, scene)
    return kernel.trial(part.spaces, lambda apart: part.enter(apart=apart))


KINDS = {
    "clock": Kind(
        "clock",
        "another time, or one that runs faster",
        parse,
        (
            Backend("libfaketime", lacks_library, Preloaded),
            Backend("time namespace", lacks_namespace, Shifted),
        ),
    )
}

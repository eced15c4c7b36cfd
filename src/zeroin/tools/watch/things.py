"""What `watch` shows, as data: panels of things, each with the same measures.

One set of measures for processes, disks and devices alike: a measure that a thing has not is
None. So JSON, CSV, plain lines and screens are made of the same few words.
"""

from __future__ import annotations

from collections import deque

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HISTORY = 60  # samples of a curve


class Thing(NamedTuple):
    """One process, disk, device, interface or command at one moment. Sizes are bytes."""

    name: str
    pid: int | None = None
    rank: int | None = None  # in a distributed job
    user: str | None = None
    state: str | None = None  # running, sleeping, …, ended; of a command: running, ended
    age: float | None = None  # seconds since it began; of one that has ended, how long it lived
    cpu: float | None = None  # percent of one processor; of the machine: of all
    memory: int | None = None  # resident
    pss: int | None = None  # with shared pages divided among their sharers
    peak: int | None = None  # most memory; of a process by the kernel's own mark
    gpu: int | None = None  # memory on GPUs
    threads: int | None = None
    files: int | None = None  # open ones; of a disk: how many may still be made
    read: float | None = None  # bytes a second; of an interface: received
    write: float | None = None
    used: int | None = None
    free: int | None = None
    total: int | None = None
    rate: float | None = None  # by which `used` or the size changes, bytes a second
    full_in: float | None = None  # seconds until nothing is free, at that rate
    exit_code: int | None = None
    depth: int = 0  # in a tree of processes
    curve: Sequence[float] = ()  # of its memory, or what it is about
    cpu_curve: Sequence[float] = ()


UNSAID = ("depth", "curve", "cpu_curve")  # only for screens
MEASURES = tuple(name for name in Thing._fields if name not in UNSAID)


class Line(NamedTuple):
    """A line of text; `marks` says for each character whether it is new."""

    text: str
    marks: Sequence[bool] = ()


class Panel(NamedTuple):
    """What one WHAT of the command line shows now."""

    what: str
    kind: str  # processes, disk, gpu, memory, cpu, net, command, file
    things: list[Thing]
    total: Thing | None = None  # of all processes together
    number: int = 0  # of things, listed or not
    ended: Sequence[Thing] = ()  # the last first
    gone: int = 0  # how many have ended in all
    message: str = ""  # what there is to say beside the numbers: waiting, no answer, …
    lines: Sequence[Line] = ()
    changed: bool = False  # whether the lines are others than before

    @property
    def waits(self) -> bool:
        """Processes were asked for, and there is none."""
        return self.kind == "processes" and not self.number


class Peak:
    """The most of something, and when it was."""

    __slots__ = ("at", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.at = 0.0

    def take(self, value: float | None, at: float) -> None:
        """One more sample."""
        if value is not None and value > self.value:
            self.value, self.at = value, at


def new_curve() -> deque[float]:
    """The last values of something, none yet."""
    return deque(maxlen=HISTORY)


class Slope:
    """How quickly something grows: over the last half minute, in steady time."""

    SPAN = 30.0

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque()

    def take(self, now: float, value: float) -> float | None:
        """One more sample; the growth per second, None as long as it can't be told."""
        points = self._points
        points.append((now, value))
        while len(points) > 2 and points[1][0] < now - self.SPAN:
            points.popleft()
        since, first = points[0]
        return (value - first) / (now - since) if now > since else None

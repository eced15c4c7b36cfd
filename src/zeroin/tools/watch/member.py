"""One process that is watched: what is remembered of it between samples, and after its end."""

from __future__ import annotations

from zeroin.observe.watch import details
from zeroin.observe.watch.processes import HERTZ, STATES
from zeroin.tools.watch.things import Thing, new_curve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.observe.watch.processes import Process, Stat

TURNS = 4  # of processes that nobody sees, the peak is read each fourth time


class Member:
    """From when it was first seen."""

    __slots__ = (
        "_base",
        "_io",
        "_stale",
        "age",
        "closely_at",
        "counted",
        "cpu",
        "cpu_curve",
        "curve",
        "depth",
        "files",
        "gpu",
        "gpu_peak",
        "idle",
        "io_at",
        "mark",
        "process",
        "program",
        "pss",
        "rank",
        "read",
        "seen_at",
        "shown",
        "stat",
        "top",
        "write",
    )

    def __init__(self, process: Process) -> None:
        self.process = process
        self.program = process.program()
        self.stat: Stat | None = None
        self.seen_at = 0.0
        self.age = 0.0
        self.cpu: float | None = None
        self.curve, self.cpu_curve = new_curve(), new_curve()
        self.idle = False
        self.closely_at = 0.0
        self.mark = 0  # the kernel's high-water mark
        self.top = 0  # the most we saw
        self.gpu: int | None = None
        self.gpu_peak = 0
        self.pss: int | None = None
        self.counted = False
        self.rank: int | None = details.rank(process.path)
        self.files: int | None = None
        self.read: float | None = None
        self.write: float | None = None
        self.io_at = 0.0
        self.shown = False
        self.depth = 0
        self._io: tuple[int, int] | None = None
        self._stale = True  # the mark may have risen since it was read
        self._base = 0  # the mark when peaks were last forgotten

    @property
    def peak(self) -> int:
        """By the kernel's mark, unless that is from before peaks were forgotten."""
        return max(self.mark, self.top) if self.mark > self._base else self.top

    def look(self, now: float, turn: int) -> str:
        """Take the counters; "gone" or "zombie" when it has ended, else nothing."""
        stat, before = self.process.stat(), self.stat
        if stat is None:
            return "gone"
        self.idle = stat is before
        if self.idle:
            self.cpu = 0.0
        else:
            if before is not None and now > self.seen_at:
                self.cpu = 100 * (stat.ticks - before.ticks) / HERTZ / (now - self.seen_at)
            if before is not None and stat.state == "Z" != before.state:
                return "zombie"  # over, though nobody has waited for it
            self.stat = stat
            self.top = max(self.top, stat.rss)
            self._stale = True
        self.seen_at = now
        self.curve.append(stat.rss)
        self.cpu_curve.append(self.cpu or 0.0)
        # One whose counters stand still can't have had more memory meanwhile.
        if self._stale and (self.shown or self.mark == 0 or (self.process.pid + turn) % TURNS == 0):
            self._stale = False
            self.mark = max(self.mark, details.high_water(self.process.path) or 0)
        return ""

    def hold(self, gpus: dict[int, int]) -> None:
        """Take what it holds on GPUs, where anybody does."""
        self.gpu = gpus.get(self.process.pid)
        self.gpu_peak = max(self.gpu_peak, self.gpu or 0)

    def look_closely(self, now: float, turn: int) -> None:
        """Take what is only of use when it is shown; of one that does nothing, now and then."""
        path = self.process.path
        still = self._io is None or self.read == self.write == 0
        if self.idle and still and (self.process.pid + turn) % TURNS:
            self.age += now - self.closely_at
            self.closely_at = now
            return
        self.closely_at = now
        self.age = self.process.age
        self.files = details.open_files(path)
        io = details.transferred(path)
        if io is not None and self._io is not None and now > self.io_at:
            span = now - self.io_at
            self.read = max(0, io[0] - self._io[0]) / span
            self.write = max(0, io[1] - self._io[1]) / span
        elif io is None:
            self.read = self.write = None
        self._io, self.io_at = io, now

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self._base = self.mark
        self.top = self.stat.rss if self.stat else 0
        self.gpu_peak = self.gpu or 0

    def thing(self, user: str | None, *, ended: bool = False) -> Thing:
        """As it is now, or was at its end."""
        stat = self.stat
        return Thing(
            self.process.command,
            pid=self.process.pid,
            rank=self.rank,
            user=user,
            state="ended" if ended else STATES.get(stat.state, stat.state) if stat else None,
            age=self.age,
            cpu=self.cpu,
            memory=stat.rss if stat else None,
            pss=self.pss,
            peak=self.peak,
            gpu=self.gpu_peak or None if ended else self.gpu,
            threads=stat.threads if stat else None,
            files=self.files,
            read=self.read,
            write=self.write,
            depth=self.depth,
            curve=self.curve,
            cpu_curve=self.cpu_curve,
        )

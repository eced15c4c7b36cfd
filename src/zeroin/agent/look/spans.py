"""`section("load")`: what a part of the program takes, in time and memory.

A *span* is one run of a section. The section inside which another was begun is its parent,
also in threads and coroutines of their own; `sections()` adds up the spans of each path of
names. Each process counts for itself: a forked child begins with nothing.
"""

from __future__ import annotations

import os
import time
from _contextvars import ContextVar
from _thread import allocate_lock, get_ident

from ..amounts import seconds
from . import gpu, growth, memory, out, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINES = 20  # of one section that are printed; then at 50, 100, 200, 500, …

# Whether the counters of peaks may be set back: the program and its parent read them as well.
may_reset = bool(out.drivers_folder())

current: ContextVar[Any] = ContextVar("zeroin_section", default=None)  # the span one is in


class Row:
    """What one span took, or all spans of a section together. Memory is what it grew by."""

    __slots__ = (
        *("blocks", "calls", "cpu_seconds", "error", "failed", "gpu", "in_use", "is_again"),
        *("path", "peak", "resident", "retained", "seconds", "share", "verdict", "where"),
    )

    def __init__(self, path: tuple[str, ...], where: str) -> None:
        self.path = path
        self.where = where
        self.calls = self.failed = self.resident = self.retained = 0
        self.seconds = self.cpu_seconds = self.share = 0.0
        self.in_use: int | None = None
        self.blocks: int | None = None
        self.peak: int | None = None  # above what there was at its beginning
        self.gpu: list[tuple[int, int | None]] = []  # growth and peak, a device each
        self.error = self.verdict = ""
        self.is_again = False  # a run inside of another of the same section

    @property
    def name(self) -> str:
        """The name, with those that it lies in: `epoch/load`."""
        return "/".join(self.path)

    def as_dict(self) -> dict[str, Any]:
        """Everything, by name."""
        return {"name": self.name, **{one: getattr(self, one) for one in self.__slots__}}

    def __repr__(self) -> str:
        return f"<{self.name}: {self.calls} × {seconds(self.seconds / max(1, self.calls))}>"


class Span:
    """A section while it runs."""

    __slots__ = (
        *("cpu", "cpu_clock", "gpu", "gpu_hidden", "gpu_peaks", "has_ended", "hidden"),
        *("is_again", "level", "parent", "path", "peak", "pid", "spent", "started", "where"),
    )

    def __init__(self, name: str, where: str) -> None:
        self.pid = os.getpid()
        parent = current.get()
        # One that has ended, or was begun before a fork, is no longer around us.
        while parent is not None and (parent.has_ended or parent.pid != self.pid):
            parent = parent.parent
        self.parent = parent
        around: tuple[str, ...] = self.parent.path if self.parent else ()
        # One inside of itself is part of what the outer one takes, and no section of its own.
        self.is_again = name in around
        self.path = around[: around.index(name) + 1] if self.is_again else (*around, name)
        self.where = where
        self.peak = self.hidden = 0
        self.gpu_peaks: list[int] = []
        self.gpu_hidden: list[int] = []
        self.spent: tuple[float, float] | None = None  # by the steps of a generator
        is_main = get_ident() == out._main
        self.cpu_clock = time.process_time if is_main else time.thread_time
        self.started = self.cpu = 0.0
        self.has_ended = False

    def begin(self) -> None:
        """Take the first readings, the clock last."""
        self.level = _book.budget.level(_book.is_worth_it(self.path))
        with _book.lock:
            _book.peaks.begin(self, self.level.resident, may_reset)
            _book.gpu_peaks.begin(self, may_reset)
        self.gpu = list(self.gpu_peaks)
        self.cpu = self.cpu_clock()
        self.started = time.perf_counter()

    def end(self, error: str) -> Row:
        """Take the last readings, the clock first."""
        seconds = time.perf_counter() - self.started
        self.has_ended = True
        row = Row(self.path, self.where)
        row.calls, row.failed, row.error = 1, int(bool(error)), error
        row.is_again = self.is_again
        row.seconds, row.cpu_seconds = self.spent or (seconds, self.cpu_clock() - self.cpu)
        before, after = self.level, _book.budget.level(self.level.blocks is not None)
        with _book.lock:
            peak = _book.peaks.end(self)
            high = _book.gpu_peaks.end(self)
        row.resident = after.resident - before.resident
        row.peak = None if peak is None else max(0, peak - before.resident, row.resident)
        if before.in_use is not None and after.in_use is not None:
            row.in_use = after.in_use - before.in_use
        if before.blocks is not None and after.blocks is not None:
            row.blocks = after.blocks - before.blocks
        row.retained = memory.retained(row.resident, row.in_use, row.blocks)
        if high:
            had = self.gpu + [0] * len(high)
            row.gpu = [
                (now - was, None if most is None else max(0, most - was))
                for was, now, most in zip(had, gpu.levels(), high)
            ]
        _book.add(row, after, self.started)
        _book.judge(row.path)
        return row


class Total:
    """All spans of one path."""

    def __init__(self, row: Row) -> None:
        self.row = Row(row.path, row.where)
        self.levels: dict[str, list[tuple[int, int]]] = {"bytes": [], "blocks": []}
        self.inside: dict[str, list[int]] = {"bytes": [], "blocks": []}
        self.collections = 0  # full ones, when it ran last
        self.verdict = ""  # of the last time that it was looked for what it leaves behind
        self.said = ""

    def add(self, row: Row, level: memory.Level) -> None:
        """One more."""
        sums = self.row
        sums.calls += 1
        sums.failed += row.failed
        if row.is_again:
            return
        sums.seconds += row.seconds
        sums.cpu_seconds += row.cpu_seconds
        sums.resident += row.resident
        if row.in_use is not None:
            sums.in_use = (sums.in_use or 0) + row.in_use
        if row.blocks is not None:
            sums.blocks = (sums.blocks or 0) + row.blocks
        sums.retained = memory.retained(sums.resident, sums.in_use, sums.blocks)
        if row.peak is not None:
            sums.peak = max(sums.peak or 0, row.peak)
        if row.gpu:
            had = sums.gpu + [(0, None)] * len(row.gpu)
            sums.gpu = [
                (grown + more, most if peak is None else max(most or 0, peak))
                for (grown, most), (more, peak) in zip(had, row.gpu)
            ]
        for unit, now, grown in (
            ("bytes", level.in_use, row.in_use),
            ("blocks", level.blocks, row.blocks),
        ):
            if now is not None and grown is not None:
                _push(self.levels[unit], (sums.calls, now))
                _push(self.inside[unit], grown)
                self.collections = memory.collections()

    def growth(self) -> growth.Growth | None:
        """What it leaves behind each time, if it does."""
        for unit in ("bytes", "blocks"):
            levels = self.levels[unit]
            rate = growth.per_repetition(levels, self.inside[unit], unit)
            if rate:
                whole = rate * (levels[-1][0] - levels[0][0])
                return growth.Growth(self.row.path, unit, rate, whole)
        return None


def _push(values: list[Any], value: Any) -> None:
    values.append(value)
    if len(values) > growth.KEPT:
        del values[0]


class Book:
    """What this process knows of its sections."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.budget = memory.Budget()
        self.peaks = memory.Peaks()
        self.gpu_peaks = gpu.Peaks()
        self.totals: dict[tuple[str, ...], Total] = {}
        self.since: float | None = None  # when the first of them began

    def is_worth_it(self, path: tuple[str, ...]) -> bool:
        """Whether the allocators may be asked: that must not take a part of the section's time."""
        total = self.totals.get(path)
        return total is None or total.row.calls < 2 * growth.FEWEST or self.budget.allows()

    def clear(self) -> None:
        """Begin anew."""
        with self.lock:
            self.totals.clear()
            self.since = None

    def add(self, row: Row, level: memory.Level, started: float) -> None:
        """Note a span, which may have begun before all that have ended so far."""
        with self.lock:
            self.since = started if self.since is None else min(self.since, started)
            total = self.totals.get(row.path)
            if total is None:
                total = self.totals[row.path] = Total(row)
            total.add(row, level)

    def judge(self, path: tuple[str, ...]) -> None:
        """Look whether a section leaves something behind, now and then, while that can be seen.

        The program goes on meanwhile: that must not hold it up.
        """
        total = self.totals.get(path)
        count = total.row.calls if total else 0
        if total is None or count < growth.FEWEST or not growth.is_due(count):
            return
        if not total.verdict.endswith(growth.LEAK) and total.growth() is not None:
            elapsed = time.perf_counter() - (self.since or 0.0)
            patience = max(memory.AT_ONCE, memory.SHARE * elapsed)
            total.verdict = self._verdicts(patience).get(path, "")

    def _verdicts(self, patience: float | None) -> dict[Any, str]:
        with self.lock:
            totals = list(self.totals.values())
        found = [one for total in totals if (one := total.growth()) is not None]
        if not found:
            return {}
        now = memory.collections()
        grown = {
            total.row.path: {unit: sum(total.inside[unit]) for unit in total.inside}
            for total in totals
            if total.collections == now  # else what it left as garbage is gone
        }
        return growth.told(found, grown, patience)

    def rows(self) -> list[Row]:
        """Give all, parents before what lies in them."""
        with self.lock:
            totals = list(self.totals.values())
        elapsed = max(time.perf_counter() - (self.since or 0.0), 1e-9)
        verdicts = self._verdicts(None)
        for total in totals:
            total.row.share = total.row.seconds / elapsed
            total.row.verdict = verdicts.get(total.row.path, "")
            # The collector may have come since the last run of it.
            if total.row.verdict and total.verdict.endswith(growth.CYCLES):
                total.row.verdict = total.verdict
        order = {total.row.path: at for at, total in enumerate(totals)}
        least = {
            path: min(at for p, at in order.items() if p[: len(path)] == path) for path in order
        }

        def key(row: Row) -> list[int]:
            return [least.get(row.path[: n + 1], 0) for n in range(len(row.path))]

        return sorted((total.row for total in totals), key=key)


_book = Book()


def _forget() -> None:
    """A forked child has the memory of its parent and none of its sections."""
    global _book  # noqa: PLW0603 - one book a process
    _book = Book()


os.register_at_fork(after_in_child=_forget)


def say(row: Row) -> None:
    """Print the line at the end of a span, and the verdict when there is one."""
    total = _book.totals.get(row.path)
    count = total.row.calls if total else 1
    due = growth.is_due(count)
    if count <= LINES or due:
        mean = total.row.seconds / count if total and count > LINES else 0.0
        out.say(out.label() + table.line(row, count, mean))
    if total and total.verdict and total.verdict.rpartition(": ")[2] != total.said:
        total.said = total.verdict.rpartition(": ")[2]
        out.say(f"{out.label()}{row.name}  {total.verdict}  {row.where}")


def book() -> Book:
    """Give what this process knows."""
    return _book

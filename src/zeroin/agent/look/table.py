"""Sections in words: the line at the end of one, and the table of all."""

from __future__ import annotations

from ..amounts import seconds, signed_size, size
from . import memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .spans import Row

HEADS = ("section", "calls", "total", "mean", "share", "cpu", "memory", "peak")


def line(row: Row, count: int, mean: float) -> str:
    """Say what one run of a section took."""
    parts = ["/".join(row.path), _time(row)]
    if count > 1 and mean:
        parts[1] += f" ({_nth(count)}, mean {seconds(mean)})"
    parts.append(_memory(row))
    parts += [_gpu(at, *pair) for at, pair in enumerate(row.gpu) if any(pair)]
    parts += [f"✗ {row.error}"] * bool(row.error)
    return "  ".join([*filter(None, parts), row.where])


def _time(row: Row) -> str:
    told = seconds(row.seconds)
    # Said where it tells something: that it waited, or that several cores worked.
    if row.seconds >= 0.01 and not 0.6 < row.cpu_seconds / row.seconds < 1.4:
        told += f" (cpu {seconds(row.cpu_seconds)})"
    return told


def _nth(count: int) -> str:
    return f"{count:,}th"


def _memory(row: Row) -> str:
    """`+200 MB (peak +512 MB)`, and where it is not what it seems."""
    about = []
    if row.peak is not None and row.peak - max(row.resident, 0) > memory.NOTHING:
        about.append(f"peak {signed_size(row.peak)}")
    in_use = row.in_use or 0
    if row.retained > max(memory.NOTHING, 0.2 * row.resident):
        about.append(f"{size(row.retained)} of it retained by the allocator")
    elif in_use - max(row.resident, 0) > max(10 * memory.NOTHING, 0.2 * in_use):
        about.append(f"{signed_size(in_use)} in use, not touched yet")
    if not about:
        return grown(row.resident) if grown(row.resident) != "0" else ""
    shown = "+0 MB" if grown(row.resident) == "0" else signed_size(row.resident)
    return f"{shown} ({', '.join(about)})"


def grown(value: int) -> str:
    """Write a growth of memory; less than a tenth of a megabyte is noise of the kernel's."""
    return signed_size(value) if abs(value) > memory.NOTHING / 10 else "0"


def _gpu(at: int, grown: int, peak: int | None) -> str:
    told = f"cuda:{at} {signed_size(grown)}"
    is_more = peak is not None and peak - max(grown, 0) > memory.NOTHING
    return f"{told} (peak {signed_size(peak or 0)})" if is_more else told


def table(rows: Sequence[Row], verdicts: Sequence[str], label: str) -> str:
    """All sections, those within others below them."""
    if not rows:
        return f"{label}no section has ended yet"
    devices = max(len(row.gpu) for row in rows)
    heads = [*HEADS, *(f"cuda:{at} peak" for at in range(devices))]
    cells = [heads, *(_cells(row, devices) for row in rows)]
    wide = [max(len(one[at]) for one in cells) for at in range(len(heads))]
    lines = [
        "  ".join(
            text.ljust(wide[at]) if at == 0 else text.rjust(wide[at]) for at, text in enumerate(one)
        ).rstrip()
        for one in cells
    ]
    return "\n".join([*([label.strip()] if label else []), *lines, *verdicts])


def _cells(row: Row, devices: int) -> list[Any]:
    name = "  " * (len(row.path) - 1) + row.path[-1] + f" (✗ {row.failed})" * bool(row.failed)
    peak = "" if row.peak is None else grown(row.peak)
    peaks = [most for _, most in row.gpu] + [None] * devices
    gpu = ["" if most is None else signed_size(most) for most in peaks[:devices]]
    return [
        name,
        f"{row.calls:,}",
        seconds(row.seconds),
        seconds(row.seconds / max(1, row.calls)),
        f"{row.share:.0%}",
        seconds(row.cpu_seconds),
        grown(row.resident),
        peak,
        *gpu,
    ]

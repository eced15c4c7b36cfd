"""Bytes and seconds as people write them: one way for all that is said."""

from __future__ import annotations


def size(count: float) -> str:
    """`2.1 GB`, `512 MB`, `61 B`."""
    for unit in ("B", "KB", "MB", "GB"):
        if abs(count) < 999.5:
            whole = unit in ("B", "KB") or abs(count) >= 99.95
            return f"{count:.0f} {unit}" if whole else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def signed_size(count: float) -> str:
    """`+200 MB`, `−3.1 MB`, `0`."""
    return ("−" if count < 0 else "+") + size(abs(count)) if count else "0"


def seconds(value: float) -> str:
    """`12.3 µs`, `45.6 ms`, `163 ms`, `1.24 s`, `3:20 min`, `2:05 h`."""
    if value < 1e-3:
        return f"{value * 1e6:.1f} µs"
    if value < 0.9995:
        return f"{value * 1e3:.3g} ms"
    if value < 119.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours}:{left:02d} h" if hours > 1 else f"{minutes}:{rest:02d} min"

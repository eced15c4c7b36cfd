"""Sizes and times as people write them."""

from __future__ import annotations

import re

from zeroin.errors import UsageError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def parse_size(text: str) -> int:
    """`500M`, `2GiB`, `1.5 gb`, `4096`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE | re.ASCII)
    if not match or (match[3] and not match[2]):
        raise UsageError(f"{text!r} is no size", hint="write 500M, 2GiB or 4096")
    unit = match[2].lower()
    return int(float(match[1]) * (_BINARY[unit] if match[3] else _UNITS[unit]))


def parse_seconds(text: str) -> float:
    """`30s`, `5m`, `1.5h`, `250ms`, `10`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text, re.IGNORECASE | re.ASCII)
    if not match or match[2].lower() not in _SECONDS:
        raise UsageError(f"{text!r} is no time span", hint="write 30s, 5m, 1.5h or 250ms")
    return float(match[1]) * _SECONDS[match[2].lower()]

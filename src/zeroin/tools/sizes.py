"""Sizes and times as people write them."""

from __future__ import annotations

import re

from zeroin.errors import UsageError
from zeroin.sizes import parse_size

__all__ = ["parse_seconds", "parse_size"]

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def parse_seconds(text: str) -> float:
    """`30s`, `5m`, `1.5h`, `250ms`, `10`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text, re.IGNORECASE | re.ASCII)
    if not match or match[2].lower() not in _SECONDS:
        raise UsageError(f"{text!r} is no time span", hint="write 30s, 5m, 1.5h or 250ms")
    return float(match[1]) * _SECONDS[match[2].lower()]

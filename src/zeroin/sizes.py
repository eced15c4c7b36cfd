"""Sizes as people write them, and back."""

from __future__ import annotations

from zeroin.agent.amounts import size as size  # noqa: PLC0414 - the other way
from zeroin.errors import UsageError

LONGEST = 30  # digits of a number that can be meant

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_size(text: str) -> int:
    """`500M`, `2GiB`, `1.5 gb`, `4096`."""
    word = text.strip().lower().removesuffix("b")
    table = _BINARY if word.endswith("i") else _UNITS
    word = word.removesuffix("i")
    unit = word[-1:] if word.endswith(tuple(_BINARY)) else ""
    number = word.removesuffix(unit).rstrip()
    if not is_number(number) or unit not in table or len(number) > LONGEST:
        raise UsageError(f"{text[:LONGEST]!r} is no size", hint="write 500M, 2GiB or 4096")
    return int(float(number) * table[unit])


def is_number(text: str) -> bool:
    """`12`, `1.5`; without a regular expression, which takes half a millisecond to make."""
    whole, point, rest = text.partition(".")
    return text.isascii() and whole.isdecimal() and (rest.isdecimal() or not point)


def format_size(count: int) -> str:
    """The shortest text that `parse_size` reads as the same number: `500M`, `1536K`, `4097`."""
    for table, mark in ((_UNITS, ""), (_BINARY, "i")):
        for unit in "tgmk":
            if count and count % table[unit] == 0:
                return f"{count // table[unit]}{unit.upper()}{mark}{'B' if mark else ''}"
    return str(count)


def short_size(count: int) -> str:
    """Four digits that `parse_size` reads: `163.8M`."""
    for unit in "gmk":
        whole = count // _UNITS[unit]
        if whole:
            return f"{count / _UNITS[unit]:.{max(0, 4 - len(str(whole)))}f}{unit.upper()}"
    return str(count)

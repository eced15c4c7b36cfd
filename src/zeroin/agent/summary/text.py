"""Making strangers' text fit to be shown: one line, short, the same in the next run."""

from __future__ import annotations

_HEX = "0123456789abcdefABCDEF"
# Where Linux maps heaps, stacks and libraries; times and most numbers of users lie outside.
_LOWEST, _HIGHEST = 0x5500_0000_0000, 0xFFFF_FFFF_FFFF


def fit(text: str, length: int) -> str:
    """Cut a text that is longer."""
    return text if len(text) <= length else text[: length - 1] + "…"


def escaped(text: str) -> str:
    """Escape what a terminal would act upon, line ends among it."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def one_line(text: str) -> str:
    """Fold the white space of a text that was laid out in lines, and escape the rest."""
    return escaped(" ".join(text.split()))


def without_addresses(text: str) -> str:
    """Take memory addresses out: they would make two runs differ."""
    first, *rest = text.split(" at 0x")
    text = first + "".join(piece.lstrip(_HEX + "…") for piece in rest)
    first, *rest = text.split("0x")
    text = first + "".join(_without_hex(piece) for piece in rest)
    return "".join(_without_decimal(run) for run in _runs(text))


def _without_hex(piece: str) -> str:
    tail = piece.lstrip(_HEX)
    digits = piece[: len(piece) - len(tail)]
    is_address = len(digits) <= 16 and _LOWEST <= int(digits or "0", 16) <= _HIGHEST
    return "0x" + ("…" + tail if is_address else piece)


def _without_decimal(run: str) -> str:
    is_address = len(run) in (14, 15) and run.isdecimal() and _LOWEST <= int(run) <= _HIGHEST
    return "…" if is_address else run


def _runs(text: str) -> list[str]:
    """Split a text into digits and what stands between them."""
    runs: list[str] = []
    for char in text:
        if runs and runs[-1][-1].isdecimal() == char.isdecimal():
            runs[-1] += char
        else:
            runs.append(char)
    return runs

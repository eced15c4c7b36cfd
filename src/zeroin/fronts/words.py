"""How things are said: colours, sizes, times, ranges of numbers."""

from __future__ import annotations

import os
import sys

from zeroin.sizes import size as size  # noqa: PLC0414 - one of the ways things are said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


class Paint:
    """Colours, where the stream is a terminal and NO_COLOR is not set."""

    def __init__(self, stream: TextIO) -> None:
        forced = os.environ.get("FORCE_COLOR")
        self.on = not os.environ.get("NO_COLOR") and (
            bool(forced) or (stream.isatty() and os.environ.get("TERM") != "dumb")
        )

    def __call__(self, text: str, *colours: str) -> str:
        """The text, coloured."""
        if not self.on or not text:
            return text
        return f"\x1b[{';'.join(_CODES[c] for c in colours)}m{text}\x1b[0m"


def can_show(text: str, stream: TextIO) -> bool:
    """Whether the stream's encoding knows the characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def put(text: str, stream: TextIO | None = None) -> None:
    """Write a line, in any locale."""
    stream = stream or sys.stdout
    if not can_show(text, stream):
        for fine, plain in (
            ("✗", "x"),
            ("✓", "ok"),
            ("·", "-"),
            ("−", "-"),
            ("→", ">"),
            ("│", "|"),
            ("…", "..."),
        ):
            text = text.replace(fine, plain)
        encoding = getattr(stream, "encoding", None) or "ascii"
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(text + "\n")


def seconds(value: float) -> str:
    """`0.04 s`, `41.2 s`, `3:20 min`, `2:05 h`."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.1f} s"
    if value < 7200:
        return f"{int(value // 60)}:{int(value % 60):02d} min"
    return f"{int(value // 3600)}:{int(value % 3600 // 60):02d} h"


def numbers(values: Sequence[int], most: int = 4) -> str:
    """`3, 9-12`; of many only the last ones."""
    ranges: list[list[int]] = []
    for value in values:
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in ranges[-most:]]
    return ("…, " if len(ranges) > most else "") + ", ".join(texts)


def when(stamp: float, now: float) -> str:
    """`14:03:12` today, `Nov 12 14:03` this year, else with the year."""
    import time

    then, today = time.localtime(stamp), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M:%S", then)
    if then.tm_year == today.tm_year:
        return time.strftime("%b %d %H:%M", then)
    return time.strftime("%Y-%m-%d %H:%M", then)


def tilde(path: str) -> str:
    """`~/project`."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def width(stream: TextIO, default: int = 100) -> int:
    """Columns of the terminal; wide enough for anything where there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return default


def cut(text: str, length: int) -> str:
    """One line of at most that length."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: max(1, length - 1)] + "…"


def clean(text: str) -> str:
    """Without control characters: what a program printed must not steer the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)

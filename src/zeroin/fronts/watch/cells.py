"""Text in a terminal's cells: how wide it is, cut and filled to fit; amounts and small curves."""

from __future__ import annotations

import functools
import re
import unicodedata

from zeroin.common.terminal import escape_controls
from zeroin.fronts.words import style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
SIGNS = "_.-=+*#@"  # the same, in any locale
STYLE = re.compile(r"(\x1b\[[0-9;]*m)")
# All but what is known to take one cell: ASCII, and what we draw with.
ODD = re.compile(r"[^ -~▁-█░─│…–·°]")
NOTHING = "–"


def clean(text: str) -> str:
    """On one line, and without control characters: a command line must not steer the terminal."""
    return escape_controls(text, kept="")


def wide(text: str) -> int:
    """How many cells it takes."""
    return sum(map(_cells, text)) if ODD.search(text) else len(text)


@functools.cache
def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def head(text: str, width: int) -> str:
    """As much from the beginning as fits."""
    if wide(text) <= width:
        return text
    if text.isascii():
        return text[:width]
    taken = 0
    for at, character in enumerate(text):
        taken += _cells(character)
        if taken > width:
            return text[:at]
    return text


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Exactly so wide: filled with blanks, or cut with a sign that it is."""
    text = clean(text)
    have = wide(text)
    if have > width:
        text = head(text, max(0, width - 1)) + ("…" if width > 0 else "")
        have = wide(text)
    fill = " " * max(0, width - have)
    return fill + text if right else text + fill


def exact(line: str, width: int) -> str:
    """The same for a line with styles: what was made to measure stays as it is."""
    missing = width - wide(STYLE.sub("", line))
    if missing >= 0:
        return line + " " * missing
    out, left, styled = [], width, False
    for part in STYLE.split(line):
        if part.startswith("\x1b"):
            out.append(part)
            styled = True
            continue
        shown = head(part, left)
        out.append(shown)
        left -= wide(shown)
        if shown != part:
            break
    return "".join(out) + " " * left + (style("0") if styled else "")


def command(text: str, width: int) -> str:
    """A command line cut where it says least: the folders of its program, then in the middle."""
    text = clean(text)
    if wide(text) <= width:
        return fit(text, width)
    program, blank, rest = text.partition(" ")
    text = program.rpartition("/")[2] + blank + rest
    if wide(text) > width and rest.startswith("/"):  # the script: its folder says less, too
        script, gap, rest = rest.partition(" ")
        text = program.rpartition("/")[2] + blank + script.rpartition("/")[2] + gap + rest
    if wide(text) <= width or width < 12:
        return fit(text, width)
    first = head(text, (width - 1) * 3 // 5)
    last = text[::-1]
    last = head(last, width - 1 - wide(first))[::-1]
    return fit(f"{first}…{last}", width)


def amount(count: float | None) -> str:
    """`1.24 GB`, `0.31 GB`, `31.0 MB`, `4 KB`: memory that counts is in GB."""
    if count is None:
        return NOTHING
    if abs(count) >= 1e12:
        return f"{count / 1e12:.2f} TB"
    if abs(count) >= 1e8:
        return f"{count / 1e9:.2f} GB" if abs(count) < 1e11 else f"{count / 1e9:.0f} GB"
    if abs(count) >= 1e6:
        return f"{count / 1e6:.1f} MB"
    return f"{count / 1e3:.0f} KB" if abs(count) >= 1e3 else f"{count:.0f} B"


def rate(count: float | None) -> str:
    """`1.2 MB/s`; `0` for nothing."""
    if count is None:
        return NOTHING
    return f"{amount(count)}/s" if count >= 0.5 or count <= -0.5 else "0"


def percent(value: float | None) -> str:
    """`98 %`; small ones with a digit more."""
    if value is None:
        return NOTHING
    return f"{value:.0f} %" if value >= 9.95 or value < 0.05 else f"{value:.1f} %"


def span(value: float | None) -> str:
    """`12 s`, `3:20 min`, `2:05 h`, `4 d`: an age."""
    if value is None:
        return NOTHING
    if value < 120:
        return f"{value:.0f} s"
    if value < 7200:
        return f"{int(value // 60)}:{int(value % 60):02d} min"
    if value < 48 * 3600:
        return f"{int(value // 3600)}:{int(value % 3600 // 60):02d} h"
    return f"{value / 86400:.0f} d"


def spark(values: Sequence[float], width: int, signs: str, least: float = 0.0) -> str:
    """A curve in one line, the newest on the right; `least` is what the full height stands for.

    Without it the lower edge follows the values, so that slow growth is seen: but a tenth of
    the value is the whole height at least, so that noise stays small.
    """
    if not values or width < 1:
        return " " * max(0, width)
    points = list(values)
    per = -(-len(points) // width)
    if per > 1:
        # From the right, so that the newest column is always of the newest samples.
        cut = len(points) % per
        parts = ([points[:cut]] if cut else []) + [
            points[at : at + per] for at in range(cut, len(points), per)
        ]
        points = [max(part) for part in parts]
    points = points[-width:]
    top = max(*points, least, 1e-9)
    low = 0.0 if least else min(values)
    height = max(top - low, 0.1 * top)
    text = "".join(signs[round((len(signs) - 1) * (p - low) / height)] for p in points)
    return text.rjust(width)


def joined(parts: Sequence[str], width: int, by: str = " · ") -> str:
    """Those that fit; the first ones before the others."""
    text = ""
    for part in parts:
        longer = f"{text}{by}{part}" if text else part
        if wide(longer) <= width:
            text = longer
    return text


def bar(share: float, width: int, full: str, empty: str) -> str:
    """How much of it is used."""
    done = round(max(0.0, min(1.0, share)) * width)
    return full * done + empty * (width - done)

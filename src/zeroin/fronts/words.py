"""How things are said: colours, sizes, times, ranges of numbers."""

from __future__ import annotations

import os
import sys

from zeroin.common import secrets
from zeroin.common.terminal import escape_controls
from zeroin.sizes import size as size  # noqa: PLC0414 - one of the ways things are said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TextIO

# Our own styles carry a number that no stranger's text can know, so that `make_safe` tells them
# from the escape sequences in a message, a file name or a command.
_OWN = str(int.from_bytes(os.urandom(6), "big"))
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
        return f"{style(';'.join(_CODES[c] for c in colours))}{text}{style('0')}"


def style(codes: str) -> str:
    """Begin a style of our own, which `make_safe` lets pass: "0" ends all, "7" is reversed."""
    return f"\x1b[{codes};{_OWN}m"


def make_safe(text: str) -> str:
    """Make text ready for a terminal or a pipe: without secrets, and only our own styles steer.

    This is the one way out: `put`, `put_json` and the screen of `watch` go through here.
    """
    text = secrets.mask_found(text)
    if "\x1b" not in text:
        return escape_controls(text)
    import re

    own = re.compile(rf"\x1b\[([0-9;]*);{_OWN}m")
    parts = own.split(text)
    return "".join(
        f"\x1b[{part}m" if number % 2 else escape_controls(part)
        for number, part in enumerate(parts)
    )


def can_show(text: str, stream: TextIO) -> bool:
    """Whether the stream's encoding knows the characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def worker(one: Mapping[str, Any]) -> str:
    """`ForkPoolWorker-2, iterable[7] (process 1234)`, of a worker process that failed."""
    item = clean(one["item"])
    name = "" if item.startswith("DataLoader") else clean(one["name"])
    said = ", ".join(filter(None, [name, item])) or "a worker"
    return f"{said} (process {one['pid']})"


class AsIs(str):
    """A line of a program or of its output, which is not ours to fold."""

    __slots__ = ()


def put_json(value: Any, stream: TextIO | None = None) -> None:
    """Write a value as one line of JSON, without secrets and control characters."""
    import json

    text = json.dumps(_masked(value)).replace("\x7f", "\\u007f")
    put_part(text + "\n", stream or sys.stdout)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return secrets.mask_found(value)
    if isinstance(value, dict):
        return {_masked(key): _masked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) > 1 and all(type(item) is str for item in value):  # the words of a command
            return secrets.mask_words(value)
        return [_masked(item) for item in value]
    return value


def put_bytes(data: bytes) -> None:
    """Write what a program printed: as it is into a pipe; on a terminal its colours alone steer."""
    if not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    import re

    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    parts = re.split(r"(\x1b\[[0-9;]*m)", text)
    for number, part in enumerate(parts):
        put_part(part if number % 2 else escape_controls(part), sys.stdout)
    if len(parts) > 1:
        sys.stdout.write("\x1b[0m")


def put_part(text: str, stream: TextIO) -> None:
    """Write text that is safe already, or that we made ourselves, in any locale."""
    stream.write(_encodable(text, stream))


def put(text: str, stream: TextIO | None = None) -> None:
    """Write a line, in any locale; in a terminal that is narrower, folded between words."""
    stream = stream or sys.stdout
    is_foldable = not isinstance(text, AsIs)
    text = make_safe(text)
    columns = width(stream, 0)
    if columns and len(text) > columns and is_foldable:
        from zeroin.fronts.folding import fold_text

        text = fold_text(text, columns)
    stream.write(_encodable(text, stream) + "\n")


def _encodable(text: str, stream: TextIO) -> str:
    """Give the text in characters that the stream's encoding has."""
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
    return text


def warn(text: str) -> None:
    """Say what was in the way of something that went on all the same."""
    put(f"zeroin: warning: {text}", sys.stderr)


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
    return escape_controls(text)

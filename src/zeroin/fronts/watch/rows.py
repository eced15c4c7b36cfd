"""Samples for programs and for grep: plain lines, JSON objects, rows of CSV."""

from __future__ import annotations

import os
import time

from zeroin.errors import UsageError, ZeroinError
from zeroin.fronts import words
from zeroin.fronts.report_json import SCHEMA
from zeroin.fronts.watch.cells import amount, clean, percent, rate, span
from zeroin.tools.watch.things import MEASURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zeroin.tools.watch import Frame
    from zeroin.tools.watch.things import Panel, Thing

COLUMNS = ("time", "seconds", "what", "kind", *MEASURES)


def _count(value: Any) -> str:
    return str(value)


# In the order of a plain line: measure → how it is written.
SAID: dict[str, Callable[[Any], str]] = {
    "rank": _count,
    "memory": amount,
    "pss": amount,
    "peak": amount,
    "gpu": amount,
    "cpu": percent,
    "threads": _count,
    "files": _count,
    "read": rate,
    "write": rate,
    "used": amount,
    "free": amount,
    "total": amount,
    "rate": rate,
    "full_in": span,
    "exit_code": _count,
    "state": str,
    "age": span,
}


def stamp(at: float) -> str:
    """`2026-11-16T18:20:31.250+01:00`."""
    local = time.localtime(at)
    zone = time.strftime("%z", local)
    milliseconds = int(at * 1000) % 1000
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', local)}.{milliseconds:03d}{zone[:3]}:{zone[3:]}"


# --- plain lines ----------------------------------------------------------------------------


def plain(frame: Frame) -> list[str]:
    """A line for each thing, each with its time and what was asked for."""
    at = time.strftime("%H:%M:%S", time.localtime(frame.stamp))
    return [f"{at} {line}" for panel in frame.panels for line in _panel(panel)]


def _panel(panel: Panel) -> list[str]:
    what = clean(panel.what)
    out = []
    if panel.message:
        out.append(f"{what}  {panel.message}")
    out += [f"{what}  {said(thing, panel.kind)}" for thing in panel.things]
    if panel.total is not None and panel.number > 1:
        real = panel.total.memory if panel.total.pss is None else panel.total.pss
        kind = "RSS, shared pages counted in each" if panel.total.pss is None else "PSS"
        more = panel.number - len(panel.things)
        out.append(
            f"{what}  sum of {panel.number:,}  memory {amount(real)} ({kind})  "
            f"peak {amount(panel.total.peak)}  cpu {percent(panel.total.cpu)}"
            + (f"  and {more:,} more: --top {panel.number}" if more > 0 else "")
        )
    if panel.kind in ("command", "file"):
        mark = "│" if panel.kind == "command" else "+"
        shown = panel.lines if panel.kind == "command" else [x for x in panel.lines if any(x.marks)]
        out += [f"{what}  {mark} {clean(line.text)}" for line in shown]
    return out


def said(thing: Thing, kind: str) -> str:
    """Its measures, each with its name; its own name last, since that may be long."""
    parts = [f"pid {thing.pid}"] if thing.pid is not None else []
    for name, text in SAID.items():
        value = getattr(thing, name)
        if value is None:
            continue
        if name == "cpu" and kind == "gpu":
            name = "busy"  # noqa: PLW2901 - the device's own word
        parts.append(text(value) if name == "state" else f"{name.replace('_', ' ')} {text(value)}")
    return "  ".join([*parts, clean(thing.name)])


def endings(panel: Panel, told: int) -> list[str]:
    """Those that have ended since so many were told."""
    fresh = panel.ended[: max(0, panel.gone - told)]
    return [
        f"{clean(panel.what)}  pid {thing.pid}  ended after {span(thing.age)}  "
        f"peak {amount(thing.peak)}"
        + (f"  gpu {amount(thing.gpu)}" if thing.gpu else "")
        + f"  {clean(thing.name)}"
        for thing in reversed(fresh)
    ]


# --- JSON -----------------------------------------------------------------------------------


def as_json(frame: Frame) -> dict[str, Any]:
    """One object of one moment."""
    return {
        "schema": SCHEMA,
        "time": stamp(frame.stamp),
        "seconds": round(frame.seconds, 3),
        "panels": [_panel_json(panel) for panel in frame.panels],
    }


def _panel_json(panel: Panel) -> dict[str, Any]:
    return {
        "what": panel.what,
        "kind": panel.kind,
        "message": panel.message,
        "count": panel.number,
        "things": [_thing(thing) for thing in panel.things],
        "sum": _thing(panel.total) if panel.total is not None else None,
        "ended": [_thing(thing) for thing in panel.ended],
        "lines": [line.text for line in panel.lines],
        "changed": panel.changed,
    }


def _thing(thing: Thing) -> dict[str, Any]:
    return {name: _rounded(getattr(thing, name)) for name in MEASURES}


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


# --- CSV ------------------------------------------------------------------------------------


class CsvFile:
    """Rows at the end of a file. A full disk is told, and tried again the next time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.trouble = ""
        self._broken = False  # the last row is not whole
        # A pipe or a device has no beginning that could be read.
        self._kept = not os.path.exists(path) or os.path.isfile(path)
        way = os.O_RDWR if self._kept else os.O_WRONLY
        try:
            self._fd = os.open(path, way | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise ZeroinError(
                f"--csv {path}: {(error.strerror or '').lower()}",
                hint="give a file that can be written to",
            ) from None
        header = ",".join(COLUMNS)
        start = os.pread(self._fd, 1 << 12, 0) if self._kept else b""
        found = start.partition(b"\n")[0].decode("utf-8", "replace")
        if found and found.rstrip("\r") != header:
            os.close(self._fd)
            raise UsageError(
                f"--csv {path}: it has other columns already", hint="give another file"
            )
        if not found:
            self._write(header + "\n")

    def add(self, frame: Frame) -> None:
        """The things of one moment."""
        at, seconds = stamp(frame.stamp), f"{frame.seconds:.3f}"
        rows = [
            ",".join(map(_cell, (at, seconds, panel.what, panel.kind, *_values(thing))))
            for panel in frame.panels
            for thing in panel.things
        ]
        if rows:
            self._write("\n".join(rows) + "\n")

    def close(self) -> None:
        """All is written already."""
        os.close(self._fd)

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        if self._broken:
            data = b"\n" + data
        try:
            while data:  # a write that is cut short is told by the one after it
                data = data[os.write(self._fd, data) :]
            self.trouble, self._broken = "", False
        except OSError as error:
            self.trouble = f"--csv {self.path}: {(error.strerror or str(error)).lower()}"
            self._broken = self._broken or self._ends_within_a_row()

    def _ends_within_a_row(self) -> bool:
        if not self._kept:
            return False
        size = os.fstat(self._fd).st_size
        return size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"


def _values(thing: Thing) -> list[Any]:
    return [_rounded(getattr(thing, name)) for name in MEASURES]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = str(value)
    if any(c in text for c in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


# --- afterwards -----------------------------------------------------------------------------


def local(at: float) -> str:
    """`18:20:31`."""
    return words.when(at, time.time())

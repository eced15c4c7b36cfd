"""Line numbers and source lines that the program itself has seen.

An edit that only moves lines changes nothing, except for who looks at lines: a traceback that
was printed, a warning, a log format with `%(lineno)d`, code that looks at its own frames. What
was seen is noted with its time, and must be the same in the new text.
"""

from __future__ import annotations

import os
import sys

from . import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..source import edits

# Parts of the standard library that look at a frame for its module's name alone.
NAMES_ONLY = ("collections", "enum", "typing", "abc", "dataclasses", "functools", "types")
DEEP = 200  # frames that are noted at one look

_lines: dict[tuple[str, int, bool], int] = {}  # file, line, whether by logging → first seen when
_texts: dict[str, int] = {}  # file → when its text as a whole was first looked at


def looked_at_frames() -> None:
    """Somebody asks for a frame."""
    if steps.inside:
        return
    asks: Any = sys._getframe(1)
    while asks is not None and asks.f_globals.get("__name__", "").endswith(
        (".entry", ".sightings")
    ):
        asks = asks.f_back
    if asks is None or asks.f_globals.get("__name__", "").startswith("_zeroin_agent"):
        return
    asks = reader()
    name = asks.f_globals.get("__name__", "") if asks is not None else ""
    if name in NAMES_ONLY or name.startswith("importlib"):
        return
    _note_stack(asks, name == "logging")


def read_source(path: str) -> None:
    """A source file that is stepped was opened: a traceback is about to be shown, perhaps."""
    if path in steps.files and not steps.inside:
        asks = frame = reader()
        while frame is not None:
            if frame.f_globals.get("__name__") == "inspect":
                _texts.setdefault(path, steps.clock())
            frame = frame.f_back
        _note_stack(asks, logged=False)
        trace: Any = sys.exc_info()[2] or getattr(sys, "last_traceback", None)
        while trace is not None:
            _note(trace.tb_frame, trace.tb_lineno, logged=False)
            trace = trace.tb_next


def read_code(function: Any) -> None:
    """The code of a function is looked at, and with it its first line."""
    code = function.__code__
    _lines.setdefault((code.co_filename, code.co_firstlineno, False), steps.clock())


def reader() -> Any:
    """The frame that asks, if it is not one of ours."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("_zeroin_agent"):
        frame = frame.f_back
    return frame


def _note_stack(frame: Any, logged: bool) -> None:
    mine = steps.filenames  # to find out a frame's line takes long
    for _ in range(DEEP):
        if frame is None:
            return
        if frame.f_code.co_filename in mine:
            _note(frame, frame.f_lineno, logged)
        frame = frame.f_back


def _note(frame: Any, line: int, logged: bool) -> None:
    _lines.setdefault((frame.f_code.co_filename, line, logged), steps.clock())


# --- is it still so? ----------------------------------------------------------------------------


def moved(filename: str, comparison: edits.Comparison, source: bytes) -> list[tuple[int, str]]:
    """What of a file was seen and is elsewhere or reads otherwise now."""
    seen = {
        line: when
        for (name, line, logged), when in _lines.items()
        if name == filename and (not logged or _logs_lines())
    }
    for line in _held(filename):
        seen.setdefault(line, steps.last_snapshot())
    for line, when in _warned(filename):
        seen.setdefault(line, when)
    path = os.path.abspath(filename)
    if path in _texts:
        return [(_texts[path], f"{comparison.name} was changed, and its text had been looked at")]
    if not seen:
        return []
    places = _places(comparison)
    before, after = comparison.old.source.split(b"\n"), source.split(b"\n")
    found = []
    for line, when in seen.items():
        now = places.get(line, line)
        same = now == line and before[line - 1 : line] == after[line - 1 : line]
        if not same:
            what = f"{comparison.name}:{line} is elsewhere or reads otherwise"
            found.append((when, f"{what}, and its line had been shown"))
    return found


def _held(filename: str) -> list[int]:
    """Lines in tracebacks that exist: on older interpreters they keep their numbers."""
    if sys.version_info >= (3, 11):
        return []
    import gc

    gc.unfreeze()  # a snapshot's objects are frozen, and would not be found
    found = [
        thing.tb_lineno
        for thing in gc.get_objects()
        if type(thing).__name__ == "traceback" and thing.tb_frame.f_code.co_filename == filename
    ]
    gc.freeze()
    return found


def _places(comparison: edits.Comparison) -> dict[int, int]:
    """Where each line of the old text that begins something is in the new one."""
    from ..source import nodes

    places: dict[int, int] = {}
    left = list(comparison.pairs)
    while left:
        old, new = left.pop()
        if hasattr(old, "lineno") and hasattr(new, "lineno"):
            places.setdefault(old.lineno, new.lineno)
            places.setdefault(old.end_lineno, new.end_lineno)
        left += list(zip(nodes.children(old), nodes.children(new)))
    return places


def _warned(filename: str) -> list[tuple[int, int]]:
    """Lines that warnings were given for; when, is not known."""
    found = []
    for module in list(sys.modules.values()):
        space = getattr(module, "__dict__", None)
        if isinstance(space, dict) and space.get("__file__") == filename:
            registry = space.get("__warningregistry__") or {}
            found += [(key[-1], 0) for key in registry if isinstance(key, tuple) and len(key) > 2]
    return found


def _logs_lines() -> bool:
    """Whether any log format shows line numbers, or may."""
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return False
    for reference in list(getattr(logging, "_handlerList", ())):
        handler = reference() if callable(reference) else None
        formatter = getattr(handler, "formatter", None)
        if formatter is None:
            continue
        if type(formatter) is not logging.Formatter or "lineno" in (formatter._fmt or ""):
            return True
    return False

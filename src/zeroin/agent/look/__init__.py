"""The library: what a program may call to look at itself, `from zeroin import peek, section, log`.

Each name is loaded when it is first asked for, so that a program pays for what it uses.
`peeks` is where a value is shown (`calls` and `sources` find the text of its expression, `out`
writes the line); `timing` has the sections (`spans` measures, `memory`, `gpu` and `growth` read
the counters, `table` prints them); `logs` sets the standard `logging` up, and `tap` takes the
records of a program that did not ask for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .logs import log
    from .peeks import peek
    from .timing import section, sections

__all__ = ["log", "peek", "section", "sections"]

HOMES = {"log": "logs", "peek": "peeks", "section": "timing", "sections": "timing"}


def __getattr__(name: str) -> Any:
    home = HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value

"""numpy: the first line at which it said that a value is invalid, or divided by zero.

numpy says so itself, by a warning; it is passed on as it was. What a program has silenced by
`numpy.errstate` stays silent: its author knows.
"""

from __future__ import annotations

import os
import sys
import time

from .. import post, summary
from . import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WHAT = {"invalid value": "NaN", "divide by zero": "inf", "overflow": "inf"}
MOST = 5
LOCALS = 12
_seen: list[dict[str, Any]] = []


def watch(numpy: Any) -> None:
    """Listen to the warnings that are shown."""
    import atexit
    import warnings

    atexit.register(post.send, {"kind": "nan-end", "pid": os.getpid(), "library": "numpy"})
    plain = warnings._showwarnmsg  # type: ignore[attr-defined]

    def _showwarnmsg(message: Any) -> None:
        try:
            _note(numpy, message)
        except Exception as error:
            _seen.append({"error": f"{type(error).__name__}: {error}"})
        plain(message)

    warnings._showwarnmsg = _showwarnmsg  # type: ignore[attr-defined]


def _note(numpy: Any, message: Any) -> None:
    text = str(message.message)
    kind, encountered, operation = text.partition(" encountered in ")
    if not encountered or kind not in WHAT or len(_seen) >= MOST:
        return
    if not issubclass(message.category, RuntimeWarning):
        return
    frame = places.users_frame(sys._getframe(2))
    told = {
        "kind": "nan-numpy",
        "library": "numpy",
        "pid": os.getpid(),
        "time": time.time(),
        # A logarithm of 0; of all else the sign is not told.
        "what": "-inf" if (kind, operation[:3]) == ("divide by zero", "log") else WHAT[kind],
        "text": text,
        "operation": operation,
        "frames": places.frames_from(frame),
        "arrays": _arrays(numpy, frame),
    }
    _seen.append(told)
    post.send(told)


def _arrays(numpy: Any, frame: Any) -> list[dict[str, str]]:
    """The arrays and numbers of that frame, as they are at that line."""
    if frame is None:
        return []
    kinds = (numpy.ndarray, numpy.generic, float, int)
    found = [
        (name, value)
        for name, value in list(frame.f_locals.items())
        if isinstance(value, kinds) and not isinstance(value, bool) and not name.startswith("_")
    ][:LOCALS]
    texts = summary.summarise_all(found)
    return [{"name": name, "text": text} for (name, _), text in zip(found, texts)]

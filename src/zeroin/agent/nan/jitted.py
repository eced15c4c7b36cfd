"""jax: where it says itself that a result is not finite.

What jax compiles can't be looked at from outside. Told to, it looks at each result, runs a
function that gave NaN again without compiling it, and fails at the operation that made it.
"""

from __future__ import annotations

import os
import sys
import time

from .. import crash, post, summary
from . import arrays, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .start import Settings

WHAT = {"invalid value (nan)": "NaN", "invalid value (inf)": "inf"}
GOES_ON = "jax fails at the first NaN, so a program that is to go on is not looked at"


def watch(jax: Any, settings: Settings) -> None:
    """Tell jax to look, and at the end see what it has said."""
    import atexit

    told = {"kind": "nan-end", "pid": os.getpid(), "library": "jax"}
    if settings.go_on:
        atexit.register(post.send, {**told, "error": GOES_ON})
        return
    jax.config.update("jax_debug_nans", True)
    if settings.inf:
        jax.config.update("jax_debug_infs", True)
    atexit.register(post.send, told)
    atexit.register(_at_exit)


def _at_exit() -> None:
    error = getattr(sys, "last_value", None)
    kind, encountered, operation = str(error).partition(" encountered in ")
    if not isinstance(error, FloatingPointError) or not encountered or kind not in WHAT:
        return
    frames, innermost = _frames(error.__traceback__)
    post.send(
        {
            "kind": "nan-numpy",
            "library": "jax",
            "pid": os.getpid(),
            "time": time.time(),
            "what": WHAT[kind],
            "text": str(error),
            "operation": operation,
            "frames": frames,
            "arrays": _values(innermost),
        }
    )


def _frames(tb: Any) -> tuple[list[dict[str, Any]], Any]:
    """Describe the user's own frames of a traceback; and give the innermost."""
    found: list[dict[str, Any]] = []
    innermost: Any = None
    while tb is not None:
        if places.users_frame(tb.tb_frame) is tb.tb_frame:
            innermost = tb.tb_frame
            found.append(crash.frame_of(innermost, tb.tb_lineno, tb.tb_lasti))
        tb = tb.tb_next
    del found[: -places.FRAMES]
    for one in found[-3:]:
        crash.add_source(one)
    return found, innermost


def _values(frame: Any) -> list[dict[str, str]]:
    """Arrays of that frame; those that are being differentiated have no numbers of their own."""
    named = list(frame.f_locals.items()) if frame is not None else []
    found = [
        (name, value)
        for name, value in named
        if type(value).__module__.partition(".")[0] in ("jax", "jaxlib", "numpy")
        and hasattr(value, "shape")
        and not name.startswith("_")
    ][: arrays.LOCALS]
    texts = summary.summarise_all(found, signs=True)
    return [{"name": name, "text": text} for (name, _), text in zip(found, texts)]

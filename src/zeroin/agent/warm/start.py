"""Begin to step, if the driver asked for it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_is_try = False  # one of many runs, of which only the end counts


def install(order: Mapping[str, Any]) -> None:
    """Begin as the order says; called once by the agent's hooks, before the user's code."""
    global _is_try  # noqa: PLW0603 - a process is one or is none
    folder, place = order["folder"], order["park"]
    from ..cpython import tested

    if reason := tested.why_not_stepped():
        if folder != "-":
            from . import line

            line.say(folder, {"kind": "gate", "at": "", "reason": reason})
        return
    from .stepping import entry, steps
    from .used import inputs, uses

    if sys.pycache_prefix:  # what is there is as little an input as what is in __pycache__
        inputs.ignore(sys.pycache_prefix)
    inputs.install(steps.clock)
    if order["profiled"]:
        from . import profile

        profile.begin()
    if folder == "-":
        steps.install(None)
    else:
        from . import resume

        resume.begin(folder)
        if place:
            from . import standby

            standby.begin(folder, place)
        else:
            steps.install(resume.snapshot)
        if order["before"]:  # one snapshot, and that only before these are used
            steps.wait(resume.NEVER)
            uses.before_first_use(tuple(order["before"]), lambda: steps.pause(always=True))
        _is_try = order["is_try"]
    entry.install(order["most_hooks"])


def at_end() -> None:
    """The program has ended, but for its last destructors."""
    from . import resume
    from .stepping import steps

    steps.end()
    resume.at_end()
    if _is_try:
        _end_quickly()


# --- the end of a try ---------------------------------------------------------------------------


def _end_quickly() -> None:
    """Without freeing what is there: of a large program that takes longer than all else.

    Its last destructors don't run then, so this is only for tries: a whole run confirms them.
    """
    import os

    from .fork import native
    from .stepping import entry

    if entry.ends_with is None:
        _free_nothing()
        return
    try:
        for name in ("stdout", "stderr"):
            getattr(sys, name).flush()
        native.flush_stdio()
    except Exception:  # closed, or a full disk: then the code is another one
        _free_nothing()
        return
    os._exit(entry.ends_with)


def _free_nothing() -> None:
    """With which code it ends, only the interpreter knows: let it end, but out of reach of all."""
    import gc

    kept = [*sys.modules.values()]
    kept.append(kept)  # type: ignore[arg-type]  # so that it holds itself,
    gc.freeze()  # and nobody looks whether it is still needed
    sys.modules.clear()

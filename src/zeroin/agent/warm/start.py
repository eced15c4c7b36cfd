"""Begin to step, if the driver asked for it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

_is_try = False
_left: list[tuple[Any, int]] = []  # what `sys.exit` was given, and when


def install(environ: MutableMapping[str, str]) -> None:
    """Called once by the agent's hooks, before the user's code."""
    folder = environ.pop("ZEROIN_WARM")  # the program's children run as they are
    place = environ.pop("ZEROIN_WARM_PARK", "")
    before = environ.pop("ZEROIN_WARM_BEFORE", "")
    is_try = bool(environ.pop("ZEROIN_WARM_TRY", ""))
    from .stepping import entry, steps
    from .used import inputs, uses

    if sys.pycache_prefix:  # what is there is as little an input as what is in __pycache__
        inputs.ignore(sys.pycache_prefix)
    inputs.install(steps.clock)
    if environ.pop("ZEROIN_WARM_PROFILE", ""):
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
        if before:  # one snapshot, and that only before these are used
            steps.wait(resume.NEVER)
            uses.before_first_use(tuple(before.split("\n")), lambda: steps.pause(always=True))
        if is_try:
            _be_a_try()
    entry.install()


def at_end() -> None:
    """The program has ended, but for its last destructors."""
    from . import resume
    from .stepping import steps

    steps.end()
    resume.at_end()
    if _is_try:
        _end_at_once()


# --- the end of a try ---------------------------------------------------------------------------


def _be_a_try() -> None:
    """One of many runs, of which only the end counts: no time is to be lost with freeing."""
    global _is_try  # noqa: PLW0603 - a process is one or is none
    _is_try = True
    plain = sys.exit

    def leave(status: Any = None, /) -> None:
        from .stepping import steps

        _left.append((status, steps.clock()))
        plain(status)

    sys.exit = leave  # type: ignore[assignment]


def _end_at_once() -> None:
    """Leave without freeing what is there: of a large program that takes longer than all else.

    Its last destructors don't run then, so this is only for tries: a whole run confirms them. Where
    it can't be told how it ends, it ends as it would.
    """
    import os

    from .fork import native

    code = _code()
    if code is None:
        return
    try:
        for name in ("stdout", "stderr"):
            getattr(sys, name).flush()
        native.flush_stdio()
    except Exception:  # closed, or a full disk: then it does not end like this
        return
    os._exit(code)


def _code() -> int | None:
    """With which code the program ends; None if nobody knows."""
    from .stepping import steps

    if isinstance(getattr(sys, "last_value", None), BaseException):
        return 1
    if any(b"SystemExit" in file.current.source for file in steps.files.values()):
        return None
    if not _left:
        return 0
    status, when = _left[-1]
    if when != steps.clock():  # it has gone on after that
        return None
    if status is None:
        return 0
    return status & 0xFF if isinstance(status, int) else None

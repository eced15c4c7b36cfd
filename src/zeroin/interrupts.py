"""Ctrl-C while the command itself comes up or ends: nothing to lose, and nothing to say."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` takes longer to load than we have
import os

INTERRUPTED = 130  # as in `errors`, which is not loaded yet


def end_quietly_at_interrupt() -> None:
    """Let Ctrl-C end us without a word; a background job, which is deaf to it, stays so."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def raise_at_interrupt() -> None:
    """Let Ctrl-C be an exception again: from here on a verb may have something to tidy up."""
    if _signal.getsignal(_signal.SIGINT) is _end:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)

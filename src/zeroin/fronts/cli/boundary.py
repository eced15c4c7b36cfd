"""The one place where errors end: a message, a next step, an exit code."""

from __future__ import annotations

import errno
import os
import sys

from zeroin.errors import BUG, INTERRUPTED, ZeroinError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CANT_WRITE = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT)


def guard(verb: Callable[[], int], args: list[str]) -> int:
    """Run a verb."""
    try:
        code = verb()
        sys.stdout.flush()
        return code
    except ZeroinError as error:
        return _say(error)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _has_lost_reader(1):
            # `zeroin log | head`: the reader has seen enough. Python would complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 0
        if isinstance(error, OSError) and error.errno in _CANT_WRITE and not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return _say(ZeroinError(f"can't write the answer: {error.strerror}"))
        return _bug(error, args)


def _has_lost_reader(descriptor: int) -> bool:
    """Tell whether nobody reads any more what is written there; other pipes break, too."""
    import select

    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _say(error: ZeroinError) -> int:
    sys.stderr.write(f"zeroin: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  {error.hint}\n")
    return error.exit_code


def _bug(error: Exception, args: list[str]) -> int:
    """Write a report that can be pasted as it is."""
    import platform
    import traceback

    from zeroin import __version__

    report = (
        f"zeroin {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"zeroin {' '.join(args)}\n\n{traceback.format_exc()}"
    )
    path = _write(report)
    sys.stderr.write(f"zeroin: this is a bug in zeroin, not in your program: {error!r}\n")
    sys.stderr.write(f"  what to attach when reporting it: {path}\n" if path else report)
    return BUG


def _write(report: str) -> str | None:
    from zeroin.record.place import state_home

    folder = state_home(os.environ)
    path = os.path.join(folder, "bug.txt")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except OSError:
        return None
    return path

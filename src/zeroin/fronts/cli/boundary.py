"""The one place where errors end: a message, a next step, an exit code."""

from __future__ import annotations

import errno
import os
import sys

from zeroin.errors import BUG, INTERRUPTED, ZeroinError
from zeroin.interrupts import end_quietly_at_interrupt

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
        end_quietly_at_interrupt()  # at a second one, while we end because of the first
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
    from zeroin.fronts.words import put

    put(f"zeroin: {error.message}", sys.stderr)
    if error.hint:
        put(f"  {error.hint}", sys.stderr)
    return error.exit_code


def _bug(error: Exception, args: list[str]) -> int:
    """Write a report that can be pasted as it is."""
    import platform
    import traceback

    from zeroin import __version__
    from zeroin.common import secrets
    from zeroin.fronts.words import put

    hidden: list[str] = []
    words = _without_secrets(args, hidden)
    known = [*hidden, *secrets.of_environment(os.environ)]
    report = (
        f"zeroin {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"zeroin {secrets.mask(' '.join(words), known)}\n\n"
        f"{secrets.mask(traceback.format_exc(), known)}"
    )
    path = _write(report)
    said = secrets.mask(repr(error), known)
    put(f"zeroin: this is a bug in zeroin, not in your program: {said}", sys.stderr)
    put(f"  what to attach when reporting it: {path}" if path else report, sys.stderr)
    return BUG


def _without_secrets(args: list[str], hidden: list[str]) -> list[str]:
    """The words as they may be shown; what is hidden is added to a list, to be looked for."""
    from zeroin.common import secrets

    def hide(value: str) -> str:
        hidden.append(value)
        return secrets.MASK

    words = []
    for before, word in zip(["", *args], args, strict=False):
        name, equals, value = word.removeprefix("--env=").partition("=")
        if equals and value and (before == "--env" or word.startswith("--env=")):
            is_hidden = secrets.is_secret_variable(name)
            words.append(word[: -len(value)] + hide(value) if is_hidden else word)
        else:
            words.append(word)
    return secrets.mask_words(words, hide)


def _write(report: str) -> str | None:
    import contextlib

    from zeroin.record.place import state_home

    folder = state_home(os.environ)
    path = os.path.join(folder, "bug.txt")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        # For us alone, also where a report of ours lay that others could read, or a link does.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except OSError:
        return None
    return path

"""`log.get(__name__)`: the standard `logging`, set up once, for the terminal and for a file.

On the terminal a line is short; in the file it has everything: the time with its zone, level,
place, process, thread and rank. Both are written a record at a time, so that processes which
share them never mix. Handlers that the program has itself, before or after, stay what they are,
and where one of them writes to the terminal already, ours is silent: no line comes twice.
"""

from __future__ import annotations

import logging
import os
import sys
import time

from .. import asked, owner
from ..common import secrets
from . import out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COLOURS = {"DEBUG": "\x1b[2m", "WARNING": "\x1b[33m", "ERROR": "\x1b[31m", "CRITICAL": "\x1b[1;31m"}
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
END = "\x1b[0m"
MARK = "_zeroin_log"  # on our handlers, which another copy of this module may have made


def level_of(name: Any) -> int:
    """Read a level: `debug`, `INFO`, 15."""
    text = str(name).strip().upper()
    text = {"WARN": "WARNING", "FATAL": "CRITICAL"}.get(text, text)
    if text.isdecimal():
        return int(text)
    if text not in LEVELS:
        raise ValueError(f"no level {name!r}: {', '.join(LEVELS).lower()} or a number")
    return int(getattr(logging, text))


# --- lines -----------------------------------------------------------------------------------


def short(record: Any, painted: bool) -> str:
    """`12:03:04 INFO train: message`."""
    stamp = time.strftime("%H:%M:%S", time.localtime(record.created))
    name = record.module if record.name == "__main__" else record.name
    head = f"{stamp} {record.levelname}"
    if painted:
        head = f"{COLOURS.get(record.levelname, '')}{head}{END}"
    return f"{head} {out.label()}{name}: {_message(record)}"


def full(record: Any) -> str:
    """Everything, for a file: `2026-11-16T12:03:04.123+0100 INFO train.py:12 main …`."""
    moment = time.localtime(record.created)
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}.{int(record.msecs):03d}"
    stamp += time.strftime("%z", moment)
    place = f"{record.filename}:{record.lineno} {record.funcName}".replace(" <module>", "")
    number = out.rank()
    who = [f"rank {number}"] * bool(number)
    who += [f"{record.processName or 'process'} {record.process}", str(record.threadName)]
    name = record.module if record.name == "__main__" else record.name
    line = f"{stamp} {record.levelname:<8} {name}  {place}  [{' · '.join(who)}]  "
    return secrets.mask_found(secrets.mask_forms(line + _message(record), _forms()))


def _message(record: Any) -> str:
    """Give the message with its traceback, as the standard formatter would."""
    try:
        text = str(record.getMessage())
    except Exception as error:  # the arguments don't fit: logging itself prints that and goes on
        text = f"{record.msg!r} with {record.args!r}: {type(error).__name__}: {error}"
    if record.exc_info and not record.exc_text:
        record.exc_text = _formatter.formatException(record.exc_info)
    text += f"\n{record.exc_text}" if record.exc_text else ""
    return text + (f"\n{record.stack_info}" if record.stack_info else "")


_formatter = logging.Formatter()
_known: list[str] | None = None


def _forms() -> list[str]:
    """What must not reach a file: the secrets of the environment."""
    global _known  # noqa: PLW0603 - one environment a process
    if _known is None:
        _known = secrets.forms_of(secrets.of_environment(os.environ))
    return _known


# --- handlers ----------------------------------------------------------------------------------


class Terminal(logging.Handler):
    """Short lines on stderr, unless a handler of the program's own writes there."""

    def emit(self, record: Any) -> None:
        """One record, one write."""
        try:
            if _is_noise(record) or _is_said(record):
                return
            text = short(record, _paints())
            out.to_stderr(text, (text + "\n").encode("utf-8", "backslashreplace"))
        except Exception:
            self.handleError(record)


class File(logging.Handler):
    """Full lines at the end of a file that other processes may write to as well."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.fd = out.open_file(path)

    def emit(self, record: Any) -> None:
        """One record, one write."""
        try:
            data = (full(record) + "\n").encode("utf-8", "backslashreplace")
            if self.fd < 0:  # `dictConfig` closes every handler there is
                self.fd = out.open_file(self.path)
            # In one piece: the kernel keeps what is appended to a file together.
            out.append(self.fd, data)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Let go of the file."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        super().close()


def _paints() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return bool(sys.stderr.isatty())
    except Exception:
        return False


def _is_noise(record: Any) -> bool:
    """Whether it is a detail of somebody else's library: those are in the file."""
    return record.levelno < logging.INFO and not owner.is_users(record.pathname)


def _is_said(record: Any) -> bool:
    """Whether a handler of the program's own writes this record to a terminal or to stderr."""
    logger: Any = logging.getLogger(record.name)
    while logger is not None:
        for handler in logger.handlers:
            if _is_loud(handler) and record.levelno >= handler.level:
                return True
        logger = logger.parent if logger.propagate else None
    return False


def _is_loud(handler: Any) -> bool:
    if hasattr(handler, MARK):
        return False
    stream = getattr(handler, "stream", None)
    if stream is not None:
        return stream in (sys.stderr, sys.stdout, sys.__stderr__, sys.__stdout__)
    return type(handler).__name__ == "RichHandler"


# --- setting up ----------------------------------------------------------------------------------


class Default(int):
    """A level that nobody has chosen."""


class Yields(logging.Filter):
    """Has a logger take what is at least `info`, until the program sets logging up itself."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__()
        self.logger = logger
        logger.setLevel(Default(logging.INFO))
        logger.addFilter(self)

    def filter(self, record: Any) -> bool:
        """Let a record pass; the first one after that goes by what the program has said."""
        if not logging.root.handlers or type(self.logger.level) is not Default:
            return True
        self.logger.setLevel(logging.WARNING if self.logger is logging.root else logging.NOTSET)
        return self.logger.isEnabledFor(record.levelno)


def _is_left_alone(logger: logging.Logger) -> bool:
    """Whether nobody has said what it takes, so that Python's own default counts."""
    root = logging.root
    is_default = root.level in (logging.NOTSET, logging.WARNING) and not _above().level
    if root.handlers or not is_default:
        return False
    return logger is root or logger.getEffectiveLevel() == root.level


class Log:
    """`log`: get a logger, and say where records go and which."""

    def __init__(self) -> None:
        self._is_set_up = False

    def get(self, name: str | None = None) -> logging.Logger:
        """Give the standard logger of that name; the first time, set logging up."""
        self._set_up()
        logger = logging.getLogger(None if name == "root" else name)
        if _is_left_alone(logger):
            Yields(logger)
        return logger

    def level(self, level: Any) -> None:
        """Take what is at least this: `debug`, `info`, `warning`, `error`, or a number."""
        number = level_of(level)
        self._set_up()
        logging.root.setLevel(number)
        _above().setLevel(number)
        for logger in logging.root.manager.loggerDict.values():
            if type(getattr(logger, "level", None)) is Default:
                logger.setLevel(logging.NOTSET)  # type: ignore[union-attr]

    def to(self, path: Any) -> None:
        """Write to this file as well, at its end; `{rank}` in its name makes one a rank."""
        self._set_up()
        self._to(path, "log.to")

    def _to(self, path: Any, asked: str) -> None:
        had = _ours("file")
        try:
            name = os.path.abspath(os.fspath(path))
            if any(one.path == name for one in had):
                return
            _add(File(name), "file")
        except (OSError, ValueError, TypeError) as error:
            reason = getattr(error, "strerror", None) or error
            note = f"zeroin: {asked}: {path}: {reason}: no file is written"
            out.to_stderr(note, note.encode("utf-8", "backslashreplace") + b"\n")
            return
        for old in had:
            _above().removeHandler(old)
            old.close()

    def _set_up(self) -> None:
        if self._is_set_up:
            return
        self._is_set_up = True
        if not _ours("terminal"):
            _add(Terminal(), "terminal")
        wanted = asked.order.get("log") or os.environ.get("ZEROIN_LOG", "")
        try:
            if wanted:
                self.level(wanted)
        except ValueError as error:
            note = f"zeroin: ZEROIN_LOG: {error}"
            out.to_stderr(note, note.encode() + b"\n")
        path = os.environ.get("ZEROIN_LOG_FILE")
        if path:
            self._to(path, "ZEROIN_LOG_FILE")

    def __repr__(self) -> str:
        return "<zeroin.log: get(name), level(name), to(path)>"


def _above() -> logging.Logger:
    """Give the logger above the root, where every record arrives at last.

    The root itself stays empty: `basicConfig` does nothing where it finds a handler.
    """
    root = logging.root
    if root.parent is None:
        root.parent = logging.Logger("zeroin")  # noqa: LOG001 - nobody gets it by its name
    return root.parent


def _add(handler: logging.Handler, kind: str) -> None:
    setattr(handler, MARK, kind)
    _above().addHandler(handler)


def _ours(kind: str) -> list[Any]:
    return [one for one in _above().handlers if getattr(one, MARK, "") == kind]


log = Log()

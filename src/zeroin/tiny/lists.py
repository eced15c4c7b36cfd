"""A JSON list, element by element: as much of the text is held as one element takes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol

from zeroin.tiny.rows import Frame, Row, UnreadableError, framed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zeroin.axes.payload.tree import Codec
    from zeroin.tiny.rows import Rows

PIECE = 1 << 16  # characters that are read at once, at least
CLOSE = 40  # characters before the end of what is held, where it may be cut in two
_SPACE = re.compile(r"[ \t\n\r]*")
_START = re.compile(r"\s*\[\s*")
_decode = json.JSONDecoder().raw_decode


class Readable(Protocol):
    """A text that comes piece by piece."""

    def read(self, count: int, /) -> str:
        """So many characters, fewer at the end."""


def is_list(start: str) -> bool:
    """Whether a text that begins so may be one: by its first element, if that is all there."""
    found = _START.match(start)
    if found is None:
        return False
    rest = start[found.end() :]
    if not rest or rest.startswith("]"):
        return True
    try:
        end = _decode(rest, 0)[1]
    except RecursionError:
        return False
    except ValueError:
        return rest[0] in '{["' and len(start) >= PIECE  # it may end beyond
    return rest[end:].lstrip()[:1] in ("", ",", "]")


def json_list(file: Readable, codec: Codec) -> Rows:
    """The elements; what is between the first two will be between all of them."""
    frame = Frame("[", ", ", "]\n")
    return framed("JSON", "item", _Elements(file, frame).rows(), codec, frame)


class _Elements:
    """The text from where the last thing was found that is still needed."""

    def __init__(self, file: Readable, frame: Frame) -> None:
        self._file = file
        self._frame = frame
        self._text = ""
        self._start = 0  # what is before is not needed any more
        self._at = 0
        self._is_end = False

    def rows(self) -> Iterator[Row]:
        """Each element, as it is written."""
        self._skip(0)
        self._skip(1)  # the bracket
        head = self._frame.head = self._taken()
        self._frame.tail = "\n]\n" if "\n" in head else "]\n"  # if nobody reads to the end
        is_first = True
        while self._here() not in ("]", ""):
            value = self._value()
            yield Row(self._taken(), value)
            self._skip(0)
            if self._here() == ",":
                self._skip(1)
                joint = self._taken()
                self._frame.joint = joint if is_first else self._frame.joint
                if self._here() == "]":
                    raise _broken("a comma and nothing behind it")
            elif self._here() != "]":
                raise _broken("a comma, or its end, is missing")
            is_first = False
        if not self._here():
            raise _broken("its end is missing")
        self._skip(1)
        if self._here():
            raise _broken("there is something behind it")
        self._frame.tail = self._taken()

    def _value(self) -> Any:
        """The value that begins here; then we are behind it."""
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._is_wrong(error) or not self._more():
                    raise _broken(str(error)) from None
                continue
            behind = _space(self._text, end)
            follows = self._text[behind : behind + 1]
            is_whole = follows in (",", "]") or len(self._text) - end > CLOSE
            length = end - self._at
            if is_whole or not self._more():  # the number 1.5 begins as 1 does
                self._at += length
                return value

    def _is_wrong(self, error: ValueError | RecursionError) -> bool:
        """Whether more of the text would not help: it is not at the end that it is wrong."""
        if not isinstance(error, json.JSONDecodeError):
            return True
        return error.pos < len(self._text) - CLOSE and "Unterminated" not in error.msg

    def _skip(self, count: int) -> None:
        """Go on, and to the next thing that is no space."""
        self._at = _space(self._text, self._at + count)
        while self._at >= len(self._text) and self._more():
            self._at = _space(self._text, self._at)

    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _taken(self) -> str:
        """What is between the last thing and here."""
        taken = self._text[self._start : self._at]
        self._start = self._at
        return taken

    def _more(self) -> bool:
        """As much again as is held, so that a long element is not looked at too often."""
        self._text = self._text[self._start :]
        self._at -= self._start
        self._start = 0
        piece = "" if self._is_end else self._file.read(max(PIECE, len(self._text)))
        self._is_end = not piece
        self._text += piece
        return bool(piece)


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _broken(why: str) -> UnreadableError:
    return UnreadableError(f"it begins as JSON, and is none: {why}")

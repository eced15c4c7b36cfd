r"""What strace writes, read as data.

One record a line: `PID SECONDS name(arguments) = result`. A call that another thread's line
interrupts is written in two halves. Text is in quotes or, for what a descriptor stands for, in
angle brackets, both escaped as in C: `\n`, `\"`, `\303\251`.
"""

from __future__ import annotations

import re

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(rb"(\d+) +(\d+\.\d+) (.*)")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|(?<=[0-9A-Z])<(?:[^>\\]|\\.)*>')
_RESULT = re.compile(r"\)\s+= ")
_ERROR = re.compile(r"-1 (E[A-Z0-9]+)\b")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))")
_PLAIN = {"n": 10, "t": 9, "r": 13, "v": 11, "f": 12, "a": 7, "b": 8}
_SIZE = b"AT_EMPTY_PATH) = 0"  # fstat, which comes with each open and says nothing more
_UNFINISHED = " <unfinished ...>"


class Call(NamedTuple):
    """One system call that came back."""

    pid: int  # of the thread
    time: float
    name: str
    args: list[str]  # as strace shows them
    result: str
    error: str = ""  # "ENOENT"; "" where it succeeded


class Signal(NamedTuple):
    """A signal that was delivered."""

    pid: int
    time: float
    name: str
    about: str


class Exit(NamedTuple):
    """The end of a thread; the last one's is that of its process."""

    pid: int
    time: float
    code: int | None = None
    signal: str = ""


class Reader:
    """Reads what has been written so far, piece by piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun: dict[int, tuple[float, str]] = {}

    def feed(self, data: bytes) -> Iterator[Call | Signal | Exit]:
        """All records that are whole now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            found = self._line(line)
            if found is not None:
                yield found

    def _line(self, line: bytes) -> Call | Signal | Exit | None:
        if line.endswith(_SIZE):
            return None
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        pid, time, body = int(match[1]), float(match[2]), match[3].decode("utf-8", "replace")
        if body.startswith("+++ "):
            return _exit(pid, time, body)
        if body.startswith("--- "):
            name, _, about = body[4:-4].partition(" ")
            return Signal(pid, time, name, about) if name.startswith("SIG") else None
        if body.endswith(_UNFINISHED):
            self._begun[pid] = (time, body[: -len(_UNFINISHED)])
            return None
        if body.startswith("<... "):
            time, begun = self._begun.pop(pid, (time, ""))
            body = begun + body.partition(" resumed>")[2]
        return _call(pid, time, body)


def _exit(pid: int, time: float, body: str) -> Exit | None:
    words = body.split()
    if words[1] == "exited":
        return Exit(pid, time, int(words[3]))
    return Exit(pid, time, None, words[3]) if words[1] == "killed" else None


def _call(pid: int, time: float, body: str) -> Call | None:
    """Commas and brackets inside texts are not those of the call."""
    name, bracket, _ = body.partition("(")
    hidden = _TEXT.sub(_blank, body)
    end = _RESULT.search(hidden)
    if not bracket or end is None:
        return None
    start = len(name) + 1
    result = body[end.end() :]
    error = _ERROR.match(result)
    args = _split(body[start : end.start()], hidden[start : end.start()])
    return Call(pid, time, name, args, result, error[1] if error else "")


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    return text[0] + "_" * (len(text) - 2) + text[-1]


def _split(body: str, hidden: str) -> list[str]:
    found, depth, start = [], 0, 0
    for at, char in enumerate(hidden):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            found.append(body[start:at].strip())
            start = at + 1
    last = body[start:].strip()
    return [*found, last] if last or found else []


def unquoted(text: str) -> str:
    r"""`"caf\303\251"` → café; bytes that are no UTF-8 as Python's own paths have them."""
    found = bytearray()
    at = 0
    for match in _ESCAPE.finditer(text):
        found += text[at : match.start()].encode("utf-8", "surrogateescape")
        hexa, octal, char = match.groups()
        if hexa or octal:
            found.append(int(hexa, 16) if hexa else int(octal, 8) & 0xFF)
        else:
            found += bytes([_PLAIN[char]]) if char in _PLAIN else char.encode()
        at = match.end()
    found += text[at:].encode("utf-8", "surrogateescape")
    return found.decode("utf-8", "surrogateescape")

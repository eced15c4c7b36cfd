"""The panels of text: what a command prints each time, and what is added to a file."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import time

from zeroin.run.repeated import Repeated
from zeroin.tools.watch.things import Line, Panel, Thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
LINES = 200  # that are kept
LONGEST = 2000  # characters of a line
TAIL = 1 << 16  # bytes of a file's end
FRESH = 5.0  # seconds that an added line counts as new


class Command:
    """Runs it again and again; what has changed since the run before is marked."""

    kind = "command"

    def __init__(self, words: Sequence[str], interval: float) -> None:
        self.what = shlex.join(words) if len(words) > 1 else words[0]
        self.repeated = Repeated(words, interval)
        self.changes = 0
        self.failures = 0
        self.columns = 80
        self.rows = 24
        self._lines: list[Line] = []
        self._text: str | None = None
        self._runs = 0

    def advance(self) -> bool:
        """Begin a run that is due; take what the present one has printed; whether it has ended."""
        due = self.repeated.due
        if due is not None and time.monotonic() >= due:
            size = {"COLUMNS": str(self.columns), "LINES": str(self.rows)}
            self.repeated.start({**os.environ, **size})
        self.repeated.take()
        result = self.repeated.last
        if result is None or self.repeated.runs == self._runs:
            return False
        self._runs = self.repeated.runs
        text = plain(result.text)
        self.failures += result.exit_code != 0
        if self._text is not None and text != self._text:
            self.changes += 1
        self._lines = marked(self._text, text)
        self._text = text
        return True

    def look(self, now: float, stamp: float) -> Panel:  # noqa: ARG002 - as the others
        """Its last output."""
        result, running = self.repeated.last, self.repeated.running_for
        message = ""
        if running is not None and (result is None or running > max(1.0, 2 * result.seconds)):
            message = f"running for {running:.0f} s"
        if result is None:  # one that takes long shows by and by what it says
            lines = marked(None, plain(self.repeated.so_far))
            return Panel(self.what, self.kind, [], message=message or "running", lines=lines)
        thing = Thing(
            self.what,
            state="ended" if running is None else "running",
            age=result.seconds,
            exit_code=result.exit_code,
        )
        if result.cut:
            message = "more than 1 MB of output: it was ended; this is the beginning"
        changed = any(any(line.marks) for line in self._lines)
        return Panel(
            self.what,
            self.kind,
            [thing],
            number=self.repeated.runs,
            message=message,
            lines=self._lines[: LINES * 5],
            changed=changed,
        )

    def forget_peaks(self) -> None:
        """What has changed until now is known."""
        self._lines = [Line(line.text) for line in self._lines]

    def close(self) -> None:
        """End it."""
        self.repeated.close()


def plain(text: str) -> str:
    """Without colours and movements; of a line that is written over again, the last version."""
    lines = ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    lines = [line.rstrip("\r").rpartition("\r")[2].expandtabs()[:LONGEST] for line in lines]
    return "\n".join(lines).rstrip("\n")


def marked(before: str | None, text: str) -> list[Line]:
    """The lines; characters that were not there before are marked."""
    lines = text.split("\n") if text else []
    if before is None or before == text:
        return [Line(line) for line in lines]
    old = before.split("\n") if before else []
    found: list[Line] = []
    matcher = difflib.SequenceMatcher(None, old[:LINES], lines[:LINES], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for offset, line in enumerate(lines[c:d]):
            if kind == "equal":
                found.append(Line(line))
            elif kind == "replace" and a + offset < b:
                found.append(Line(line, _characters(old[a + offset], line)))
            else:
                found.append(Line(line, [True] * len(line)))
    return found + [Line(line) for line in lines[LINES:]]


def _characters(old: str, line: str) -> list[bool]:
    """By position, as the eye compares columns; whole where nothing stayed in its place."""
    return [n >= len(old) or old[n] != c for n, c in enumerate(line)]


class File:
    """The end of a file that grows; it need not be there yet."""

    kind = "file"

    def __init__(self, what: str, path: str) -> None:
        self.what = what
        self.path = path
        self._lines: list[tuple[str, float]] = []
        self._place: tuple[int, int] | None = None
        self._offset = 0
        self._rest = b""
        self._rate = 0.0
        self._looked = 0.0

    def look(self, now: float, stamp: float) -> Panel:  # noqa: ARG002 - as the others
        """What was added since the last time."""
        try:
            size = self._take(now)
        except OSError as error:
            why = "waiting for it" if error.errno == 2 else (error.strerror or "").lower()
            self._place = None
            return Panel(self.what, self.kind, [], message=why)
        fresh = [now - at < FRESH and at > 0 for _, at in self._lines]
        lines = [
            Line(text, [new] * len(text)) for (text, _), new in zip(self._lines, fresh, strict=True)
        ]
        if self._rest:  # a line that is not at its end: a progress bar, for instance
            lines.append(Line(plain(self._rest.decode("utf-8", "replace"))))
        thing = Thing(self.path, used=size, rate=self._rate)
        return Panel(self.what, self.kind, [thing], number=1, lines=lines, changed=any(fresh))

    def forget_peaks(self) -> None:
        """What there is by now is known."""
        self._lines = [(text, 0.0) for text, _ in self._lines]

    def _take(self, now: float) -> int:
        with open(self.path, "rb") as file:
            found = os.fstat(file.fileno())
            place = found.st_dev, found.st_ino
            first = self._place is None
            if place != self._place or found.st_size < self._offset:  # another file, or emptied
                self._place, self._rest = place, b""
                self._offset = max(0, found.st_size - TAIL) if first else 0
            grown = found.st_size - self._offset
            if now > self._looked:
                self._rate = 0.0 if first else grown / (now - self._looked)
            self._looked = now
            skipped = grown > TAIL
            if skipped:
                self._offset, self._rest = found.st_size - TAIL, b""
            file.seek(self._offset)
            data = file.read(found.st_size - self._offset)
        self._offset += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-TAIL:]
        if (skipped or (first and self._offset > TAIL)) and whole:
            whole = whole[1:]  # the rest of a line
        at = 0.0 if first else now
        self._lines += [(plain(line.decode("utf-8", "replace")), at) for line in whole]
        self._lines = self._lines[-LINES:]
        return found.st_size

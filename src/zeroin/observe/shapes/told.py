"""What the agents of a run have written down, joined over all processes."""

from __future__ import annotations

import json

from zeroin.named import NamedTuple
from zeroin.observe.shapes import forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

NAME = "shapes"  # of the file, in the folder of the run


class Place(NamedTuple):
    """One target in the source."""

    how: str
    label: str
    function: str
    line: int
    end: int
    column: int
    several: bool


class Seen:
    """What one place has seen."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._counts: dict[str, int] = {}  # form as JSON → how often, over all processes
        self.forms: forms.Forms = ()
        self.numbers: dict[int, int] = {}  # an int, and how often
        self.fields: dict[str, set[int]] = {}  # ints of objects
        self.reached = False

    def note(self, told: Any, times: int) -> None:
        """Count a form; the first of it may be told before the counts of its process are."""
        key = json.dumps(told)
        self._counts[key] = self._counts.get(key, 0) + times

    def settle(self) -> None:
        """Join what has come in."""
        found = []
        for key, times in self._counts.items():
            told = json.loads(key)
            if told[0] == "i":
                self.numbers[told[1]] = max(times, 1)
            elif told[0] == "n":
                for name, number in told[1]:
                    self.fields.setdefault(name, set()).add(number)
            elif (form := forms.read(told, max(times, 1))) is not None:
                found.append(form)
        self.forms = forms.joined(found)


class File:
    """A source that was looked at."""

    def __init__(self, path: str, digest: str, told: dict[str, Any]) -> None:
        self.path = path
        self.digest = digest  # of the text that was run
        self.places = [Seen(Place(*one)) for one in told["places"]]
        self.functions = [(str(name), int(a), int(b)) for name, a, b in told["functions"]]
        self.left = [(str(name), int(line)) for name, line in told["left"]]
        self.is_library = bool(told.get("library"))
        self.asked = frozenset(map(str, told.get("asked", [])))  # names of --func that it answers


class Failed(NamedTuple):
    """A line at which an exception was raised or passed through."""

    path: str
    line: int
    function: str
    error: str
    operands: tuple[tuple[str, forms.Forms], ...]


class Told:
    """All of a run."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.failed: list[Failed] = []
        self.refused: dict[str, str] = {}
        self.torn: set[str] = set()  # files that changed while the program ran

    def read(self, lines: Iterable[str]) -> Told:
        """Take it all in."""
        numbered: dict[str, File] = {}
        for line in lines:
            try:
                self._take(json.loads(line), numbered)
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                continue  # its process was killed half-way, or somebody else wrote it
        for file in self.files.values():
            for seen in file.places:
                seen.settle()
        return self

    def _take(self, message: dict[str, Any], numbered: dict[str, File]) -> None:
        if "file" in message:
            self._file(message, numbered)
        elif "in" in message:
            self._seen(message, numbered)
        elif "failed" in message:
            self.failed.append(_failed(message))
        elif "refused" in message:
            self.refused.update(message["refused"])

    def _file(self, message: dict[str, Any], numbered: dict[str, File]) -> None:
        path, digest = message["path"], message["digest"]
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = File(path, digest, message)
        elif known.digest != digest:
            self.torn.add(path)
            return
        numbered[message["file"]] = known

    def _seen(self, message: dict[str, Any], numbered: dict[str, File]) -> None:
        file = numbered.get(message["in"])
        if file is None:
            return
        seen = file.places[message["at"]]
        seen.reached = True
        if "form" in message:
            seen.note(message["form"], 0)
        for told, times in message.get("counts", []):
            seen.note(told, times)
        for told in message.get("wide", []):
            seen.note(told, 1)


def _failed(message: dict[str, Any]) -> Failed:
    operands = []
    for name, told in message["operands"]:
        form = forms.read(told)
        if form is not None:
            operands.append((str(name), (form,)))
    return Failed(
        message["failed"], message["line"], message["function"], message["error"], tuple(operands)
    )

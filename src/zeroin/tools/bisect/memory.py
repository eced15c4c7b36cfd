"""What was found out is kept, so that a search that was interrupted goes on where it was."""

from __future__ import annotations

import json
import os

from zeroin.cycle import Kind, Outcome, Signature
from zeroin.cycle.crash import Spot
from zeroin.record import place
from zeroin.regular import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MOST = 1 << 28  # bytes of what is kept of one search


class Memory:
    """One file of tries; without a folder it forgets."""

    def __init__(self, folder: str, *, fresh: bool) -> None:
        self._path = os.path.join(folder, "tries.jsonl")
        self._file: Any = None
        self.known: dict[str, list[tuple[Outcome | None, str]]] = {}
        self._folder = folder
        self._keeps = True
        if fresh:
            self._remove()
        else:
            self._read()
        self.resumed = sum(map(len, self.known.values()))

    def _read(self) -> None:
        try:
            data = read_regular(self._path, MOST, os.O_NOFOLLOW)
        except OSError:
            return  # there was none
        for line in data.decode("utf-8", "replace").splitlines():
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            told = json.loads(line)
            outcome = _outcome(told["outcome"]) if told["outcome"] else None
            found = (outcome, str(told["reason"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return  # cut off when its writer was killed
        self.known.setdefault(str(told["name"]), []).append(found)

    def note(self, name: str, outcome: Outcome | None, reason: str) -> None:
        """One more try; the first one makes the file."""
        if not self._keeps:
            return
        told = None if outcome is None else {**outcome._asdict(), "kind": outcome.kind.value}
        try:
            if self._file is None:
                place.make(self._folder)
                self._file = open(  # noqa: SIM115
                    self._path, "a", 1, encoding="utf-8", opener=place.open_unlinked
                )
            self._file.write(json.dumps({"name": name, "outcome": told, "reason": reason}) + "\n")
        except OSError:
            self._keeps = False  # a full disk: the search itself needs none

    def forget(self) -> None:
        """The answer is there: the next time it is a new question."""
        self.close()
        self._remove()

    def _remove(self) -> None:
        """The file, and the folders around it if nothing else is in them."""
        try:
            os.unlink(self._path)
            os.rmdir(self._folder)
            os.rmdir(os.path.dirname(self._folder))
        except OSError:
            pass

    def close(self) -> None:
        """Keep what there is."""
        self._keeps = False
        if self._file is not None:
            self._file.close()
            self._file = None


def _outcome(told: dict[str, Any]) -> Outcome:
    signature, spot = told["signature"], told.get("spot")
    made = told | {
        "kind": Kind(told["kind"]),
        "signature": None if signature is None else Signature(*signature),
        "spot": None if spot is None else Spot(*spot),
    }
    return Outcome(**made)

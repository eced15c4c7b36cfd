"""What was found out is kept, so that a search that was interrupted goes on where it was."""

from __future__ import annotations

import json
import os

from zeroin.cycle import Kind, Outcome, Signature
from zeroin.record import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Memory:
    """One file of tries; without a folder it forgets."""

    def __init__(self, folder: str, *, fresh: bool) -> None:
        self._path = os.path.join(folder, "tries.jsonl")
        self._file: Any = None
        self.known: dict[str, list[tuple[Outcome | None, str]]] = {}
        if not fresh:
            self._read()
        self.resumed = sum(map(len, self.known.values()))
        try:
            place.make(folder)
            self._file = open(self._path, "w" if fresh else "a", encoding="utf-8", buffering=1)  # noqa: SIM115
        except OSError:
            self._file = None  # it can't be gone on with; nothing else is lost

    def _read(self) -> None:
        try:
            with open(self._path, encoding="utf-8") as file:
                for line in file:
                    self._take(line)
        except OSError:
            pass  # there was none

    def _take(self, line: str) -> None:
        try:
            told = json.loads(line)
            outcome = _outcome(told["outcome"]) if told["outcome"] else None
            found = (outcome, str(told["reason"]))
        except (ValueError, KeyError, TypeError):  # cut off when its writer was killed
            return
        self.known.setdefault(str(told["name"]), []).append(found)

    def note(self, name: str, outcome: Outcome | None, reason: str) -> None:
        """One more try."""
        if self._file is None:
            return
        told = None if outcome is None else {**outcome._asdict(), "kind": outcome.kind.value}
        try:
            self._file.write(json.dumps({"name": name, "outcome": told, "reason": reason}) + "\n")
        except OSError:
            self._file = None  # a full disk: the search itself needs none

    def forget(self) -> None:
        """The answer is there: the next time it is a new question."""
        self.close()
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def close(self) -> None:
        """Keep what there is."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _outcome(told: dict[str, Any]) -> Outcome:
    signature = told["signature"]
    made = told | {
        "kind": Kind(told["kind"]),
        "signature": None if signature is None else Signature(*signature),
    }
    return Outcome(**made)

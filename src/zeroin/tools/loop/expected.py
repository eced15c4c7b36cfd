"""Where will the next edit be? Where it failed last; else where the last edit was."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

LARGEST = 1 << 20  # bytes of a source file that is looked at


def failure(facts: Mapping[str, Any]) -> tuple[str, int] | None:
    """The innermost line of the user's own in what ended the program."""
    crashes = [crash for crash in facts.get("crashes") or [] if crash.get("chain")]
    fatal = [crash for crash in crashes if crash.get("fatal")]
    for crash in reversed(fatal or crashes):
        for link in reversed(crash["chain"]):
            for frame in reversed(link.get("frames") or []):
                if frame.get("owner") == "user" and os.path.isabs(frame["file"]):
                    return str(frame["file"]), int(frame["line"])
    return None


class Edits:
    """Knows the texts of the user's code as they were, and so where one was changed."""

    def __init__(self) -> None:
        self.last: tuple[str, int] | None = None
        self._texts: dict[str, list[bytes]] = {}

    def look(self, paths: Iterable[str]) -> None:
        """After a run: what has changed since the one before?"""
        texts = {path: lines for path in paths if (lines := _lines(path)) is not None}
        for path, lines in texts.items():
            before = self._texts.get(path)
            if before is not None and before != lines:
                self.last = path, _first_difference(before, lines)
        self._texts = texts


def _lines(path: str) -> list[bytes] | None:
    try:
        if os.stat(path).st_size > LARGEST:
            return None
        with open(path, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return None


def _first_difference(old: list[bytes], new: list[bytes]) -> int:
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return max(1, min(same + 1, len(new)))

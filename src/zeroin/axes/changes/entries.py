"""The lines of a file of settings, each with the comments in front of it."""

from __future__ import annotations

import dataclasses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zeroin.axes.changes.pieces import Piece


def ended(text: str) -> str:
    """With an end of its last line."""
    return text if text.endswith("\n") or not text else text + "\n"


def entries(
    text: str, marks: str, goes_on: Callable[[str, str], bool]
) -> Iterator[tuple[str, str]]:
    """Each line that says something, with the comments in front of it, and with its rest."""
    comments, entry = "", ""
    for row in ended(text).splitlines(keepends=True):
        silent = not row.strip() or row.lstrip()[0] in marks
        if entry and goes_on(entry, row) and row.strip():
            entry += row
            continue
        if entry:
            yield comments, entry
            comments, entry = "", ""
        if silent:
            comments += row
        else:
            entry = row
    if entry or comments:
        yield (comments, entry) if entry else ("", comments)


def told_apart(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Keys that are there twice get a number; what has none is the same wherever it is."""
    seen: dict[str, int] = {}
    found = []
    for one in pieces:
        number = seen[one.key] = seen.get(one.key, 0) + 1
        key = one.key if number == 1 else f"{one.key}#{number}"
        found.append(dataclasses.replace(one, key=key) if key != one.key else one)
    return tuple(found)


def is_silent(row: str) -> bool:
    """Empty, or a comment."""
    return row.lstrip()[:1] in ("", "#")

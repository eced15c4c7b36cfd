"""What limits did, as text and as JSON."""

from __future__ import annotations

import os

from zeroin.fronts import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.emulate.part import Effect
    from zeroin.fronts.words import Paint

MOST_WRITTEN = 5


def lines(effects: Sequence[Effect], paint: Paint, *, failed: bool) -> list[str]:
    """A line for each, what was reached first, then what to know about it."""
    found = []
    for one in sorted(effects, key=lambda one: not one.reached):
        about = [text for text in (one.detail, f"back-end: {one.backend}") if text]
        text = words.clean(f"limit {one.limit}: {' · '.join(about)}").replace("\n", "\\n")
        found.append("  " + (paint(text, "bold") if one.reached and failed else text))
        found += _written(one)
        found += [paint(f"  note: {note}", "yellow") for note in one.notes]
    return found


def _written(one: Effect) -> list[str]:
    if not one.written:
        return []
    shown = [os.path.relpath(path) for path in one.written[:MOST_WRITTEN]]
    names = [min(pair, key=len) for pair in zip(shown, one.written, strict=False)]
    more = len(one.written) - len(names)
    text = words.clean(", ".join(names)) + (f" and {more} more" if more else "")
    where = f"kept in {words.tilde(one.kept)}" if one.kept else "gone by now; --keep DIR keeps it"
    return [f"    written: {text} ({where})"]


def as_data(effect: Effect | dict[str, Any]) -> dict[str, Any]:
    """The keys of docs/reference/json.md, of a run or of its record."""
    one = effect if isinstance(effect, dict) else effect._asdict()
    return {
        "limit": one["limit"],
        "backend": one["backend"],
        "reached": one["reached"],
        "detail": one["detail"],
        "notes": list(one["notes"]),
        "written": list(one["written"]),
        "kept": one["kept"],
    }

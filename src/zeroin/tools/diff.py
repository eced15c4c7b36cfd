"""`diff A B`: only what differs between two attempts."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.tools.compare import Changed, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.record.code import Shadow
    from zeroin.record.store import Attempt
    from zeroin.tools.compare import Difference
    from zeroin.tools.reading import Reading

LINES = 4000  # of each output
MOST_ORDERED = 1000  # files of a patch; more names may be too long for a command


class DiffReport(NamedTuple):
    """Two attempts, what was different before them, and what came out differently."""

    old: Attempt
    new: Attempt
    difference: Difference
    patch: str
    outcome: list[Changed]
    output: list[str]  # a unified diff


def diff(reading: Reading, old_name: str, new_name: str) -> DiffReport:
    """Compare two attempts."""
    old, new = reading.store.resolve(old_name), reading.store.resolve(new_name)
    shadow = reading.shadow(new)
    difference = compare(reading.store, shadow, old, new)
    patch = ""
    if difference.code and old.code and new.code:
        patch = _make_patch(shadow, old.code, new.code, difference)
    return DiffReport(old, new, difference, patch, _outcome(old, new), _output(reading, old, new))


def _make_patch(shadow: Shadow, old: str, new: str, difference: Difference) -> str:
    """The patch in the order of the changes: files that a program loaded first, new ones last."""
    if len(difference.code) > MOST_ORDERED:
        return shadow.patch(old, new)
    groups: dict[tuple[bool, bool], list[str]] = {}
    for change in difference.code:
        key = (change.path in difference.loaded, change.kind == "A")
        groups.setdefault(key, []).extend(filter(None, (change.path, change.was)))
    return "".join(shadow.patch(old, new, paths=paths) for paths in groups.values())


def _outcome(old: Attempt, new: Attempt) -> list[Changed]:
    """Times and memory always differ a little: they count from a quarter on, if that is much."""
    found = []
    for name in ("outcome", "exit_code", "signature", "headline"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            found.append(Changed(name, _text(before), _text(after)))
    for name, much in (("seconds", 0.5), ("peak_bytes", 50e6)):
        before, after = getattr(old, name) or 0, getattr(new, name) or 0
        if abs(after - before) > max(much, 0.25 * min(before, after)):
            found.append(Changed(name, _text(before), _text(after)))
    return found


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _output(reading: Reading, old: Attempt, new: Attempt) -> list[str]:
    from difflib import unified_diff

    before, after = (_lines(reading, attempt) for attempt in (old, new))
    if before == after:
        return []
    names = (f"attempt {old.id}", f"attempt {new.id}")
    return list(unified_diff(before, after, *names, n=2, lineterm=""))


def _lines(reading: Reading, attempt: Attempt) -> list[str]:
    from zeroin.cycle.printed import plain
    from zeroin.run import keep

    text = keep.text(reading.output_folder(attempt)).decode("utf-8", "replace")
    return plain(text).splitlines()[-LINES:]

"""`gc`: keep the record below a size, the oldest attempts first."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.record.code import Shadow
    from zeroin.record.store import Store

KEEP = 20  # the newest attempts are never taken


class GcReport(NamedTuple):
    """What was taken, and how large the record is now."""

    removed: list[int]
    before: int
    after: int


def collect(store: Store, shadow: Shadow | None, bound: int) -> GcReport:
    """Forget the oldest attempts until the record fits."""
    before = size_of(store.folder)
    if before <= bound:
        return GcReport([], before, before)
    removed = _choose(store, before - bound)
    store.delete(removed)
    for number in removed:
        _remove(os.path.join(store.folder, "attempts", str(number)))
    store.compact()
    for one in _shadows(store, shadow) if removed else []:
        one.forget([str(number) for number in removed])
        one.gc()
    _drop_unused_restores(store)
    return GcReport(removed, before, size_of(store.folder))


def _shadows(store: Store, shadow: Shadow | None) -> list[Shadow]:
    """The project's code, and that of packages elsewhere that it used."""
    from zeroin.record.code import Shadow as Code

    folder = os.path.join(store.folder, "elsewhere")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    others = [Code(os.path.join(folder, name), folder) for name in names]
    return ([shadow] if shadow is not None else []) + others


def _choose(store: Store, excess: int) -> list[int]:
    """As many of the oldest as free that much by their output, or by their share of the rest."""
    attempts = store.attempts()[KEEP:]
    if not attempts:
        return []
    outputs = {a.id: size_of(os.path.join(store.folder, "attempts", str(a.id))) for a in attempts}
    rest = size_of(store.folder) - size_of(os.path.join(store.folder, "attempts"))
    share = rest / (len(attempts) + KEEP)
    chosen = []
    for attempt in reversed(attempts):
        if excess <= 0:
            break
        if attempt.outcome is None:
            from zeroin.tools.reading import is_running

            if is_running(attempt):
                continue
        chosen.append(attempt.id)
        excess -= int(outputs[attempt.id] + share)
    return chosen


def _drop_unused_restores(store: Store) -> None:
    """First states of cycles that no attempt is left of."""
    folder = os.path.join(store.folder, "restore")
    used = {attempt.cycle for attempt in store.attempts()}
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if name.partition("-")[0] not in used:
            _remove(os.path.join(folder, name))


def size_of(path: str) -> int:
    """Bytes on disk below a path."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                continue
    return total


def _remove(path: str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)

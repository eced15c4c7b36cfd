"""`gc`: keep the record below a size, the oldest attempts first.

Records in the user's state folder go as well, once the folders that they are of are gone.
"""

from __future__ import annotations

import os
import re
import stat
import time

from zeroin.errors import StoreError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.record.code import Shadow
    from zeroin.record.store import Store

KEEP = 20  # the newest attempts are never taken
GONE_SECONDS = 30 * 24 * 3600.0  # a folder may be on a disk that is not mounted today


# Entries of a record's folder → what they are to a user; the others are its own book-keeping.
PARTS = {
    "attempts": "output",
    "code.git": "code",
    "elsewhere": "code",
    "restore": "first states of --restore",
    "bisect": "searches",
    "shrink": "searches",
}
OWN = "the list of attempts"


class RecordPart(NamedTuple):
    """What a part of the record is, and its bytes on the disk."""

    name: str
    size: int


_RESTORE = r"[0-9a-f]+-[0-9a-f]+(\.\d+\.part)?"  # what a first state is called, whole or not


class GcReport(NamedTuple):
    """What was taken, and how large the record is now."""

    removed: list[int]
    before: int
    after: int
    bound: int
    parts: list[RecordPart]  # of what is left, if that is above the bound; the largest first
    note: str = ""  # why it could not be made as small as it should be


def collect(store: Store, shadow: Shadow | None, bound: int) -> GcReport:
    """Forget the oldest attempts until the record fits."""
    before = size_of(store.folder)
    if before <= bound:
        return GcReport([], before, before, bound, [])
    from zeroin.record.code import CodeError

    removed = _choose(store, before - bound)
    # What takes no room to be removed comes first: the disk may be full.
    for number in removed:
        _remove(os.path.join(store.folder, "attempts", str(number)))
    store.delete(removed)
    _drop_unused_restores(store)
    notes = [store.compact()] if removed else []
    for one in _shadows(store, shadow) if removed else []:
        try:
            one.forget([str(number) for number in removed])
            one.gc()
        except CodeError as error:
            notes.append(f"the code of those attempts is still there: {error}")
    after = size_of(store.folder)
    parts = measure_parts(store) if after > bound else []
    return GcReport(removed, before, after, bound, parts, "; ".join(filter(None, notes)))


def measure_parts(store: Store) -> list[RecordPart]:
    """Say what takes the room, the largest first."""
    sizes: dict[str, int] = {}
    for entry in os.scandir(store.folder):
        name = PARTS.get(entry.name, OWN)
        size = size_of(entry.path) if entry.is_dir() else entry.stat().st_blocks * 512
        sizes[name] = sizes.get(name, 0) + size
    return [RecordPart(*one) for one in sorted(sizes.items(), key=lambda one: -one[1])]


def drop_gone_records(environ: Mapping[str, str]) -> list[str]:
    """Remove the records of folders that are gone, unused for a month; name those folders."""
    from zeroin.record import place

    dropped = []
    state = place.own_state(environ)
    for kind in (place.FOLDERS, place.PROJECTS):
        home = os.path.join(state, kind)
        for name in os.listdir(home) if os.path.isdir(home) else []:
            record = os.path.join(home, name)
            folder = _find_owner(record)
            if folder and not os.path.isdir(folder):
                _remove(record)
                dropped.append(folder)
    return dropped


def _find_owner(record: str) -> str:
    """The folder that an old record is of; "" if that can't be told, or if it is in use."""
    from zeroin.record import place
    from zeroin.record.store import Store

    files = [os.path.join(record, name) for name in (place.STORE, f"{place.STORE}-wal")]
    used = [os.stat(path).st_mtime for path in files if os.path.exists(path)]
    if not used or max(used) > time.time() - GONE_SECONDS:
        return ""
    try:
        store = Store(record, create=False)
        try:
            newest = store.attempts(limit=1)
        finally:
            store.close()
    except StoreError:  # damaged, or a newer zeroin's
        return ""
    return newest[0].root or newest[0].cwd if newest else ""


def _shadows(store: Store, shadow: Shadow | None) -> list[Shadow]:
    """The project's code, and that of packages elsewhere that it used."""
    from zeroin.record.code import Shadow as Code

    folder = os.path.join(store.folder, "elsewhere")
    others = [Code(os.path.join(folder, name), folder) for name in _own_folders(folder)]
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
    for name in _own_folders(folder):
        if re.fullmatch(_RESTORE, name) and name.partition("-")[0] not in used:
            _remove(os.path.join(folder, name))


def _own_folders(folder: str) -> list[str]:
    """Names of the folders that we have made in one of the record; links lead elsewhere."""
    if not _is_own_folder(folder):
        return []
    return [name for name in os.listdir(folder) if _is_own_folder(os.path.join(folder, name))]


def _is_own_folder(path: str) -> bool:
    try:
        info = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid()


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
    """A folder of the record; whoever has put a link in its place keeps what that leads to."""
    import shutil

    if _is_own_folder(os.path.dirname(path)) and _is_own_folder(path):
        shutil.rmtree(path, ignore_errors=True)

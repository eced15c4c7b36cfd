"""Whether git tracks a folder, by its index alone: no git is run, and none of its settings."""

from __future__ import annotations

import os

from zeroin.record.repository import find_repository

_FLAGS = 0x4000  # an entry has two more bytes of them
_LENGTH = 0xFFF  # of a path; longer ones say this
_STAT = 40  # bytes before the name of the content


def find_tracked(root: str, name: str) -> str:
    """A file that git tracks at or below `name` in a folder; "" if there is none."""
    place = find_repository(root)
    if not place.git:
        return ""
    wanted = os.fsencode(place.prefix + name)
    for path in _index_files(place.git):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        found = _find_in_index(data, wanted, place.common)
        if found:
            return os.fsdecode(found)
    return ""


def _index_files(git: str) -> list[str]:
    """The index, and the other half of a split one."""
    shared = [name for name in os.listdir(git) if name.startswith("sharedindex.")]
    return [os.path.join(git, name) for name in ("index", *shared)]


def _find_in_index(data: bytes, wanted: bytes, common: str) -> bytes:
    if data[:4] != b"DIRC":
        return b""
    if data[4:8] == b"\0\0\0\4":
        return _find_compressed(data, wanted, 32 if _has_long_names(common) else 20)
    for ending in (b"/", b"\0"):
        at = data.find(wanted + ending, 12)
        while at >= 0:
            path = data[at : data.index(b"\0", at)]
            if any(_is_length(data[at - skip : at - skip + 2], len(path)) for skip in (2, 4)):
                return path
            at = data.find(wanted + ending, at + 1)
    return b""


def _is_length(flags: bytes, length: int) -> bool:
    """Whether these two bytes stand before a path of that length: not in the middle of one."""
    return int.from_bytes(flags, "big") & _LENGTH == min(length, _LENGTH)


def _find_compressed(data: bytes, wanted: bytes, name_size: int) -> bytes:
    """In version 4 each path is told by what differs from the one before."""
    at, path = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        at += _STAT + name_size
        flags = int.from_bytes(data[at : at + 2], "big")
        at += 4 if flags & _FLAGS else 2
        strip = data[at] & 0x7F
        while data[at] & 0x80:
            at += 1
            strip = ((strip + 1) << 7) | (data[at] & 0x7F)
        at += 1
        end = data.index(b"\0", at)
        path = path[: len(path) - strip] + data[at:end]
        at = end + 1
        if path == wanted or path.startswith(wanted + b"/"):
            return path
    return b""


def _has_long_names(common: str) -> bool:
    """Whether the repository names its objects by SHA-256."""
    try:
        with open(os.path.join(common, "config"), "rb") as file:
            return b"sha256" in file.read().lower()
    except OSError:
        return False

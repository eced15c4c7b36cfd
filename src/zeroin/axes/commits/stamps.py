"""The times of a checkout's files, by what is in them: the same text has the same one, always.

Bytecode goes by a file's time and size. Git remembers the times as well, in its index, and would
read all files again to see that only they have changed; so they are written there, too. That file
is simple in its second version, which is git's usual one; another is left to git.
"""

from __future__ import annotations

import hashlib
import os
import struct

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_AGO = 1_000_000_000  # seconds: the earliest time that a file is given
HEAD = struct.Struct(">4sLL")  # of the file: its mark, its version, how many entries
TIME = struct.Struct(">LL")  # seconds and nanoseconds
MTIME, NAME_OF_CONTENT, FLAGS, PATH = 8, 40, 60, 62  # where they stand in an entry
DIGEST = 20  # bytes
LONG_PATH = 0xFFF  # or longer: then it ends where the first zero is
MODULE = 0o160000  # the kind of an entry that is a repository of its own


class _Entry(NamedTuple):
    start: int  # in the index
    path: bytes
    seconds: int  # its time, as git remembers it
    wanted: int


def stamp(folder: str, index: str, ending: str) -> bool:
    """Give files with such names their times; False if git's index can't be read."""
    try:
        with open(index, "rb") as file:
            data = bytearray(file.read())
    except OSError:
        return False
    if not _is_plain(data):
        return False
    suffix, top = ending.encode(), os.fsencode(folder)
    changed = False
    for entry in _entries(data):
        if entry.seconds == entry.wanted or not entry.path.endswith(suffix):
            continue
        when = (entry.wanted, entry.wanted)
        try:
            os.utime(os.path.join(top, entry.path), when, follow_symlinks=False)
        except OSError:
            continue  # left out of the checkout
        TIME.pack_into(data, entry.start + MTIME, entry.wanted, 0)
        changed = True
    if changed:
        data[-DIGEST:] = hashlib.sha1(data[:-DIGEST]).digest()  # noqa: S324 - git's choice
        _replace(index, data)
    return True


def _is_plain(data: bytearray) -> bool:
    if len(data) < HEAD.size + DIGEST:
        return False
    mark, version, _ = HEAD.unpack_from(data)
    # Made with another kind of digest, this one does not fit.
    digest = hashlib.sha1(data[:-DIGEST]).digest()  # noqa: S324
    return (mark, version) == (b"DIRC", 2) and digest == data[-DIGEST:]


def _entries(data: bytearray) -> Iterator[_Entry]:
    """All but those of submodules."""
    start = HEAD.size
    for _ in range(HEAD.unpack_from(data)[2]):
        (mode,) = struct.unpack_from(">L", data, start + 24)
        (flags,) = struct.unpack_from(">H", data, start + FLAGS)
        length = flags & LONG_PATH
        first = start + PATH
        end = first + length if length < LONG_PATH else data.index(0, first)
        if mode != MODULE:
            name = int.from_bytes(data[start + NAME_OF_CONTENT : start + NAME_OF_CONTENT + 4]) >> 4
            seconds, _ = TIME.unpack_from(data, start + MTIME)
            yield _Entry(start, bytes(data[first:end]), seconds, LONG_AGO + name)
        start += (end - start + 8) // 8 * 8  # filled up with at least one zero


def _replace(path: str, data: bytearray) -> None:
    """Whoever is killed meanwhile leaves the old one."""
    new = f"{path}.zeroin"
    with open(new, "wb") as file:
        file.write(data)
    os.replace(new, path)

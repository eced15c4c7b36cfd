"""The folder of a baseline: its manifest of entries, its copies, and how it comes to be at once."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
from typing import TypedDict

from zeroin.run.leftovers import is_gone
from zeroin.run.restore.errors import RestoreRefused

_VERSION = 1  # of the manifest
# A file changed twice within one tick of the clock looks unchanged: the young must be compared.
_YOUNG = 2_000_000_000


class Entry(TypedDict, total=False):
    """One entry of the manifest; `inode`, `ctime` and `links` are as they were last seen.

    What is usual is left out, since reading the manifest is a large part of the work.
    """

    kind: str  # folder, file, link, special or absent
    mode: int
    mtime: int
    owner: list[int]
    attributes: dict[str, str]
    entries: dict[str, Entry]  # of a folder
    target: str  # of a link
    size: int  # of a file, as all below
    inode: int
    ctime: int  # 0 when it was too young to tell later changes by
    links: int  # if there are more than one
    names: int  # how many of these are inside PATH
    copy: int  # the name of the content in the baseline
    same: str  # instead of a copy: where in PATH the file is that this is a hard link to


def telling(info: os.stat_result) -> int:
    """Give the change time if a later change is sure to give another one, otherwise 0."""
    return info.st_ctime_ns if info.st_ctime_ns < time.time_ns() - _YOUNG else 0


def is_as_seen(info: os.stat_result, entry: Entry) -> bool:
    """Ask whether nothing can have happened to a file: nobody can set a change time back."""
    return (
        info.st_ctime_ns == entry["ctime"]
        and info.st_ino == entry["inode"]
        and info.st_size == entry["size"]
        and info.st_mtime_ns == entry["mtime"]
    )


def copy_of(files: str, entry: Entry) -> str:
    """Give the path of a file's content in the baseline."""
    return os.path.join(files, str(entry["copy"]))


def write_manifest(folder: str, full: str, entry: Entry) -> None:
    """Write the manifest of a baseline, in one step."""
    passing = os.path.join(folder, f"manifest.{os.getpid()}")
    with open(passing, "w", encoding="utf-8") as file:
        manifest = {"version": _VERSION, "path": full, "entry": entry}
        file.write(json.dumps(manifest, separators=(",", ":")))
    os.replace(passing, os.path.join(folder, "manifest.json"))


def read_manifest(folder: str, full: str) -> Entry:
    """Give what PATH was; refuse a manifest that is damaged or not about PATH."""
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            manifest = json.loads(file.read())
        version, saved = manifest["version"], manifest["path"]
        entry: Entry = manifest["entry"]
    except (FileNotFoundError, ValueError, KeyError):
        raise RestoreRefused(f"the saved state in {folder} is damaged: start a new cycle") from None
    if version != _VERSION:
        raise RestoreRefused(f"{full} was saved by another version of zeroin: start a new cycle")
    if saved != full:
        raise RestoreRefused(f"what was saved is {saved}, not {full}: start a new cycle")
    return entry


def rename(part: str, baseline: str) -> None:
    """Make a finished part the baseline, unless there is one already."""
    try:
        os.rename(part, baseline)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another first attempt was quicker
            raise


def drop_parts(baseline: str) -> None:
    """Clear away what a killed `save` left."""
    folder, name = os.path.split(baseline)
    with contextlib.suppress(FileNotFoundError):
        for found in os.listdir(folder):
            match = re.fullmatch(re.escape(name) + r"\.(\d+)\.part", found)
            if match and is_gone(int(match[1])):
                delete(os.path.join(folder, found))


def delete(folder: str) -> None:
    """Remove a folder of the store with all that is in it, as far as possible."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)

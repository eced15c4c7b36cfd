"""Folders and archives: files are the rows. What is in them is not looked at, but how they are."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import zipfile

from zeroin.axes.payload.packed import LONG_AGO
from zeroin.errors import UsageError
from zeroin.tiny.rows import Row, Rows, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    import contextlib
    from collections.abc import Iterator, Sequence
    from typing import Any

    Told = dict[str, Any]


def described(name: str, size: int, what: str, *, runs: bool = False) -> Told:
    """What tells a file from others of its folder."""
    base = os.path.basename(name)
    stem, end = os.path.splitext(base)
    return {
        "what": what,
        "end": end.lower(),
        "folder": os.path.dirname(name),
        "depth": name.count("/"),
        "size": size,
        "runs": runs,
        "hidden": base.startswith("."),
        "name": stem,
        "odd": {
            "blank": any(one.isspace() for one in base),
            "not ascii": not base.isascii(),
            "capital": base != base.lower(),
            "long": len(base) > 100,
            "control": not base.isprintable(),
        },
    }


# --- folders ------------------------------------------------------------------------------------


def folder(path: str) -> Rows:
    """Files, links and empty folders below it. Links are kept as such."""

    def rows() -> Iterator[Row]:
        for name in _below(path, ""):
            now = os.lstat(os.path.join(path, name))
            what = _what(now.st_mode)
            runs = what == "file" and bool(now.st_mode & stat.S_IXUSR)
            size = now.st_size if what == "file" else 0
            yield Row(name, described(name, size, what, runs=runs))

    def write(chosen: Sequence[Row], target: str) -> int:
        _check_target(path, target)
        with writing(target):
            os.makedirs(target, exist_ok=True)
            return sum(_copied(path, row.kept, target) for row in chosen)

    return Rows("folder", "file", rows(), write)


def _below(path: str, inside: str) -> Iterator[str]:
    """Names in order; what can't be looked into is said by the error."""
    with os.scandir(os.path.join(path, inside)) as found:
        entries = sorted(found, key=lambda one: one.name)
    for one in entries:
        name = os.path.join(inside, one.name)
        if one.is_dir(follow_symlinks=False):
            is_empty = True
            for below in _below(path, name):
                is_empty = False
                yield below
            if is_empty:
                yield name
        elif one.is_symlink() or one.is_file():  # sockets and pipes are no data
            yield name


def _what(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    return "empty folder" if stat.S_ISDIR(mode) else "file"


def _check_target(path: str, target: str) -> None:
    inside = os.path.join(os.path.realpath(path), "")
    if os.path.join(os.path.realpath(target), "").startswith(inside):
        raise UsageError(f"{target}: lies in the folder that it is made of")
    if os.path.isdir(target) and os.listdir(target):
        raise UsageError(
            f"{target}: there is something in it", hint="remove it, or name another with -o"
        )


def _copied(path: str, name: str, target: str) -> int:
    source, to = os.path.join(path, name), os.path.join(target, name)
    if os.path.isdir(source) and not os.path.islink(source):
        os.makedirs(to, exist_ok=True)
        return 0
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy2(source, to, follow_symlinks=False)
    return os.lstat(to).st_size


# --- archives -----------------------------------------------------------------------------------


def zip_file(path: str, stack: contextlib.ExitStack) -> Rows:
    """Members of a zip file, with the notes that each has; no unpacking, but one at a time."""
    archive = stack.enter_context(zipfile.ZipFile(path))

    def rows() -> Iterator[Row]:
        for info in archive.infolist():
            if not info.is_dir():
                told = described(info.filename, info.file_size, "file")
                yield Row(info, told | {"packed": info.compress_type})

    def write(chosen: Sequence[Row], target: str) -> int:
        with writing(target), zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
            new.comment = old.comment
            for row in chosen:
                own = zipfile.ZipInfo(row.kept.filename, max(row.kept.date_time, LONG_AGO))
                own.compress_type = row.kept.compress_type
                own.external_attr = row.kept.external_attr
                with old.open(row.kept) as source, new.open(own, "w", force_zip64=True) as out:
                    shutil.copyfileobj(source, out)
        return os.path.getsize(target)

    return Rows("zip", "file", rows(), write)


def tar_file(path: str, stack: contextlib.ExitStack) -> Rows:
    """Members of a tar file: files, links, and what else it may hold."""
    archive = stack.enter_context(tarfile.open(path))  # noqa: SIM115 - the stack closes it

    def rows() -> Iterator[Row]:
        while (info := archive.next()) is not None:
            vars(archive)["members"].clear()  # it would remember all of them
            if not info.isdir():
                what = "file" if info.isreg() else "link" if info.issym() else "other"
                runs = bool(info.mode & stat.S_IXUSR)
                yield Row(info, described(info.name, info.size, what, runs=runs))

    def write(chosen: Sequence[Row], target: str) -> int:
        names = {row.kept.name for row in chosen}
        with (
            writing(target),
            tarfile.open(path) as old,
            tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as new,
        ):
            for row in chosen:
                _add(row.kept, old, new, names)
        return os.path.getsize(target)

    return Rows("tar", "file", rows(), write)


def _add(
    info: tarfile.TarInfo, old: tarfile.TarFile, new: tarfile.TarFile, names: set[str]
) -> None:
    """Copy a member; a second name of a file that is left out becomes that file."""
    is_alone = info.islnk() and info.linkname not in names
    body = old.extractfile(info) if info.isreg() or is_alone else None
    if is_alone and body is not None:
        info = info.replace(deep=False)
        info.type = tarfile.REGTYPE
        info.size = body.seek(0, os.SEEK_END)
        body.seek(0)
    new.addfile(info, body)

"""Amounts as people write them: sizes, counts, shares, and a path before any of them."""

from __future__ import annotations

import os
import re

from zeroin.emulate.part import Limit
from zeroin.errors import UsageError
from zeroin.sizes import format_size, is_number, parse_size, short_size, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.emulate.folders import LimitFolders
    from zeroin.emulate.part import Scene


def read_size(name: str, value: str) -> Limit:
    """`memory=2G`, `memory=90%`, `memory=90% of 2G`."""
    amount, share = _amount(f"{name}={value}", value)
    return Limit(name, f"{name}={value}", "", amount, share)


def read_path_and_size(name: str, value: str) -> Limit:
    """`disk=/data:50M`."""
    path, amount = _path_and(name, value, "SIZE")
    number, share = _amount(f"{name}={value}", amount)
    return Limit(name, f"{name}={value}", path, number, share)


def read_path_and_count(name: str, value: str) -> Limit:
    """`inodes=/data:100`."""
    path, amount = _path_and(name, value, "N")
    return Limit(name, f"{name}={value}", path, _count(f"{name}={value}", amount))


def read_path(name: str, value: str) -> Limit:
    """`readonly=/data`."""
    return Limit(name, f"{name}={value}", value)


def read_count(name: str, value: str) -> Limit:
    """`files=64`."""
    return Limit(name, f"{name}={value}", "", _count(f"{name}={value}", value))


def read_share(name: str, value: str) -> Limit:
    """`cpu=50%`: of one core."""
    text = f"{name}={value}"
    number = value.removesuffix("%")
    if number == value or not is_number(number) or not float(number):
        raise UsageError(f"--limit {text}: {value!r} is no share", hint=f"write {name}=50%")
    return Limit(name, text, "", float(number) / 100)


def with_amount(limit: Limit, amount: int) -> Limit:
    """The same with another size: a share that is known by now, or another value to try."""
    where = f"{limit.target}:" if limit.target else ""
    text = f"{limit.name}={where}{format_size(amount)}"
    return limit._replace(text=text, amount=amount, share=False)


def of_whole(limit: Limit, whole: int) -> Limit:
    """A share of something that is known by now: `memory=90% of 164M` says both."""
    text = f"{limit.name}={limit.amount * 100:.6g}% of {short_size(whole)}"
    return read_size(limit.name, text.partition("=")[2])


def _amount(text: str, value: str) -> tuple[float, bool]:
    number, percent, of = value.partition("%")
    share = float(number) / 100 if percent and is_number(number) else None
    try:
        if share is None or (of and not of.startswith(" of ")):
            amount: float = parse_size(value)
        else:
            amount = int(share * parse_size(of.removeprefix(" of "))) if of else share
    except UsageError as error:
        raise UsageError(
            f"--limit {text}: {error.message}", hint="write 500M, 2GiB or 90%"
        ) from None
    if not amount:
        raise UsageError(f"--limit {text}: nothing works with nothing", hint="write 500M or 2GiB")
    return amount, share is not None and not of


def _count(text: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and int(value)):
        raise UsageError(f"--limit {text}: {value!r} is no number from 1 on")
    return int(value)


def _path_and(name: str, value: str, what: str) -> tuple[str, str]:
    path, colon, amount = value.rpartition(":")
    if not colon or not path or not amount:
        raise UsageError(
            f"--limit {name}={value}: a folder and a limit for it",
            hint=f"write --limit {name}=FOLDER:{what}",
        )
    return path, amount


# --- against this machine -----------------------------------------------------------------------


def real_path(limit: Limit, scene: Scene, *, folder: bool) -> str:
    """Where it is about; UsageError if there is nothing of the kind."""
    path = os.path.realpath(os.path.join(scene.cwd, limit.target))
    if folder and scene.folders is not None:
        _take_folder(limit, path, scene.folders)
    if not os.path.lexists(path):
        raise UsageError(
            f"--limit {limit.text}: there is no {limit.target}",
            hint=f"paths are taken from {scene.cwd}; make it first",
        )
    if folder and not os.path.isdir(path):
        raise UsageError(
            f"--limit {limit.text}: {limit.target} is no folder",
            hint=f"name the folder that it is in: {os.path.dirname(path)}",
        )
    return path


def _take_folder(limit: Limit, path: str, folders: LimitFolders) -> None:
    """Make the folder of a limit if it is not there; UsageError if it can't be made."""
    if os.path.lexists(path) and not os.path.isdir(path):
        return
    try:
        folders.take(path)
    except NotADirectoryError as error:
        raise UsageError(
            f"--limit {limit.text}: {os.path.dirname(error.filename)} is a file, so {limit.target} "
            "can't be made",
            hint="name a folder that the command writes to",
        ) from None
    except OSError as error:
        if os.path.isdir(path):  # one that can't be opened: whoever checks it says more
            return
        above = os.path.dirname(error.filename or path)
        raise UsageError(
            f"--limit {limit.text}: there is no {limit.target}, and it can't be made in {above}: "
            f"{(error.strerror or str(error)).lower()}",
            hint=f"ls -ld {above}",
        ) from None


def in_memory(limit: Limit, most: int) -> None:
    """What is written below is held in memory: UsageError if that can't be."""
    if limit.amount > most:
        raise UsageError(
            f"--limit {limit.text}: what is written is held in memory, and only {size(most)} of "
            "that is free",
            hint="take a smaller size",
        )


def free_memory() -> int:
    """What could still be taken without hurting anybody."""
    return _memory(b"MemAvailable:") or 1 << 62


def whole_memory() -> int:
    """Of this machine, with what it can swap out."""
    return _memory(b"MemTotal:") + _memory(b"SwapTotal:") or 1 << 62


def _memory(name: bytes) -> int:
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def mounts_below(path: str) -> list[str]:
    """Mount points inside a folder, the outermost first, each once."""
    inside = os.path.join(path, "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = [_unquoted(line.split()[4]) for line in file]
    return sorted({point for point in points if point.startswith(inside)}, key=len)


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)

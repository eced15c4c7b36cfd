"""What a whole file can be packed with, and how files are called then."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os

from zeroin.axes.payload import zstd
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any


LITTLE = 1 << 20  # bytes


class Packing(NamedTuple):
    """One of them."""

    magic: bytes
    ends: tuple[str, ...]  # of names
    reader: Callable[[IO[bytes]], Any]  # a stream of what is in it
    compress: Callable[[bytes], bytes]


def _effort(content: bytes) -> int:
    """The most for what may be kept in the end; what is only tried is packed quickly."""
    return 9 if len(content) <= LITTLE else 1


ALL = (
    Packing(
        b"\x1f\x8b",
        (".gz", ".tgz"),
        lambda file: gzip.GzipFile(fileobj=file),
        lambda content: gzip.compress(content, _effort(content), mtime=0),  # the same each time
    ),
    Packing(b"BZh", (".bz2",), bz2.BZ2File, bz2.compress),
    Packing(b"\xfd7zXZ\0", (".xz",), lzma.LZMAFile, lzma.compress),
    Packing(zstd.MAGIC, (".zst", ".zstd"), zstd.reader, zstd.compress),
)
MAGIC = max(len(one.magic) for one in ALL)  # bytes that tell


def by_content(start: bytes) -> Packing | None:
    """Which one it is."""
    return next((one for one in ALL if start.startswith(one.magic)), None)


def by_name(name: str) -> Packing | None:
    """Which one is asked for."""
    return next((one for one in ALL if name.endswith(one.ends)), None)


def errors() -> tuple[type[Exception], ...]:
    """What broken files raise."""
    return (OSError, EOFError, ValueError, lzma.LZMAError, *zstd.errors())


def unpacked(name: str) -> str:
    """As it would be called without what is around it."""
    stem, end = os.path.splitext(name)
    if end == ".tgz":
        return f"{stem}.tar"
    return name if by_name(end) is None else stem


def beside(path: str, mark: str, *, is_folder: bool) -> str:
    """`train.min.csv.gz` of `train.csv.gz`."""
    folder, name = os.path.split(path.rstrip("/") or path)
    stem, end = os.path.splitext(name)
    if is_folder:
        stem, end = name, ""
    elif end != ".tgz" and by_name(end) is not None:
        stem, inner = os.path.splitext(stem)
        end = inner + end
    return os.path.join(folder, f"{stem}.{mark}{end}")

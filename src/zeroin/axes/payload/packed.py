"""Files inside of files: packed ones, zip and tar. What is in them gets smaller."""

from __future__ import annotations

import dataclasses
import functools
import io
import tarfile
import zipfile

from zeroin.axes.payload import packings
from zeroin.axes.payload.group import Group, Member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from zeroin.axes.payload.kinds import Payload, Ranges, Round

ZIP = (b"PK\3\4", b"PK\5\6")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same payload gives the same bytes


@dataclasses.dataclass(frozen=True)
class Packed:
    """A payload, and how it is packed."""

    inner: Payload
    pack: Callable[[Any], bytes]  # it knows what it has unpacked
    original: bytes | None = dataclasses.field(default=None, compare=False)  # while all is there

    @property
    def noun(self) -> str:
        """What its parts are called."""
        return self.inner.noun

    @property
    def parts(self) -> int:
        """How many there are."""
        return self.inner.parts

    def is_valid(self) -> bool:
        """Whether what is in it is."""
        return self.inner.is_valid()

    @functools.cached_property
    def content(self) -> bytes:
        """What the file would hold. As long as nothing has gone, not even the packing differs."""
        return self.pack(self.inner) if self.original is None else self.original

    @property
    def size(self) -> int:
        """Packed."""
        return len(self.content)

    def pieces(self) -> Iterator[bytes]:
        """Packed."""
        yield self.content

    def identity(self) -> Iterator[bytes]:
        """What is in it."""
        return iter(self.inner.identity())

    def rounds(self) -> Iterator[Round[Packed]]:
        """Those of what is in it."""
        for one in self.inner.rounds():
            yield Inside(self, one)


class Inside:
    """A round of what is in it."""

    def __init__(self, packed: Packed, inner: Round[Payload]) -> None:
        self._packed = packed
        self._inner = inner
        self.count = inner.count

    def keep(self, parts: Ranges) -> Packed:
        """Packed again."""
        inner = self._inner.keep(parts)
        return dataclasses.replace(self._packed, inner=inner, original=None)


def is_packed(start: bytes) -> bool:
    """By its first bytes."""
    return packings.by_content(start) is not None or start.startswith(ZIP) or _is_tar(start)


def _is_tar(start: bytes) -> bool:
    return start[257:262] == b"ustar"


def read_packed(content: bytes, name: str, read: Callable[[bytes, str], Payload]) -> Packed | None:
    """What it is by its first bytes; None if it is not packed, or broken."""
    try:
        packing = packings.by_content(content)
        if packing is not None:
            inner = packing.reader(io.BytesIO(content)).read()
            pack = packing.compress
            within = read(inner, packings.unpacked(name))
            return Packed(within, lambda one: pack(b"".join(one.pieces())), content)
        if content.startswith(ZIP):
            return _read_zip(content, read)
        if _is_tar(content):
            return _read_tar(content, read)
    except (zipfile.BadZipFile, tarfile.TarError, RuntimeError, *packings.errors()):  # type: ignore[misc]
        pass  # broken, which may be the very thing: its bytes are looked at
    return None


def _read_zip(content: bytes, read: Callable[[bytes, str], Payload]) -> Packed:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = [one for one in archive.infolist() if not one.is_dir()]
        members = [Member(one.filename, read(archive.read(one), one.filename)) for one in infos]
    kinds = {one.filename: one.compress_type for one in infos}

    def pack(group: Group) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for one in group.members:
                info = zipfile.ZipInfo(one.name, LONG_AGO)
                info.compress_type = kinds[one.name]
                archive.writestr(info, b"".join(one.payload.pieces()))
        return out.getvalue()

    return Packed(Group(tuple(members)), pack, content)


def _read_tar(content: bytes, read: Callable[[bytes, str], Payload]) -> Packed:
    infos: dict[str, tarfile.TarInfo] = {}
    members = []
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for info in archive:
            file = archive.extractfile(info) if info.isreg() else None
            if file is not None:
                infos[info.name] = info
                members.append(Member(info.name, read(file.read(), info.name)))

    def pack(group: Group) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for one in group.members:
                body = b"".join(one.payload.pieces())
                info = tarfile.TarInfo(one.name)
                info.mode, info.mtime = infos[one.name].mode, infos[one.name].mtime
                info.size = len(body)
                archive.addfile(info, io.BytesIO(body))
        return out.getvalue()

    return Packed(Group(tuple(members)), pack, content)

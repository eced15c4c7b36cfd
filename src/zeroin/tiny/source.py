"""A file as it would be without what it is packed with."""

from __future__ import annotations

import io
import os
import shutil
import tempfile

from zeroin.axes.payload import packings, zstd
from zeroin.tiny.rows import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import contextlib
    from typing import IO, Any

    from zeroin.axes.payload.tree import Codec


class Source:
    """A file that can be read from its start as often as anybody likes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = packings.unpacked(os.path.basename(path))
        with open(path, "rb") as file:
            self._packing = packings.by_content(file.read(packings.MAGIC))

    def open(self) -> IO[bytes]:
        """What is in it, from the start, as a stream."""
        file = open(self.path, "rb")  # noqa: SIM115 - whoever asked closes it
        if self._packing is None:
            return file
        if self._packing.magic == zstd.MAGIC and not zstd.is_there():
            file.close()
            raise UnreadableError(
                "packed with Zstandard, which this Python can't read", hint=zstd.HINT
            )
        return _Both(self._packing.reader(file), file)

    def text(self, codec: Codec) -> io.TextIOWrapper:
        """The same as text; what is none of it stays as it is."""
        file = self.open()
        file.read(len(codec.mark))
        return io.TextIOWrapper(file, codec.name, "surrogateescape", newline="")

    def file(self, stack: contextlib.ExitStack) -> str:
        """The path of a file, for who has to go back and forth in it; it may be gone soon."""
        if self._packing is None:
            return self.path
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="zeroin-tiny-"))
        target = os.path.join(folder, self.name)
        with self.open() as packed, open(target, "wb") as out:
            shutil.copyfileobj(packed, out)
        return target


class _Both(io.BufferedReader):
    """A stream that closes the file below it as well."""

    def __init__(self, stream: Any, file: IO[bytes]) -> None:
        super().__init__(stream)
        self._file = file

    def close(self) -> None:
        """Both."""
        super().close()
        self._file.close()

"""Zstandard: what Python 3.14 brings along, or the package `zstandard`, if either is there."""

from __future__ import annotations

import importlib
import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from typing_extensions import Buffer

MAGIC = b"\x28\xb5\x2f\xfd"
HINT = "pip install 'zeroin[zstd]'"
PIECE = 1 << 16  # bytes that are unpacked at once
LACKING = f"it is packed with Zstandard, which this Python can't read: {HINT}"


def is_there() -> bool:
    """Whether it can be read here."""
    return _library() is not None


def is_lacking(path: str) -> bool:
    """Whether a file is packed so and can't be read here."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC and not is_there()


def reader(file: IO[bytes]) -> IO[bytes]:
    """What is packed in a file, as a stream; a file may hold several frames."""
    library = _library()
    if library is None:
        raise OSError(LACKING)
    if library.__name__ == "zstandard":
        return io.BufferedReader(_Frames(file, library))
    unpacked: IO[bytes] = library.open(file, "rb")
    return unpacked


class _Frames(io.RawIOBase):
    """One frame after the other; the package itself does not mind when one is cut off."""

    def __init__(self, file: IO[bytes], library: Any) -> None:
        self._file = file
        self._unpacker = library.ZstdDecompressor()
        self._frame: Any = None
        self._packed = b""
        self._plain = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """As much as there is room for."""
        view = memoryview(buffer)
        while not self._plain:
            self._packed = self._packed or self._file.read(PIECE)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("it is cut off")
                return 0
            self._frame = self._frame or self._unpacker.decompressobj()
            self._plain, self._packed = self._frame.decompress(self._packed), b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        count = min(len(view), len(self._plain))
        view[:count], self._plain = self._plain[:count], self._plain[count:]
        return count


def compress(content: bytes) -> bytes:
    """Packed."""
    library = _library()
    if library is None:
        raise OSError(LACKING)
    packed: bytes = library.compress(content)
    return packed


def errors() -> tuple[type[Exception], ...]:
    """What a broken file raises."""
    library = _library()
    return () if library is None else (library.ZstdError,)


def _library() -> Any:
    for name in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None

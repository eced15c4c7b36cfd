"""Lines to agents: messages with a length in front, and descriptors that travel along."""

from __future__ import annotations

import _socket  # as in `inbox`: without what `socket` loads beside it
import array
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

BIGGEST = 16 << 20  # bytes of one message


class Line:
    """One connection. It never blocks; a line that can't take a message counts as dead."""

    def __init__(self, fd: int) -> None:
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, fd)
        self._socket.setblocking(False)
        self._data = bytearray()
        self.ended = False

    def fileno(self) -> int:
        """What to wait on."""
        return self._socket.fileno()

    def read(self) -> list[dict[str, Any]]:
        """The messages that have come in whole; `ended` is set at the end of the line."""
        try:
            part = self._socket.recv(1 << 18)
        except BlockingIOError:
            return []
        except OSError:
            part = b""
        self._data += part
        self.ended = not part
        return list(self._take())

    def _take(self) -> list[dict[str, Any]]:
        found = []
        while len(self._data) >= 4:
            size = int.from_bytes(self._data[:4], "big")
            if size > BIGGEST:
                self.ended = True
                break
            if len(self._data) < 4 + size:
                break
            try:
                message = json.loads(self._data[4 : 4 + size])
            except (ValueError, RecursionError):
                self.ended = True
                break
            del self._data[: 4 + size]
            if isinstance(message, dict):
                found.append(message)
        return found

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> bool:
        """Say something; False when nobody is there."""
        data = json.dumps(message).encode()
        data = len(data).to_bytes(4, "big") + data
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", descriptors))
        try:
            sent = self._socket.sendmsg([data], [rights] if descriptors else [])
        except OSError:  # also one that does not read
            return False
        return sent == len(data)

    def close(self) -> None:
        """Hang up: the other side ends."""
        self._socket.close()


class Listener:
    """Where agents call, in a private folder."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "warm")
        self._socket: Any = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.bind(self.path)
        self._socket.listen(512)

    def fileno(self) -> int:
        """What to wait on."""
        return int(self._socket.fileno())

    def accept(self) -> Line | None:
        """The next caller, if there is one."""
        try:
            fd, _ = self._socket._accept()  # noqa: SLF001 - what socket.accept calls
        except OSError:
            return None
        return Line(fd)

    def close(self) -> None:
        """Nobody can call any more."""
        self._socket.close()
        try:
            os.unlink(self.path)
        except OSError:
            pass

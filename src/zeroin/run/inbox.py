"""Where agents deliver: a Unix socket in a private folder that vanishes with the run."""

from __future__ import annotations

import _socket  # `socket` itself takes longer to load than all that we do with it
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 100  # bytes of a socket's path; the kernel takes 107
BIGGEST = 64 << 20  # bytes of one message


class Inbox:
    """Listens for the agents of one run; the messages come out of `messages`."""

    def __init__(self) -> None:
        self.folder = _private_folder()
        self.messages: list[dict[str, Any]] = []
        self._partial: dict[int, bytearray] = {}
        for path in (self.faults_path, self.peeks_path):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        self.socket: Any = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.socket.bind(os.path.join(self.folder, "agent"))
        self.socket.listen(512)

    @property
    def faults_path(self) -> str:
        """Where faulthandler of each Python below writes."""
        return os.path.join(self.folder, "faults")

    def faults(self) -> str:
        """What faulthandler wrote so far."""
        return _read(self.faults_path)

    @property
    def peeks_path(self) -> str:
        """Where the library of each Python below leaves its lines."""
        return os.path.join(self.folder, "peeks")

    def peeks(self) -> str:
        """What `peek` and `section` said so far."""
        return _read(self.peeks_path)

    def accept(self) -> int | None:
        """Take a new connection; returns its descriptor, to be watched."""
        try:
            fd, _ = self.socket._accept()  # noqa: SLF001 - what socket.accept calls
        except BlockingIOError:
            return None
        os.set_blocking(fd, False)
        self._partial[fd] = bytearray()
        return int(fd)

    def owns(self, fd: int) -> bool:
        """Whether the descriptor is a connection of ours."""
        return fd in self._partial

    def read(self, fd: int) -> bool:
        """Read on; False once that connection is done with."""
        data = self._partial[fd]
        try:
            part = os.read(fd, 1 << 20)
        except BlockingIOError:
            return True
        except OSError:
            part = b""
        data += part
        if part and len(data) < BIGGEST:
            return True
        os.close(fd)
        del self._partial[fd]
        self._take(bytes(data))
        return False

    def drain(self) -> None:
        """Take all that has been sent; the senders have ended."""
        import select

        while self.accept() is not None:
            pass
        for fd in list(self._partial):
            while select.select([fd], [], [], 0.5)[0] and self.read(fd):
                pass

    def _take(self, data: bytes) -> None:
        import json

        if len(data) < 4 or len(data) - 4 != int.from_bytes(data[:4], "big"):
            return  # its sender was killed half-way
        message = json.loads(data[4:])
        if isinstance(message, dict):
            self.messages.append(message)

    def close(self) -> None:
        """Leave nothing behind."""
        self.socket.close()
        for fd in self._partial:
            os.close(fd)
        _remove(self.folder)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""


def _private_folder() -> str:
    base = _base()
    for _ in range(100):
        try:
            return _make(base)
        except FileNotFoundError:  # another run was the last one there, and tidied up just now
            continue
    return _make(f"{base}-{os.urandom(4).hex()}")


def _make(base: str) -> str:
    try:
        os.mkdir(base, 0o700)
    except FileExistsError:
        if os.stat(base).st_uid != os.getuid():
            base += "-" + os.urandom(4).hex()
            os.mkdir(base, 0o700)
    _sweep(base)
    folder = os.path.join(base, f"{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(folder, 0o700)
    return folder


def _base() -> str:
    name = f"zeroin-{os.getuid()}"
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("TMPDIR"), "/tmp"):  # noqa: S108
        if parent and len(parent) + len(name) + 30 < LONGEST and os.access(parent, os.W_OK):
            return os.path.join(parent, name)
    return os.path.join("/tmp", name)  # noqa: S108


def _sweep(base: str) -> None:
    """Remove what runs left that were killed with -9."""
    for name in os.listdir(base):
        pid = name.partition("-")[0]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            _remove(os.path.join(base, name))


def _remove(folder: str) -> None:
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    for name in names:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            continue
    for path in (folder, os.path.dirname(folder)):
        try:
            os.rmdir(path)
        except OSError:  # another run lives there
            return

"""Where agents deliver: a Unix socket in a private folder that vanishes with the run."""

from __future__ import annotations

import _socket  # `socket` itself takes longer to load than all that we do with it
import errno
import os
import time

from zeroin.regular import read_regular
from zeroin.run.leftovers import hold_folder, is_private, remove_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 100  # bytes of a socket's path; the kernel takes 107
_TRIES = 100  # to make a folder
BIGGEST = 64 << 20  # bytes of one message
MOST_WAITING = 4 * BIGGEST  # bytes of all that are on their way
MOST_OPEN = 256  # connections at a time
MOST_MESSAGES = 20_000  # of one run
PATIENCE = 1.0  # seconds for what is still on its way at the end


class Inbox:
    """Listens for the agents of one run; the messages come out of `messages`."""

    def __init__(self) -> None:
        self.folder, self._lock = make_private_folder()
        self.messages: list[dict[str, Any]] = []
        self.dropped = 0  # of what came in: no agent says such things
        self._partial: dict[int, bytearray] = {}
        self._waiting = 0  # bytes of messages that are not whole yet
        self.socket: Any = None
        try:
            self._begin_to_listen()
        except OSError:
            self.close()
            raise

    def _begin_to_listen(self) -> None:
        for path in (self.faults_path, self.peeks_path):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
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
        if len(self._partial) >= MOST_OPEN:
            self._drop_oldest()
        try:
            fd, _ = self.socket._accept()  # noqa: SLF001 - what socket.accept calls
        except OSError as error:
            if error.errno == errno.EMFILE:  # so that there is room for the next one
                self._drop_oldest()
            return None
        os.set_blocking(fd, False)
        self._partial[fd] = bytearray()
        return int(fd)

    def _drop_oldest(self) -> None:
        """Hang up on who says nothing: an agent opens one, says all, and closes it."""
        for fd in self._partial:
            os.close(fd)
            self._waiting -= len(self._partial.pop(fd))
            self.dropped += 1
            return

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
        self._waiting += len(part)
        if part and len(data) < BIGGEST and self._waiting < MOST_WAITING:
            return True
        os.close(fd)
        del self._partial[fd]
        self._waiting -= len(data)
        self._take(bytes(data))
        return False

    def drain(self) -> None:
        """Take all that has been sent; the senders have ended, or have a moment left."""
        import select

        until = time.monotonic() + PATIENCE
        while self.accept() is not None:
            pass
        for fd in list(self._partial):
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            while poll.poll(max(0.0, until - time.monotonic()) * 1000) and self.read(fd):
                pass

    def _take(self, data: bytes) -> None:
        import json

        if len(data) < 4 or len(data) - 4 < int.from_bytes(data[:4], "big"):
            return  # its sender was killed half-way
        from zeroin.run.messages import is_message

        try:
            message = json.loads(data[4:])
        except (ValueError, RecursionError):
            message = None
        if is_message(message) and len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)
        else:
            self.dropped += 1

    def close(self) -> None:
        """Leave nothing behind."""
        if self.socket is not None:
            self.socket.close()
        for fd in self._partial:
            os.close(fd)
        _remove(self.folder)
        os.close(self._lock)


class NoInbox(Inbox):
    """In its place where none can be made: nobody is asked for anything, and nothing is heard."""

    def __init__(self) -> None:
        self.folder = ""
        self.messages = []
        self.dropped = 0
        self.socket = None
        self._partial = {}

    def accept(self) -> int | None:
        """Nobody can connect."""
        return None

    def drain(self) -> None:
        """Nothing can have been sent."""

    def faults(self) -> str:
        """Nobody was told where to write."""
        return ""

    def peeks(self) -> str:
        """Nobody was told where to write."""
        return ""

    def close(self) -> None:
        """Nothing was made."""


def _read(path: str) -> str:
    """What processes of the program left there; it is theirs, so it may be anything by now."""
    try:
        return read_regular(path, 1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""


def make_private_folder() -> tuple[str, int]:
    """Make a folder for one run, and give it with the lock that says that it is in use."""
    base = _base()
    for attempt in range(_TRIES):
        try:
            folder = _make(base if attempt < _TRIES - 1 else f"{base}-{os.urandom(4).hex()}")
        except FileNotFoundError:  # another run was the last one there, and tidied up just now
            continue
        lock = hold_folder(folder)
        if lock is not None:
            return folder, lock
    raise OSError(errno.EAGAIN, f"no folder for the agent's socket can be made in {base}")


def sweep_private_folders() -> None:
    """Remove what processes of ours left that were killed, and where it lay if nobody is there."""
    base = _base()
    remove_left(base)
    try:
        os.rmdir(base)
    except OSError:  # another run lives there, or nobody ever did
        return


def _make(base: str) -> str:
    try:
        os.mkdir(base, 0o700)
    except FileExistsError:
        if not is_private(os.lstat(base)):  # somebody else's, or a link of somebody's
            base += "-" + os.urandom(4).hex()
            os.mkdir(base, 0o700)
    remove_left(base)
    folder = os.path.join(base, f"{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(folder, 0o700)
    return folder


def _base() -> str:
    name = f"zeroin-{os.getuid()}"
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("TMPDIR"), "/tmp"):  # noqa: S108
        if parent and len(parent) + len(name) + 30 < LONGEST and os.access(parent, os.W_OK):
            return os.path.join(parent, name)
    return os.path.join("/tmp", name)  # noqa: S108


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

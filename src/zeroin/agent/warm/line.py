"""Messages between the program's processes and the driver: a length, then JSON; descriptors too."""

from __future__ import annotations

from .. import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECONDS = 5.0
HIGH = 1001  # descriptors that programs don't use


class Line:
    """A connection to the driver."""

    def __init__(self, sock: Any) -> None:
        self.sock = sock

    @classmethod
    def to(cls, folder: str) -> Line | None:
        """Connect; None if nobody listens."""
        import _socket
        import fcntl

        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        try:
            sock.connect(folder + "/warm")
            high = fcntl.fcntl(sock.fileno(), fcntl.F_DUPFD_CLOEXEC, HIGH)
        except OSError:
            sock.close()
            return None
        sock.close()
        return cls(_socket.socket(fileno=high))

    def send(self, message: dict[str, Any]) -> None:
        """One message."""
        body = post.dumps(message).encode("ascii")
        self.sock.sendall(len(body).to_bytes(4, "big") + body)

    def ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """One message, and its answer; None if it does not come."""
        try:
            self.send(message)
            self.sock.settimeout(SECONDS)
            answer, _ = self.receive()
            self.sock.settimeout(None)
        except OSError:
            return None
        return answer

    def receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        """The next message and what descriptors came with it; None when the driver is gone."""
        head, descriptors = self._take(4)
        body, more = self._take(int.from_bytes(head, "big")) if len(head) == 4 else (b"", [])
        if not body:
            return None, []
        return post.loads(body.decode("utf-8")), descriptors + more

    def has_mail(self) -> bool:
        """Whether a message has come, or the end."""
        try:
            self.sock.recv(1, LOOK)
        except BlockingIOError:
            return False
        return True

    def _take(self, size: int) -> tuple[bytes, list[int]]:
        data, descriptors = b"", []
        while len(data) < size:
            part, control, _, _ = self.sock.recvmsg(size - len(data), 256, CLOEXEC)
            for level, kind, raw in control:
                if (level, kind) == RIGHTS:
                    descriptors += [
                        int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw), 4)
                    ]
            if not part:
                break
            data += part
        return data, descriptors

    def close(self) -> None:
        """Hang up."""
        self.sock.close()


CLOEXEC = 0x40000000  # MSG_CMSG_CLOEXEC
LOOK = 0x02 | 0x40  # MSG_PEEK, MSG_DONTWAIT
RIGHTS = (1, 1)  # SOL_SOCKET, SCM_RIGHTS


def say(folder: str, message: dict[str, Any]) -> None:
    """One message on a connection of its own."""
    line = Line.to(folder)
    if line is not None:
        try:
            line.send(message)
        except OSError:
            pass
        line.close()

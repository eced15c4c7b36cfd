"""How the agent tells the driver something: one message, one connection.

Frame: four bytes of length, big end first, then JSON. A connection per message needs no
care across fork, threads or closed descriptors, and costs 0.1 ms. `socket` and `json`
would cost a short program 15 ms at its exit, their C halves cost almost nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOOK = 0.5  # seconds between two looks whether there still is a driver
SECONDS = 2.0  # a driver that does not listen must not hold the program up for longer


def dumps(value: Any) -> str:
    """JSON of None, bool, int, float, str, list, tuple and dict with text keys."""
    from _json import encode_basestring_ascii as quote

    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is int:
        return int.__repr__(value)
    if kind is float:
        return float.__repr__(value) if value - value == 0 else "null"
    if kind is dict:
        return "{" + ",".join(quote(str(k)) + ":" + dumps(v) for k, v in value.items()) + "}"
    return "[" + ",".join(map(dumps, value)) + "]"


def loads(text: str) -> Any:
    """JSON as the standard library reads it, without bringing that module into the program."""
    import _json

    machinery: Any = _json
    return machinery.make_scanner(_Context())(text, 0)[0]


class _Context:
    """How it is to be read."""

    strict = True
    parse_float, parse_int = float, int

    def __init__(self) -> None:
        self.memo: dict[str, str] = {}

    def __getattr__(self, _: str) -> None:
        """Say that there are no hooks: each version of the scanner asks for more of them."""
        return


def send(message: dict[str, Any]) -> bool:
    """Deliver one message; False when nobody listens. Never raises, never prints."""
    from . import asked

    folder = asked.find_folder()
    if not folder:
        return False
    try:
        import _socket

        body = dumps(message).encode("ascii")
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            line.settimeout(SECONDS)
            line.connect(folder + "/agent")
            line.sendall(len(body).to_bytes(4, "big") + body)
        finally:
            line.close()
    except Exception:
        return False
    return True


def wait_to_be_ended(seconds: float) -> None:
    """Stand still until the driver ends us, for as long as there is one."""
    import _socket
    import time

    from . import asked

    folder = asked.find_folder()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            line.settimeout(SECONDS)
            line.connect(folder + "/agent")
        except _socket.timeout:  # TimeoutError, from 3.10 on
            pass
        except OSError:  # nobody listens: it was killed
            return
        finally:
            line.close()
        time.sleep(LOOK)


_folder = ""


def remember(folder: str) -> None:
    """Keep the address: the program may empty os.environ."""
    global _folder  # noqa: PLW0603 - one address a process
    _folder = folder


def remembered() -> str:
    """Give the address that was kept; "" if there is none."""
    return _folder

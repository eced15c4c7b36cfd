"""`network=off`, `network=1mbit`: no network but a loopback of the command's own, and that slow.

A rate is for what the command and its children send to one another through the loopback; nothing
outside can be reached with either.
"""

from __future__ import annotations

import re
import socket
import struct

from zeroin.emulate import kernel
from zeroin.emulate.part import Backend, Effect, Kind, Limit, Part
from zeroin.errors import UsageError
from zeroin.sizes import parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Scene

SAYS_NONE = (
    "Network is unreachable",
    "ENETUNREACH",
    "Temporary failure in name resolution",
    "Name or service not known",
    "No address associated with hostname",
)
# Of linux/rtnetlink.h and linux/pkt_sched.h.
NEW_QUEUE, REQUEST, ACKNOWLEDGE, CREATE, REPLACE = 36, 0x1, 0x4, 0x400, 0x100
ROOT, KIND, OPTIONS, PARAMETERS, BURST = 0xFFFFFFFF, 1, 2, 1, 6
ETHERNET = 1  # how packets are counted
LARGEST = 70_000  # bytes of one packet on the loopback
WAITING = 0.4  # seconds that a packet may wait
BITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def read(name: str, value: str) -> Limit:
    """`off`, `1mbit`, `125K` (bytes a second)."""
    text = f"{name}={value}"
    if value == "off":
        return Limit(name, text)
    bits = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)bit(?:/s)?", value, re.IGNORECASE)
    try:
        rate = (
            int(float(bits[1]) * BITS[bits[2].lower()]) // 8
            if bits
            else parse_size(value.removesuffix("/s"))
        )
    except UsageError:
        raise UsageError(
            f"--limit {text}: {value!r} is no rate", hint="write off, 1mbit or 125K (a second)"
        ) from None
    if not rate:
        raise UsageError(f"--limit {text}: that is no network at all", hint=f"write {name}=off")
    return Limit(name, text, "", rate)


class Alone(Part):
    """A network namespace with nothing in it but a loopback."""

    spaces = kernel.NEW_NETWORK

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        self._rate = int(limits[0].amount)
        super().__init__(limits, "network namespace" + (" with a slow loopback" * bool(self._rate)))

    def enter(self, *, apart: bool) -> None:
        """Even the loopback is down at first."""
        del apart
        kernel.loopback_up()
        if self._rate:
            slow_down(self._rate)

    def effects(self, ending: Ending) -> list[Effect]:
        """The program says when it finds nobody."""
        reached = ending.failed and any(words in ending.said for words in SAYS_NONE)
        notes = ("nothing outside of the command can be reached",) if self._rate else ()
        return [Effect(self.limits[0].text, self.backend, reached, notes=notes)]


def slow_down(rate: int) -> None:
    """A token bucket on the loopback, for so many bytes a second, as `tc qdisc` would make it."""
    speed = struct.pack("=BBHhHI", 0, ETHERNET, 0, 0, 0, rate)
    most = max(LARGEST, int(rate * WAITING))
    bucket = speed + bytes(12) + struct.pack("=III", most + LARGEST, 0, 0)
    options = _attribute(PARAMETERS, bucket) + _attribute(BURST, struct.pack("=I", LARGEST))
    index = socket.if_nametoindex("lo")
    body = struct.pack("=BxxxiIII", socket.AF_UNSPEC, index, 0, ROOT, 0)
    body += _attribute(KIND, b"tbf\0") + _attribute(OPTIONS, options)
    flags = REQUEST | ACKNOWLEDGE | CREATE | REPLACE
    head = struct.pack("=IHHII", 16 + len(body), NEW_QUEUE, flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as line:
        line.send(head + body)
        answer = line.recv(4096)
    code = struct.unpack_from("=i", answer, 16)[0]
    if code:
        raise OSError(-code, f"a slow loopback: error {-code}")


def _attribute(kind: int, data: bytes) -> bytes:
    padding = bytes(-len(data) % 4)
    return struct.pack("=HH", 4 + len(data), kind) + data + padding


def _lacks(limits: Sequence[Limit], scene: Scene) -> str:
    part = Alone(limits, scene)
    return kernel.trial(part.spaces, lambda apart: part.enter(apart=apart))


KINDS = {
    "network": Kind(
        "network",
        "no network, or a slow one among the command's own processes",
        read,
        (Backend("network namespace", _lacks, Alone, fails_well=True),),
    )
}

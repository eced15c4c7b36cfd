"""Numbers of an array, as bytes, and what a row of them is like."""

from __future__ import annotations

import array
import math
import struct
import sys

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NARROW = 20  # numbers of a row that are looked at one by one: columns of a table


class Numbers(NamedTuple):
    """How they are stored."""

    code: str  # of `struct`, "bf" for bfloat16; "" for what is no plain number
    order: str  # of bytes, < or >
    width: int
    kind: str  # as NumPy says it

    def read(self, content: bytes) -> Sequence[Any]:
        """As Python's."""
        code, data = self.code, content
        if code == "bf":  # the first half of a float
            wide = bytearray(2 * len(content))
            wide[2::4], wide[3::4] = content[::2], content[1::2]
            code, data = "f", bytes(wide)
        if not code:
            return self._read_other(content)
        if code == "e":
            return struct.unpack(f"{self.order}{len(data) // 2}e", data)
        if code == "?":
            return [bool(one) for one in data]
        found = array.array(code, data)
        if (self.order == ">") != (sys.byteorder == "big"):
            found.byteswap()
        return found

    def _read_other(self, content: bytes) -> Sequence[Any]:
        kind, width = self.kind[1:2], self.width
        pieces = [content[at : at + width] for at in range(0, len(content), width or 1)]
        if kind == "U":
            name = "utf-32-be" if self.order == ">" else "utf-32-le"
            return [one.decode(name, "replace").rstrip("\0") for one in pieces]
        if kind == "S":
            return [one.rstrip(b"\0").decode("latin-1") for one in pieces]
        half = self._replace(code="f" if width == 8 else "d", width=width // 2)
        if kind == "c" and width in (8, 16):
            return half.read(content)
        if kind in ("M", "m"):
            return self._replace(code="q").read(content)
        return [one.hex() for one in pieces]

    def described(self, content: bytes) -> Any:
        """A few numbers as they are; of many what is special about them."""
        numbers = self.read(content)
        if len(numbers) == 1:
            return numbers[0]
        if len(numbers) <= NARROW or not isinstance(numbers[0], (int, float)):
            return {str(place): one for place, one in enumerate(numbers[:NARROW])}
        return described(numbers)


def described(numbers: Sequence[float]) -> dict[str, Any]:
    """What is special about many numbers."""
    finite = numbers
    total = sum(numbers)
    told: dict[str, Any] = {"NaN": False, "infinite": False}
    if not math.isfinite(total):  # only then is a closer look needed
        told["NaN"] = any(map(math.isnan, numbers))
        told["infinite"] = any(map(math.isinf, numbers))
        finite = [one for one in numbers if math.isfinite(one)]
    least, greatest = (min(finite), max(finite)) if finite else (None, None)
    return told | {
        "least": least,
        "greatest": greatest,
        "zeros": 0 in numbers,
        "all equal": least == greatest,
    }


class Records(NamedTuple):
    """Several fields side by side, each of its own kind."""

    width: int
    fields: tuple[tuple[str, int, int, Numbers | Records], ...]  # name, from where to where, what
    code: str = ""
    order: str = "<"

    def described(self, content: bytes) -> dict[str, Any]:
        """By their names; of several records, the first ones by their places as well."""
        found = {}
        for at in range(0, min(len(content), NARROW * self.width), self.width):
            place = "" if len(content) == self.width else f"{at // self.width}."
            for name, start, end, inner in self.fields:
                found[f"{place}{name}"] = inner.described(content[at + start : at + end])
        return found

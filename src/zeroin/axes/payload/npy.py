"""NumPy's `.npy`, and so the members of `.npz`. Without NumPy."""

from __future__ import annotations

import ast
import math
import re

from zeroin.axes.payload.arrays import Array
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAGIC = b"\x93NUMPY"
# How each kind of number is packed.
NPY = {"f2": "e", "f4": "f", "f8": "d", "b1": "?"} | {
    f"{sign}{size}": code.upper() if sign == "u" else code
    for sign in "iu"
    for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))
}
_KIND = re.compile(r"[<>|=]([a-zA-Z])(\d+)")


class Npy(NamedTuple):
    """What the start of such a file says."""

    version: bytes
    kind: Any  # of the numbers, as NumPy writes it; of records a list
    columns_first: bool
    shape: tuple[int, ...]
    start: int  # of the data

    def head(self, shape: tuple[int, ...]) -> bytes:
        """The start of a file of another shape."""
        first = self.columns_first
        text = f"{{'descr': {self.kind!r}, 'fortran_order': {first}, 'shape': {shape!r}, }}"
        size = 2 if self.version[0] == 1 else 4
        text += " " * (-(8 + size + len(text) + 1) % 64) + "\n"
        return MAGIC + self.version + len(text).to_bytes(size, "little") + text.encode()


def read_head(content: bytes) -> Npy | None:
    """What stands at the start; None if that is no array."""
    if not content.startswith(MAGIC) or len(content) < 12:
        return None
    version = content[6:8]
    size, start = (2, 10) if version[0] == 1 else (4, 12)
    end = start + int.from_bytes(content[8 : 8 + size], "little")
    try:
        said = ast.literal_eval(content[start:end].decode("latin-1"))
        shape = tuple(map(int, said["shape"]))
        return Npy(version, said["descr"], bool(said["fortran_order"]), shape, end)
    except (ValueError, SyntaxError, KeyError, TypeError):
        return None


def read_npy(content: bytes) -> Array | None:
    """None if it is no array, or one of Python's objects."""
    said = read_head(content)
    if said is None:
        return None
    kind, data = said.kind, content[said.start :]
    width = width_of(kind)
    if not width or len(data) != math.prod(said.shape) * width:
        return None
    is_turned = said.columns_first
    shape = said.shape[::-1] if is_turned else said.shape

    def write(array: Array) -> bytes:
        now = [kind[number] for number, _ in array.fields] or kind
        shape = array.shape[::-1] if is_turned else array.shape
        return said._replace(kind=now).head(shape) + array.data

    if isinstance(kind, list):
        fields = tuple((number, width_of([one])) for number, one in enumerate(kind))
        return Array(shape, width, "", data, write, fields, is_turned)
    code = NPY.get(kind[1:], "") if isinstance(kind, str) else ""
    order = ">" if kind[0] == ">" else "<"
    return Array(shape, width, code and f"{order}{code}", data, write, (), is_turned)


def width_of(kind: Any) -> int:
    """Bytes of a number, a text or a record, as NumPy says its kind; 0 for Python's objects."""
    if isinstance(kind, str):
        found = _KIND.match(kind)
        if found is None or found[1] == "O":
            return 0
        return int(found[2]) * (4 if found[1] == "U" else 1)
    if isinstance(kind, tuple):
        return width_of(kind[0]) * math.prod(kind[1])
    widths = [width_of(one[1]) * math.prod(one[2] if len(one) > 2 else ()) for one in kind]
    return sum(widths) if all(widths) else 0

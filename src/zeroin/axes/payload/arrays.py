"""Arrays of numbers: NumPy's `.npy` (and so `.npz`), and safetensors. Without NumPy.

Rows of each axis go, from the last to the first; then values become 0, or count from 1. The kind
of number stays.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import math
import struct
from typing import TYPE_CHECKING, Any

from zeroin.axes.payload.group import Group, Member
from zeroin.axes.payload.kinds import flags
from zeroin.axes.payload.packed import Packed
from zeroin.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zeroin.axes.payload.kinds import Ranges, Round

MAGIC = b"\x93NUMPY"
# How each kind of number is packed; bfloat16 is the first half of a float.
NPY = {"f2": "e", "f4": "f", "f8": "d", "b1": "?"} | {
    f"{sign}{size}": code.upper() if sign == "u" else code
    for sign in "iu"
    for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))
}
SAFE = {"F16": "e", "F32": "f", "F64": "d", "BOOL": "?", "BF16": "bf"} | {
    f"{sign}{8 * size}": code.upper() if sign == "U" else code
    for sign in "IU"
    for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))
}


@dataclasses.dataclass(frozen=True)
class Array:
    """Numbers in order of their rows."""

    shape: tuple[int, ...]
    width: int  # bytes of a number
    code: str  # of `struct`, with the order of bytes in front; "" for what is no number
    data: bytes
    write: Callable[[Array], bytes] = dataclasses.field(compare=False)

    noun = "row"

    @property
    def parts(self) -> int:
        """Rows of the first axis."""
        return self.shape[0] if self.shape else 1

    def is_valid(self) -> bool:
        """By the way it is made."""
        return True

    @property
    def size(self) -> int:
        """How many bytes."""
        return len(self.write(self))

    def pieces(self) -> Iterator[bytes]:
        """As the file has it."""
        yield self.write(self)

    identity = pieces

    def rounds(self) -> Iterator[Round[Array]]:
        """Rows, the other axes, values."""
        for axis in range(len(self.shape)):
            yield Axis(self, axis)
        for values in (_zeros, _counted):
            yield Values(self, values)


class Axis:
    """Rows of one axis."""

    def __init__(self, array: Array, axis: int) -> None:
        self._array = array
        self._axis = axis
        self.count = array.shape[axis]

    def keep(self, parts: Ranges) -> Array:
        """Only these."""
        shape, axis = self._array.shape, self._axis
        inner = math.prod(shape[axis + 1 :]) * self._array.width
        step = shape[axis] * inner
        view = memoryview(self._array.data)
        data = b"".join(
            view[at + a * inner : at + b * inner]
            for at in range(0, math.prod(shape[:axis]) * step, step or 1)
            for a, b in parts
        )
        left = sum(b - a for a, b in parts)
        return dataclasses.replace(
            self._array, shape=(*shape[:axis], left, *shape[axis + 1 :]), data=data
        )


class Values:
    """Numbers that are not yet what they could be."""

    def __init__(self, array: Array, values: Callable[[int], list[float]]) -> None:
        self._array = array
        self._new = _packed(array, values(math.prod(array.shape))) if array.code else array.data
        width = array.width
        self._places = [
            at
            for at in range(0, len(array.data), width)
            if self._rank(array.data[at : at + width], at) > 0
        ]
        self.count = len(self._places)

    def _rank(self, value: bytes, at: int) -> int:
        new = self._new[at : at + self._array.width]
        zero = bytes(self._array.width)
        return 0 if value in (new, zero) else 1

    def keep(self, parts: Ranges) -> Array:
        """The others become what they could be."""
        data = bytearray(self._array.data)
        width = self._array.width
        for at, kept in zip(self._places, flags(parts, self.count), strict=True):
            if not kept:
                data[at : at + width] = self._new[at : at + width]
        return dataclasses.replace(self._array, data=bytes(data))


def _zeros(count: int) -> list[float]:
    return [0] * count


def _counted(count: int) -> list[float]:
    return [1 + number % 100 for number in range(count)]


def _packed(array: Array, values: list[float]) -> bytes:
    order, code = array.code[:1], array.code[1:]
    if code == "bf":
        return b"".join(struct.pack("<f", one)[2:] for one in values)
    if code == "?":
        return struct.pack(f"{order}{len(values)}?", *map(bool, values))
    if code in "dfe":
        return struct.pack(f"{order}{len(values)}{code}", *map(float, values))
    return struct.pack(f"{order}{len(values)}{code}", *map(int, values))


# --- NumPy --------------------------------------------------------------------------------------


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
    """None if it is no array of plain numbers in the order of rows."""
    said = read_head(content)
    if said is None or said.columns_first or not isinstance(said.kind, str):
        return None
    kind, data = said.kind, content[said.start :]
    if not kind[2:].isdigit() or kind[1] == "O":
        return None
    width = int(kind[2:])
    if len(data) != math.prod(said.shape) * width:
        return None

    def write(array: Array) -> bytes:
        return said.head(array.shape) + array.data

    order = "<" if kind[0] in "<|" else ">"
    code = NPY.get(kind[1:], "")
    return Array(said.shape, width, f"{order}{code}" if code else "", data, write)


# --- safetensors --------------------------------------------------------------------------------


def read_safetensors(content: bytes) -> Packed | None:
    """Tensors by name; None if it is something else."""
    size = int.from_bytes(content[:8], "little")
    if not 2 <= size <= len(content) - 8 or content[8:9] != b"{":
        return None
    try:
        header = json.loads(content[8 : 8 + size])
        notes = header.pop("__metadata__", None)
        members = [Member(name, _tensor(one, content[8 + size :])) for name, one in header.items()]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    kinds = {name: one["dtype"] for name, one in header.items()}

    def pack(group: Group) -> bytes:
        return _safetensors(group, kinds, notes)

    return Packed(Group(tuple(members), "tensor"), pack)


def _tensor(told: dict[str, Any], data: bytes) -> Array:
    shape = tuple(told["shape"])
    start, end = told["data_offsets"]
    count = math.prod(shape)
    code = SAFE.get(told["dtype"], "")
    width = (end - start) // count if count else 1
    return Array(shape, width, f"<{code}" if code else "", data[start:end], lambda one: one.data)


def _safetensors(group: Group, kinds: dict[str, str], notes: object) -> bytes:
    header: dict[str, object] = {} if notes is None else {"__metadata__": notes}
    at, bodies = 0, []
    for one in group.members:
        array = one.payload
        if not isinstance(array, Array):  # they are all made here
            raise TypeError(one.name)
        end = at + len(array.data)
        offsets = [at, end]
        header[one.name] = {
            "dtype": kinds[one.name],
            "shape": array.shape,
            "data_offsets": offsets,
        }
        bodies.append(array.data)
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *bodies])

"""Arrays of numbers, and safetensors, which are several of them. Without NumPy.

Rows of each axis go, from the last to the first, then fields of records; then values become 0, or
count from 1. The kind of number stays.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import struct

from zeroin.axes.payload.group import Group, Member
from zeroin.axes.payload.kinds import flags
from zeroin.axes.payload.packed import Packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from zeroin.axes.payload.kinds import Ranges, Round

LONGEST = 100 << 20  # bytes of a description, as the format has it
MANY = 1 << 16  # numbers that are looked at one by one
# How each kind of number is packed; bfloat16 is the first half of a float.
SAFE = {"F16": "e", "F32": "f", "F64": "d", "BOOL": "?", "BF16": "bf"} | {
    f"{sign}{8 * size}": code.upper() if sign == "U" else code
    for sign in "IU"
    for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))
}


@dataclasses.dataclass(frozen=True)
class Array:
    """Numbers, those of the last axis side by side."""

    shape: tuple[int, ...]
    width: int  # bytes of a number, or of a record
    code: str  # of `struct`, with the order of bytes in front; "" for what is no number
    data: bytes
    write: Callable[[Array], bytes] = dataclasses.field(compare=False)
    fields: tuple[tuple[int, int], ...] = ()  # of a record: the number of each, and its width
    is_turned: bool = False  # the last axis is what a program takes for the first

    noun = "row"

    @property
    def parts(self) -> int:
        """Rows, as a program has them."""
        return self.shape[self.axes[0]] if self.shape else 1

    @property
    def axes(self) -> range:
        """As a program has them."""
        axes = range(len(self.shape))
        return axes[::-1] if self.is_turned else axes

    def is_valid(self) -> bool:
        """By the way it is made."""
        return True

    @functools.cached_property
    def size(self) -> int:
        """How many bytes."""
        return len(self.write(self))

    def pieces(self) -> Iterator[bytes]:
        """As the file has it."""
        yield self.write(self)

    def identity(self) -> Iterator[bytes]:
        """Its shape as well: the same bytes, or none at all, may have several."""
        yield repr((self.shape, self.fields)).encode()
        yield from self.pieces()

    def rounds(self) -> Iterator[Round[Array]]:
        """Rows, the other axes, fields, values."""
        for axis in self.axes:
            yield Axis(self, axis)
        yield Fields(self)
        yield Values(self, bytes(len(self.data)))
        if self.code:
            yield Values(self, _packed(self.code, _counted(math.prod(self.shape))))


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


class Fields:
    """Fields of a record; one of them stays."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.count = len(array.fields) if len(array.fields) > 1 else 0

    def keep(self, parts: Ranges) -> Array:
        """Only these, or the first if that were none."""
        array = self._array
        kept = flags(parts or ((0, 1),), self.count)
        places = itertools.compress(_cells(array), itertools.cycle(kept))
        return dataclasses.replace(
            array,
            fields=tuple(itertools.compress(array.fields, kept)),
            width=sum(width for (_, width), stays in zip(array.fields, kept, strict=True) if stays),
            data=b"".join(array.data[at : at + width] for at, width in places),
        )


class Values:
    """Numbers that are not yet what they could be."""

    def __init__(self, array: Array, new: bytes) -> None:
        self._array = array
        self._new = new
        self._changed = [
            (at, at + width)
            for at, width in (_cells(array) if _cells_of(array) <= MANY else _blocks(array))
            if array.data[at : at + width] not in (new[at : at + width], bytes(width))
        ]
        self.count = len(self._changed)

    def keep(self, parts: Ranges) -> Array:
        """The others become what they could be."""
        data = bytearray(self._array.data)
        for (start, end), kept in zip(self._changed, flags(parts, self.count), strict=True):
            if not kept:
                data[start:end] = self._new[start:end]
        return dataclasses.replace(self._array, data=bytes(data))


def _cells_of(array: Array) -> int:
    return math.prod(array.shape) * max(1, len(array.fields))


def _cells(array: Array) -> Iterator[tuple[int, int]]:
    """Where each number is, or each field of each record, and how wide."""
    widths = [width for _, width in array.fields] or [array.width]
    starts = list(itertools.accumulate(widths[:-1], initial=0))
    for at in range(0, len(array.data), array.width):
        yield from ((at + start, width) for start, width in zip(starts, widths, strict=True))


def _blocks(array: Array) -> Iterator[tuple[int, int]]:
    """Where some numbers, or records, are at once: one by one they would be too many."""
    wide = -(-math.prod(array.shape) // MANY) * array.width
    for at in range(0, len(array.data), wide):
        yield at, min(wide, len(array.data) - at)


def _counted(count: int) -> list[int]:
    return [1 + number % 100 for number in range(count)]


def _packed(kind: str, values: list[int]) -> bytes:
    order, code = kind[:1], kind[1:]
    if code == "bf":
        return b"".join(struct.pack("<f", one)[2:] for one in values)
    return struct.pack(f"{order}{len(values)}{code}", *values)


# --- safetensors --------------------------------------------------------------------------------


def is_safetensors(start: bytes) -> bool:
    """Whether it may be: the length of a description, which has to begin behind it."""
    return 2 <= int.from_bytes(start[:8], "little") <= LONGEST and start[8:9] == b"{"


def read_safetensors(content: bytes) -> Packed | None:
    """Tensors by name; None if it is something else."""
    size = int.from_bytes(content[:8], "little")
    if not is_safetensors(content) or size > len(content) - 8:
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

    return Packed(Group(tuple(members), "tensor"), pack, content)


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

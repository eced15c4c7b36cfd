"""Arrays that were never there, as NumPy and safetensors have them on the disk.

`float32[2,3]` is an array, `x:float32[2,3],y:int64[2]` are several. They count from 1, or are
random.
"""

from __future__ import annotations

import io
import math
import os
import re
import struct
import zipfile

from zeroin.axes.payload.npy import MAGIC, Npy
from zeroin.axes.payload.packed import LONG_AGO
from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.tiny import arrays as stored
from zeroin.tiny.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    import contextlib
    import random
    from collections.abc import Mapping
    from typing import Any

    Arrays = dict[str, "Array"]

ONLY = stored.ONLY


class Kind(NamedTuple):
    """A kind of number."""

    npy: str  # as NumPy calls it, without the order of bytes; "" if it has none
    safe: str  # as safetensors does
    code: str  # as `struct` does
    width: int


KINDS = {
    "float16": Kind("f2", "F16", "e", 2),
    "bfloat16": Kind("", "BF16", "bf", 2),
    "float32": Kind("f4", "F32", "f", 4),
    "float64": Kind("f8", "F64", "d", 8),
    "int8": Kind("i1", "I8", "b", 1),
    "int16": Kind("i2", "I16", "h", 2),
    "int32": Kind("i4", "I32", "i", 4),
    "int64": Kind("i8", "I64", "q", 8),
    "uint8": Kind("u1", "U8", "B", 1),
    "uint16": Kind("u2", "U16", "H", 2),
    "uint32": Kind("u4", "U32", "I", 4),
    "uint64": Kind("u8", "U64", "Q", 8),
    "bool": Kind("b1", "BOOL", "?", 1),
}
_SHAPE = r"(\w+)\s*\[([\d,x ]*)\]"
_ARRAY = re.compile(_SHAPE)
_NAMED = re.compile(rf"\s*([\w.\-/]+)\s*:\s*{_SHAPE}\s*(,|\Z)")


class Array(NamedTuple):
    """One that is to be made."""

    kind: str
    shape: tuple[int, ...]
    order: str = "<"  # of bytes


# --- which --------------------------------------------------------------------------------------


def parse(spec: str) -> Arrays | None:
    """Arrays from a line; None for a line that speaks of no array."""
    only = _ARRAY.fullmatch(spec.strip())
    if only is not None:
        return {ONLY: _array(only[1], only[2])}
    found: Arrays = {}
    at = 0
    while at < len(spec):
        one = _NAMED.match(spec, at)
        if one is None:
            return None
        found[one[1]] = _array(one[2], one[3])
        at = one.end()
    return found or None


def _array(kind: str, shape: str) -> Array:
    if kind not in KINDS:
        raise UsageError(f"{kind}: no such kind", hint=f"there are {', '.join(KINDS)}")
    return Array(kind, tuple(int(one) for one in re.split(r"[,x ]+", shape) if one))


def like(path: str, count: int, stack: contextlib.ExitStack) -> Arrays | None:
    """Arrays as a file has them, with other lengths; None if it has none."""
    found = _stored(path, stack)
    if found is None:
        return None
    names = stored.together(found)
    return {
        name: _like(name, one)._replace(
            shape=(count, *one.shape[1:]) if name in names else one.shape
        )
        for name, one in found.items()
    }


def _stored(path: str, stack: contextlib.ExitStack) -> Mapping[str, stored.Stored] | None:
    source = Source(path)
    with source.open() as file:
        sample = file.read(stored.HEAD)
    if sample.startswith(MAGIC):
        one = stored.stored(sample)
        return {ONLY: one} if one is not None else None
    if sample.startswith(b"PK\3\4"):
        with zipfile.ZipFile(source.file(stack)) as archive:
            is_arrays = all(name.endswith(".npy") for name in archive.namelist())
            return stored.npz_arrays(archive) if is_arrays else None
    if sample[8:9] != b"{":
        return None
    with open(source.file(stack), "rb") as file:
        told = stored.tensors(file, os.fstat(file.fileno()).st_size)
    return told.arrays if told is not None else None


def _like(name: str, one: stored.Stored) -> Array:
    for kind, known in KINDS.items():
        if one.kind == known.safe or (one.head is not None and one.kind[1:] == known.npy):
            return Array(kind, one.shape, one.numbers.order)
    shown = f"{name}: " if name else ""
    raise UsageError(
        f"{shown}numbers of the kind {one.kind} are not made up", hint=f"only {', '.join(KINDS)}"
    )


# --- numbers ------------------------------------------------------------------------------------


def values(array: Array, drawn: random.Random | None) -> list[float]:
    """1, 2, 3, ...; or normal numbers."""
    kind, count = array.kind, math.prod(array.shape)
    is_float = "float" in kind
    if drawn is None:
        most = 100 if KINDS[kind].width == 1 or kind == "bfloat16" else 1000
        turn = float if is_float else (bool if kind == "bool" else int)
        return [turn(1 + number % most) for number in range(count)]
    if is_float:
        return [drawn.gauss(0, 1) for _ in range(count)]
    return [drawn.randrange(0, 2 if kind == "bool" else 100) for _ in range(count)]


def content(array: Array, numbers: list[float]) -> bytes:
    """As bytes."""
    code = KINDS[array.kind].code
    if code == "bf":  # the first half of a float
        wide = struct.pack(f"<{len(numbers)}f", *numbers)
        return b"".join(wide[at + 2 : at + 4] for at in range(0, len(wide), 4))
    turn = bool if code == "?" else float if code in "efd" else int
    return struct.pack(f"{array.order}{len(numbers)}{code}", *map(turn, numbers))


def nested(shape: tuple[int, ...], numbers: list[float]) -> Any:
    """As lists in lists."""
    if not shape:
        return numbers[0]
    step = math.prod(shape[1:])
    return [nested(shape[1:], numbers[n * step : (n + 1) * step]) for n in range(shape[0])]


# --- files --------------------------------------------------------------------------------------


def npy(array: Array, numbers: list[float]) -> bytes:
    """One, for NumPy."""
    kind = KINDS[array.kind]
    if not kind.npy:
        raise UsageError(f"NumPy has no {array.kind}", hint="-o x.safetensors, or x.pt")
    order = "|" if kind.width == 1 else array.order
    head = Npy(b"\1\0", f"{order}{kind.npy}", False, array.shape, 0)
    return head.head(array.shape) + content(array, numbers)


def npz(arrays: Arrays, numbers: Mapping[str, list[float]]) -> bytes:
    """Several, for NumPy; one without a name is called as NumPy does."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, one in arrays.items():
            info = zipfile.ZipInfo(f"{name or 'arr_0'}.npy", LONG_AGO)
            archive.writestr(info, npy(one, numbers[name]))
    return out.getvalue()


def safetensors(arrays: Arrays, numbers: Mapping[str, list[float]]) -> bytes:
    """Several, by name; bytes are always in one order there."""
    own = {name or "tensor": one._replace(order="<") for name, one in arrays.items()}
    kinds = {name: KINDS[one.kind].safe for name, one in own.items()}
    widths = {name: KINDS[one.kind].width for name, one in own.items()}
    head = stored.safetensors_head(kinds, {name: one.shape for name, one in own.items()}, widths)
    bodies = (content(own[name or "tensor"], numbers[name]) for name in arrays)
    return head + b"".join(bodies)

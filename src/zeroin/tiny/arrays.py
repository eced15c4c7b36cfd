"""Arrays as rows of their first axis: NumPy's `.npy` and `.npz`, and safetensors. Without NumPy.

A row is read when it is its turn. Of several arrays those that are equally long go together; the
others stay as they are.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import shutil
import zipfile

from zeroin.axes.payload.arrays import SAFE
from zeroin.axes.payload.npy import NPY, Npy, read_head, width_of
from zeroin.axes.payload.packed import LONG_AGO
from zeroin.named import NamedTuple
from zeroin.tiny.numbers import Numbers, Records
from zeroin.tiny.rows import Row, Rows, UnreadableError, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO, Any

HEAD = 1 << 16  # bytes in which NumPy's header is
ONLY = ""  # the name of an array that has none


class Stored(NamedTuple):
    """An array in a file."""

    kind: str  # of its numbers, as the file says it
    shape: tuple[int, ...]
    numbers: Numbers | Records
    head: Npy | None = None  # of NumPy

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return math.prod(self.shape[1:]) * self.numbers.width

    @property
    def size(self) -> int:
        """Bytes of all numbers."""
        return math.prod(self.shape) * self.numbers.width


def together(arrays: Mapping[str, Stored]) -> list[str]:
    """Those whose first axes are equally long; of several such lengths, where most bytes are."""
    sizes: dict[int, int] = {}
    for one in arrays.values():
        if one.shape:
            sizes[one.shape[0]] = sizes.get(one.shape[0], 0) + one.size
    if not sizes:
        return []
    length = max(sizes, key=lambda one: (sizes[one], one))
    return [name for name, one in arrays.items() if one.shape[:1] == (length,)]


def _rows(
    arrays: Mapping[str, Stored], readers: Mapping[str, Callable[[], bytes]]
) -> Iterator[Row]:
    """Side by side."""
    names = list(readers)
    count = arrays[names[0]].shape[0] if names else 0
    for _ in range(count):
        kept = {name: readers[name]() for name in names}
        if any(len(kept[name]) < arrays[name].row for name in names):
            raise EOFError("it ends in the middle of its numbers")
        value = {name: arrays[name].numbers.described(kept[name]) for name in names}
        yield Row(kept, value.get(ONLY, value))


# --- NumPy --------------------------------------------------------------------------------------


def stored(start: bytes) -> Stored | None:
    """What the start of an array says."""
    head = read_head(start)
    if head is None:
        return None
    if not width_of(head.kind):
        raise UnreadableError("it holds Python objects, which only NumPy itself reads")
    kind = head.kind if isinstance(head.kind, str) else "record"
    return Stored(kind, head.shape, _numbers(head.kind), head)


def _numbers(kind: Any) -> Numbers | Records:
    if isinstance(kind, tuple):  # an array of them
        return _numbers(kind[0])
    if isinstance(kind, str):
        order = ">" if kind[0] == ">" else "<"
        return Numbers(NPY.get(kind[1:], ""), order, width_of(kind), kind)
    widths = [width_of([one]) for one in kind]
    ends = list(itertools.accumulate(widths))
    fields = [
        (str(one[0]), end - width, end, _numbers(one[1]))
        for one, width, end in zip(kind, widths, ends, strict=True)
    ]
    return Records(ends[-1], tuple(fields))


def npy(file: IO[bytes]) -> Rows:
    """One array; where its columns come first in the file, a row is gathered from all of it."""
    one = stored(file.read(HEAD))
    if one is None or one.head is None:
        raise UnreadableError("the start of the array is broken")
    if not one.shape:
        raise UnreadableError("an array without axes has no rows")
    head = one.head
    read = _reader(file, one)

    def write(chosen: Sequence[Row], target: str) -> int:
        with writing(target), open(target, "wb") as out:
            out.write(_written(one, [row.kept[ONLY] for row in chosen]))
            return out.tell()

    file.seek(head.start)
    return Rows("NumPy", "row", _rows({ONLY: one}, {ONLY: read}), write)


def _reader(file: IO[bytes], one: Stored) -> Callable[[], bytes]:
    if one.head is None or not one.head.columns_first or len(one.shape) < 2:
        return lambda: file.read(one.row)
    return _gathered(file, one, one.head.start).__next__


def _gathered(file: IO[bytes], one: Stored, start: int) -> Iterator[bytes]:
    """Rows of a file that has one column after the other, a block of rows at a time."""
    count, width = one.shape[0], one.numbers.width
    block = max(1, HEAD // max(one.row, 1))
    for first in range(0, count, block):
        size = min(block, count - first) * width
        columns = []
        for column in range(math.prod(one.shape[1:])):
            file.seek(start + (column * count + first) * width)
            columns.append(file.read(size))
        for at in range(0, size, width):
            yield b"".join(column[at : at + width] for column in columns)


def _written(one: Stored, rows: Sequence[bytes]) -> bytes:
    """A whole array of these rows, in the order of the file."""
    head = one.head.head((len(rows), *one.shape[1:])) if one.head is not None else b""
    if one.head is None or not one.head.columns_first or len(one.shape) < 2:
        return head + b"".join(rows)
    width = one.numbers.width
    columns = range(0, one.row, width)
    return head + b"".join(row[at : at + width] for at in columns for row in rows)


def npz(path: str, stack: contextlib.ExitStack) -> Rows:
    """Arrays in a zip file."""
    archive = stack.enter_context(zipfile.ZipFile(path))
    arrays = npz_arrays(archive)
    names = together(arrays)
    readers = {}
    for name in names:
        file = stack.enter_context(archive.open(f"{name}.npy"))
        head = arrays[name].head
        file.read(head.start if head is not None else 0)
        readers[name] = _reader(file, arrays[name])

    def write(chosen: Sequence[Row], target: str) -> int:
        with writing(target), zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
            for info in old.infolist():
                own = zipfile.ZipInfo(info.filename, LONG_AGO)
                own.compress_type = info.compress_type
                name = info.filename.removesuffix(".npy")
                if name in names:
                    rows = [row.kept[name] for row in chosen]
                    new.writestr(own, _written(arrays[name], rows))
                else:
                    with old.open(info) as source, new.open(own, "w", force_zip64=True) as out:
                        shutil.copyfileobj(source, out)
        return os.path.getsize(target)

    return Rows("NumPy", "row", _rows(arrays, readers), write)


def npz_arrays(archive: zipfile.ZipFile) -> dict[str, Stored]:
    """What is in it; arrays of Python objects are left as they are."""
    found = {}
    for info in archive.infolist():
        with archive.open(info) as file, contextlib.suppress(UnreadableError):
            one = stored(file.read(HEAD))
            if one is not None:
                found[info.filename.removesuffix(".npy")] = one
    return found


# --- safetensors --------------------------------------------------------------------------------


class Tensors(NamedTuple):
    """What the start of such a file says."""

    arrays: dict[str, Stored]
    places: dict[str, int]  # where the numbers of each begin
    notes: Any


def tensors(file: IO[bytes], length: int) -> Tensors | None:
    """None if it is something else."""
    file.seek(0)
    size = int.from_bytes(file.read(8), "little")
    if not 2 <= size <= length - 8 or file.read(1) != b"{":
        return None
    try:
        told = json.loads(b"{" + file.read(size - 1))
        notes = told.pop("__metadata__", None)
        arrays, places = {}, {}
        for name, one in told.items():
            (start, end), shape = one["data_offsets"], tuple(one["shape"])
            count = math.prod(shape)
            numbers = Numbers(
                SAFE.get(one["dtype"], ""), "<", (end - start) // count if count else 1, ""
            )
            arrays[name] = Stored(one["dtype"], shape, numbers)
            places[name] = 8 + size + start
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return Tensors(arrays, places, notes)


def safetensors(file: IO[bytes], told: Tensors) -> Rows:
    """Tensors by name."""
    arrays, places, notes = told
    names = together(arrays)

    def reader(name: str) -> Callable[[], bytes]:
        at = iter(range(places[name], places[name] + arrays[name].size + 1, arrays[name].row or 1))
        return lambda: os.pread(file.fileno(), arrays[name].row, next(at))

    def write(chosen: Sequence[Row], target: str) -> int:
        shapes = {
            name: (len(chosen), *one.shape[1:]) if name in names else one.shape
            for name, one in arrays.items()
        }
        with writing(target), open(target, "wb") as out:
            kinds = {name: one.kind for name, one in arrays.items()}
            widths = {name: one.numbers.width for name, one in arrays.items()}
            out.write(safetensors_head(kinds, shapes, widths, notes))
            for name, one in arrays.items():
                if name in names:
                    out.writelines(row.kept[name] for row in chosen)
                else:
                    file.seek(places[name])
                    _copy(file, out, one.size)
            return out.tell()

    readers = {name: reader(name) for name in names}
    return Rows("safetensors", "row", _rows(arrays, readers), write)


def safetensors_head(
    kinds: Mapping[str, str],
    shapes: Mapping[str, tuple[int, ...]],
    widths: Mapping[str, int],
    notes: Any = None,
) -> bytes:
    """The start of a file in which these stand one after the other."""
    header: dict[str, Any] = {} if notes is None else {"__metadata__": notes}
    at = 0
    for name, kind in kinds.items():
        end = at + math.prod(shapes[name]) * widths[name]
        header[name] = {"dtype": kind, "shape": shapes[name], "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _copy(file: IO[bytes], out: IO[bytes], count: int) -> None:
    while count > 0 and (piece := file.read(min(count, 1 << 20))):
        out.write(piece)
        count -= len(piece)

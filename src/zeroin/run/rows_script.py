"""Rows of files that only their own library reads: Parquet, Arrow, what torch saves.

A script for the user's interpreter, which has that library. It reads orders from stdin and answers
on stdout, a JSON value a line:

    {"open": path, "kind": "parquet"}     {"noun": "row"}, or why it can't be read
    {"more": 1}                           what the next rows say, as a list; null at the end
    {"make": numbers, "to": path}         write these rows, in their order

No more is held than some rows, as far as the library allows it.
"""

from __future__ import annotations

import bisect
import json
import math
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

AT_ONCE = 4 << 20  # bytes of rows
MOST_ROWS = 1024
NARROW = 20  # values of a list that are told one by one
ITEM = 64  # bytes that something in a list counts for


def plain(value: Any) -> Any:
    """As JSON has it; what it has not, by its type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) > NARROW and all(isinstance(one, (int, float)) for one in value):
            return {"length": len(value), **described(value)}
        return [plain(one) for one in value[:NARROW]]
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": len(value)}
    if type(value).__name__ == "Tensor":
        return {"dtype": str(value.dtype), "shape": str(tuple(value.shape)), **of_tensor(value)}
    return {type(value).__name__: str(value)}


def described(numbers: Any) -> dict[str, Any]:
    """What is special about many numbers."""
    finite = [one for one in numbers if math.isfinite(one)]
    least, greatest = (min(finite), max(finite)) if finite else (None, None)
    return {
        "NaN": any(map(math.isnan, numbers)),
        "infinite": any(map(math.isinf, numbers)),
        "least": least,
        "greatest": greatest,
        "zeros": 0 in numbers,
        "all equal": least == greatest,
    }


class Parquet:
    """Batches of a file, one after the other."""

    noun = "row"

    def __init__(self, path: str) -> None:
        from pyarrow.parquet import ParquetFile

        self.path = path
        self.file = ParquetFile(path, pre_buffer=False, buffer_size=AT_ONCE)
        told = self.file.metadata
        size = sum(told.row_group(one).total_byte_size for one in range(told.num_row_groups))
        row = max(1, size // max(1, told.num_rows))
        self.count = max(1, min(MOST_ROWS, AT_ONCE // row))

    def batches(self) -> Iterator[Any]:
        """From the start."""
        yield from self.file.iter_batches(batch_size=self.count)

    def rows(self) -> Iterator[list[Any]]:
        """What they say."""
        for batch in self.batches():
            yield [plain(one) for one in batch.to_pylist()]

    def chosen(self, numbers: list[int]) -> Iterator[Any]:
        """Batches of these rows."""
        from pyarrow import array

        before = 0
        for batch in self.batches():
            first = bisect.bisect_left(numbers, before)
            behind = bisect.bisect_left(numbers, before + batch.num_rows)
            if first < behind:
                places = [one - before for one in numbers[first:behind]]
                yield batch.take(array(places, type="int64"))
            before += batch.num_rows
            if behind == len(numbers):
                return

    def make(self, numbers: list[int], to: str) -> None:
        """The same schema, with its notes, and packed the same way."""
        from pyarrow.parquet import ParquetWriter

        told = self.file.metadata
        packed = "snappy"
        if told.num_row_groups and told.num_columns:
            packed = told.row_group(0).column(0).compression
        packed = "none" if packed == "UNCOMPRESSED" else packed
        with ParquetWriter(to, self.file.schema_arrow, compression=packed) as writer:
            for batch in self.chosen(numbers):
                writer.write_batch(batch)


class Arrow(Parquet):
    """Arrow's own format, with or without an index at its end."""

    def __init__(self, path: str) -> None:
        from pyarrow import memory_map

        self.path = path
        with open(path, "rb") as file:
            self.is_stream = file.read(6) != b"ARROW1"
        self.source = memory_map(path)
        self.schema = self.opened().schema

    def opened(self) -> Any:
        """From the start."""
        from pyarrow import ipc

        self.source.seek(0)
        return (ipc.open_stream if self.is_stream else ipc.open_file)(self.source)

    def batches(self) -> Iterator[Any]:
        """Not more than some rows each."""
        reader = self.opened()
        numbers = () if self.is_stream else range(reader.num_record_batches)
        for batch in reader if self.is_stream else map(reader.get_batch, numbers):
            row = max(1, batch.nbytes // max(1, batch.num_rows))
            count = max(1, min(MOST_ROWS, AT_ONCE // row))
            for at in range(0, batch.num_rows, count):
                yield batch.slice(at, count)

    def make(self, numbers: list[int], to: str) -> None:
        """The same schema, with its notes."""
        from pyarrow import Table, ipc

        table = Table.from_batches(self.chosen(numbers), self.schema).unify_dictionaries()
        new = ipc.new_stream if self.is_stream else ipc.new_file
        with new(to, self.schema) as writer:
            writer.write_table(table)


class Saved:
    """What torch has saved: items of a list, or rows of tensors that are equally long.

    They may lie in dicts and tuples, in one another: each is known by the keys that lead to it.
    """

    def __init__(self, path: str) -> None:
        self.value = load(path)
        self.parts = together(self.value)
        if not self.parts:
            raise ValueError("there is neither a list nor a tensor in it")
        self.noun = "item" if isinstance(self.value, list) else "row"

    def rows(self) -> Iterator[list[Any]]:
        """What they say, one by one."""
        count = min(len(one) for one in self.parts.values())
        for number in range(count):
            told = {
                ".".join(map(str, keys)): of_row(one[number]) for keys, one in self.parts.items()
            }
            yield [told.get("", told)]

    def make(self, numbers: list[int], to: str) -> None:
        """What is not cut stays."""
        import torch

        cut = {keys: self.picked(one, numbers) for keys, one in self.parts.items()}
        torch.save(with_parts(self.value, cut), to)

    @staticmethod
    def picked(one: Any, numbers: list[int]) -> Any:
        """Copied, so that not all of the numbers are saved with it."""
        import torch

        if isinstance(one, (list, tuple)):
            return type(one)([copied(one[number]) for number in numbers])
        return one.index_select(0, torch.tensor(numbers, dtype=torch.long)).clone()


def copied(value: Any) -> Any:
    """Tensors that stand on others would be saved with all of those."""
    if type(value).__name__ == "Tensor":
        return value.clone()
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)([copied(one) for one in value])
    if type(value) is dict:
        return {key: copied(one) for key, one in value.items()}
    return value


def load(path: str) -> Any:
    """Only data, nothing that would run; left in the file as far as that can be."""
    import torch

    safe = {"map_location": "cpu", "weights_only": True}
    try:
        return torch.load(path, mmap=True, **safe)
    except (RuntimeError, TypeError, ValueError):  # an old file, or an old torch
        return torch.load(path, **safe)


def together(value: Any) -> dict[tuple[Any, ...], Any]:
    """The parts that are equally long: of several lengths, where most is."""
    import torch

    sizes: dict[int, int] = {}
    found: dict[int, dict[tuple[Any, ...], Any]] = {}
    for keys, one in parts_of(value):
        if isinstance(one, list):
            size = ITEM * len(one)
        elif isinstance(one, torch.Tensor) and one.dim():
            size = one.numel() * one.element_size()
        else:
            continue
        sizes[len(one)] = sizes.get(len(one), 0) + size
        found.setdefault(len(one), {})[keys] = one
    return found[max(sizes, key=lambda length: (sizes[length], length))] if sizes else {}


def parts_of(value: Any, keys: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """What lies in dicts and tuples, with the keys that lead to it."""
    if isinstance(value, (dict, tuple)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts_of(one, (*keys, key))
    else:
        yield keys, value


def name_of(keys: tuple[Any, ...]) -> str:
    """`model.weight`; "" for the whole."""
    return ".".join(map(str, keys))


def with_parts(value: Any, parts: dict[tuple[Any, ...], Any], keys: tuple[Any, ...] = ()) -> Any:
    """The same, with others in the place of some of its parts."""
    if keys in parts:
        return parts[keys]
    if isinstance(value, dict):
        made = {key: with_parts(one, parts, (*keys, key)) for key, one in value.items()}
        return made if type(value) is dict else type(value)(made)
    if type(value) is tuple:
        return tuple(with_parts(one, parts, (*keys, at)) for at, one in enumerate(value))
    return value


def of_row(value: Any) -> Any:
    """A number for a row that is one."""
    if type(value).__name__ != "Tensor":
        return plain(value)
    return value.item() if value.numel() == 1 and not value.is_complex() else of_tensor(value)


def of_tensor(value: Any) -> dict[str, Any]:
    """A few numbers as they are; of many what is special about them."""
    import torch

    numbers = torch.view_as_real(value) if value.is_complex() else value
    numbers = numbers.reshape(-1)
    if numbers.numel() <= NARROW:
        return {str(place): one for place, one in enumerate(numbers.tolist())}
    is_float = numbers.is_floating_point()
    numbers = numbers.double() if is_float else numbers.long()
    finite = numbers[torch.isfinite(numbers)]
    least, greatest = (finite.min().item(), finite.max().item()) if len(finite) else (None, None)
    return {
        "NaN": bool(torch.isnan(numbers).any()),
        "infinite": bool(torch.isinf(numbers).any()),
        "least": least,
        "greatest": greatest,
        "zeros": bool((numbers == 0).any()),
        "all equal": least == greatest,
    }


KINDS = {"parquet": Parquet, "arrow": Arrow, "torch": Saved}


def main() -> None:
    """Serve until nobody asks."""
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    del sys.path[0]  # libraries must not find our modules in place of theirs
    opened: Any = None
    rows: Any = None
    for line in sys.stdin:
        order = json.loads(line)
        answer: Any = None
        try:
            if "open" in order:
                opened = KINDS[order["kind"]](order["open"])
                rows = opened.rows()
                answer = {"noun": opened.noun}
            elif "more" in order:
                answer = next(rows, None)
            else:
                opened.make(order["make"], order["to"])
        except ImportError as error:
            answer = {"error": str(error), "missing": error.name}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        os.write(out, (json.dumps(answer) + "\n").encode())


if __name__ == "__main__":
    main()

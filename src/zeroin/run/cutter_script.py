"""Files that only their own library can cut: Parquet, Arrow, images, what torch saves.

A script for the user's interpreter, which has that library, since the user's program reads the
file with it. It reads orders from stdin and answers on stdout, a JSON object a line:

    {"open": path, "kind": "parquet"}     what it is, or why it can't be read
    {"axes": spec}                        [[name, ranges of the parts that are left], ...]
    {"count": spec}                       how many rows, or entries, the file would have
    {"make": spec, "to": path}            write what is left

A spec says for some axes which of the parts are kept, as ranges.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Spec = dict[str, list[list[int]]]

MOST_CELLS = 2000  # that are made simpler one by one
SIMPLE = (None, 0, 0.0, "", b"", False)


def members(spec: Spec, name: str, count: int) -> list[int]:
    """Which parts of an axis are kept."""
    if name not in spec:
        return list(range(count))
    return [one for start, stop in spec[name] for one in range(start, stop)]


def ranges(numbers: list[int]) -> list[list[int]]:
    """The same, as ranges."""
    found: list[list[int]] = []
    for one in numbers:
        if found and found[-1][1] == one:
            found[-1][1] += 1
        else:
            found.append([one, one + 1])
    return found


class Table:
    """Parquet, or Arrow's own format."""

    def __init__(self, path: str, kind: str) -> None:
        self.kind = kind
        if kind == "parquet":
            from pyarrow.parquet import read_table

            self.table = read_table(path)
        else:
            from pyarrow import ipc

            with open(path, "rb") as file:
                self.is_stream = file.read(6) != b"ARROW1"
            opened = ipc.open_stream if self.is_stream else ipc.open_file
            with open(path, "rb") as file:
                self.table = opened(file.read()).read_all()

    def axes(self, spec: Spec) -> list[tuple[str, list[list[int]]]]:
        """What there is to leave out."""
        rows = members(spec, "rows", self.table.num_rows)
        columns = members(spec, "columns", self.table.num_columns)
        found = [("rows", ranges(rows)), ("columns", ranges(columns))]
        if len(rows) * len(columns) <= MOST_CELLS:
            found.append(("values", ranges(self._odd(spec, rows, columns))))
        return found

    def count(self, spec: Spec) -> int:
        """Rows that are left."""
        return len(members(spec, "rows", self.table.num_rows))

    def _odd(self, spec: Spec, rows: list[int], columns: list[int]) -> list[int]:
        """Cells that are not as simple as they could be, and have not been made so."""
        kept = set(members(spec, "values", self._cells()))
        wide = self.table.num_columns
        cells = [row * wide + column for row in rows for column in columns]
        return [
            cell
            for cell in cells
            if cell in kept
            and simple(value := self.table.column(cell % wide)[cell // wide].as_py()) != value
        ]

    def _cells(self) -> int:
        return int(self.table.num_rows * self.table.num_columns)

    def make(self, spec: Spec, to: str) -> None:
        """Write what is left."""
        from pyarrow import array

        rows = members(spec, "rows", self.table.num_rows)
        columns = members(spec, "columns", self.table.num_columns)
        table = self.table.take(rows).select(columns)
        if "values" in spec:
            kept = set(members(spec, "values", self._cells()))
            for place, column in enumerate(columns):
                field = table.schema.field(place)
                values = table.column(place).to_pylist()
                for number, row in enumerate(rows):
                    if row * self.table.num_columns + column not in kept:
                        values[number] = simple(values[number])
                table = table.set_column(place, field, array(values, field.type))
        if self.kind == "parquet":
            from pyarrow.parquet import write_table

            write_table(table, to)
        else:
            from pyarrow import ipc

            with (ipc.new_stream if self.is_stream else ipc.new_file)(to, table.schema) as writer:
                writer.write_table(table)


def simple(value: Any) -> Any:
    """The simplest of its kind."""
    for one in SIMPLE:
        if type(one) is type(value):
            return one
    return value


class Image:
    """Rows and columns of pixels, then how often it could be half as large, then its colours."""

    def __init__(self, path: str, kind: str) -> None:
        import PIL.Image

        self.image = PIL.Image.open(path)
        self.image.load()
        self.format = self.image.format or kind
        self.halvings = max(self.image.size).bit_length() - 1

    def axes(self, spec: Spec) -> list[tuple[str, list[list[int]]]]:
        """What there is to leave out."""
        wide, high = self.image.size
        rows, columns = members(spec, "rows", high), members(spec, "columns", wide)
        halvings = members(spec, "halvings", self.halvings)
        now = self._made(spec)
        if max(now.size) < 2:
            halvings = []
        colours = members(spec, "colours", 1) if now.tobytes().strip(b"\0") else []
        return [
            ("rows", ranges(rows)),
            ("columns", ranges(columns)),
            ("halvings", ranges(halvings)),
            ("colours", ranges(colours)),
        ]

    def count(self, spec: Spec) -> int:
        """Rows that are left: fewer than are kept of the original if it was halved."""
        return int(self._made(spec).size[1])

    def make(self, spec: Spec, to: str) -> None:
        """Write what is left."""
        self._made(spec).save(to, format=self.format)

    def _made(self, spec: Spec) -> Any:
        """What is cut out, made smaller, and plain if its colours don't matter."""
        wide, high = self.image.size
        image = self._cut(self.image, spec.get("rows", [[0, high]]), across=False)
        image = self._cut(image, spec.get("columns", [[0, wide]]), across=True)
        times = self.halvings - len(members(spec, "halvings", self.halvings))
        if times and 0 not in image.size:
            # The nearest pixel: one that matters stays what it is, if it stays.
            image = image.resize([max(1, size >> times) for size in image.size], 0)
        if spec.get("colours") == []:
            image = image.copy()
            image.paste(0, (0, 0, *image.size))
        return image

    @staticmethod
    def _cut(image: Any, ranges: list[list[int]], across: bool) -> Any:
        wide, high = image.size
        left = sum(stop - start for start, stop in ranges)
        size = (left, high) if across else (wide, left)
        out = image.copy().resize(size) if 0 not in size else image.crop((0, 0, *size))
        at = 0
        for start, stop in ranges:
            box = (start, 0, stop, high) if across else (0, start, wide, stop)
            out.paste(image.crop(box), (at, 0) if across else (0, at))
            at += stop - start
        return out


class Saved:
    """What torch has saved: entries of dicts and lists, rows of tensors, then their values."""

    def __init__(self, path: str, _: str) -> None:
        import torch

        self.value = torch.load(path, map_location="cpu", weights_only=True)
        self.entries = [one for one in self._paths(self.value, ()) if one]
        self.tensors = {
            json.dumps(one): self._at(one)
            for one in [(), *self.entries]
            if isinstance(self._at(one), torch.Tensor)
        }

    def _paths(self, value: Any, above: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        found = [above]
        inner: list[tuple[Any, Any]] = []
        if isinstance(value, dict):
            inner = [(key, value[key]) for key in value if isinstance(key, (str, int))]
        elif isinstance(value, list):
            inner = list(enumerate(value))
        for key, one in inner:
            found += self._paths(one, (*above, key))
        return found

    def _at(self, path: tuple[Any, ...]) -> Any:
        value = self.value
        for key in path:
            value = value[key]
        return value

    def axes(self, spec: Spec) -> list[tuple[str, list[list[int]]]]:
        """What there is to leave out."""
        kept = members(spec, "entries", len(self.entries))
        paths = {json.dumps(self.entries[one]) for one in kept} | {"[]"}
        found = [("entries", ranges(kept))]
        for path, tensor in self.tensors.items():
            if path in paths:
                for axis, size in enumerate(tensor.shape):
                    name = f"{path} {axis}"
                    found.append((name, ranges(members(spec, name, size))))
        for path in self.tensors:
            if path in paths:
                name = f"{path} values"
                found.append((name, ranges(members(spec, name, 1))))
        return found

    def count(self, spec: Spec) -> int:
        """Entries that are left: none that was below one which is not."""
        kept = {self.entries[one] for one in members(spec, "entries", len(self.entries))}
        return sum(all(one[:end] in kept for end in range(1, len(one) + 1)) for one in kept)

    def make(self, spec: Spec, to: str) -> None:
        """Write what is left."""
        import torch

        kept = {self.entries[one] for one in members(spec, "entries", len(self.entries))}
        torch.save(self._cut(self.value, (), kept, spec), to)

    def _cut(self, value: Any, path: tuple[Any, ...], kept: set[Any], spec: Spec) -> Any:
        import torch

        if isinstance(value, dict):
            left = {
                key: self._cut(one, (*path, key), kept, spec)
                for key, one in value.items()
                if (*path, key) in kept or not isinstance(key, (str, int))
            }
            return type(value)(left) if type(value) is not dict else left
        if isinstance(value, list):
            numbers = [number for number in range(len(value)) if (*path, number) in kept]
            return [self._cut(value[one], (*path, one), kept, spec) for one in numbers]
        if isinstance(value, torch.Tensor):
            name = json.dumps(path)
            for axis, size in enumerate(value.shape):
                chosen = members(spec, f"{name} {axis}", size)
                if len(chosen) < size:
                    value = value.index_select(axis, torch.tensor(chosen, dtype=torch.long))
            if spec.get(f"{name} values") == []:
                value = (torch.arange(value.numel()) % 100 + 1).reshape(value.shape).to(value.dtype)
            return value.clone()
        return value


KINDS = {"parquet": Table, "arrow": Table, "image": Image, "torch": Saved}


def main() -> None:
    """Serve until nobody asks."""
    opened: Any = None
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    del sys.path[0]  # libraries must not find our modules in place of theirs
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if "open" in order:
                opened = KINDS[order["kind"]](order["open"], order["kind"])
                answer: Any = opened.axes({})
            elif "axes" in order:
                answer = opened.axes(order["axes"])
            elif "count" in order:
                answer = opened.count(order["count"])
            else:
                answer = opened.make(order["make"], order["to"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        os.write(out, (json.dumps(answer) + "\n").encode())


if __name__ == "__main__":
    main()

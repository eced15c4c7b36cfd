"""Made-up files that only their own library writes: Parquet, Arrow, what torch saves.

A script for the user's interpreter, which has that library. It reads orders from stdin and answers
on stdout, a JSON value a line:

    {"rows": rows, "kind": "parquet", "to": path}       write these
    {"like": path, "from": "parquet", "kind": ..., "count": 10, "seed": null, "to": path}
                                                        rows of the same schema
    {"arrays": path}                                    which tensors torch saved there
    {"tensors": path, "only": false, "as_in": path, "to": path}
                                                        for torch, what a safetensors file holds:
                                                        one without a name, or held together as in
                                                        the other file ("" for none)
"""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import json
import os
import random
import string
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LENGTH = 2  # of lists
SAFE = {"map_location": "cpu", "weights_only": True}
START = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - the column says which zone
KINDS = {
    "BOOL": "bool",
    "BF16": "bfloat16",
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}


class Maker:
    """Values of Arrow's types: counting, or random."""

    def __init__(self, seed: int | None) -> None:
        self.drawn = random.Random(seed) if seed is not None else None
        self.numbers: dict[str, Iterator[int]] = {}

    def number(self, name: str) -> int:
        """The next of this column."""
        if self.drawn is not None:
            return self.drawn.randrange(1, 1000)
        return next(self.numbers.setdefault(name, itertools.count(1)))

    def value(self, kind: Any, name: str) -> Any:
        """One that fits."""
        from pyarrow import types

        if types.is_dictionary(kind):
            return self.value(kind.value_type, name)
        if types.is_struct(kind):
            fields = [kind.field(number) for number in range(kind.num_fields)]
            return {one.name: self.value(one.type, f"{name}.{one.name}") for one in fields}
        if types.is_map(kind):
            key, item = f"{name}.key", f"{name}.value"
            return [(self.value(kind.key_type, key), self.value(kind.item_type, item))]
        if types.is_fixed_size_list(kind):
            return [self.value(kind.value_type, name) for _ in range(kind.list_size)]
        if types.is_list(kind) or types.is_large_list(kind):
            return [self.value(kind.value_type, name) for _ in range(LENGTH)]
        return self.scalar(kind, name)

    def scalar(self, kind: Any, name: str) -> Any:
        """One that holds no others."""
        from pyarrow import types

        number = self.number(name)
        if types.is_boolean(kind):
            return number % 2 == 1
        if types.is_integer(kind):
            return (number - 1) % (100 if kind.bit_width == 8 else 1000) + 1
        if types.is_floating(kind):
            return float(number) if self.drawn is None else self.drawn.gauss(0, 100)
        if types.is_decimal(kind):
            whole = max(0, kind.precision - kind.scale)
            return decimal.Decimal(number % 10**whole if whole else 0)
        if types.is_fixed_size_binary(kind):
            return str(number).encode()[: kind.byte_width].rjust(kind.byte_width, b"0")
        text = self.text(name, number)
        if types.is_binary(kind) or types.is_large_binary(kind):
            return text.encode()
        when = moment(kind, number)
        return text if when is None and not types.is_null(kind) else when

    def text(self, name: str, number: int) -> str:
        """A word that says where it stands, or none."""
        if self.drawn is None:
            return f"{name.rpartition('.')[2]}{number}"
        return "".join(self.drawn.choices(string.ascii_lowercase, k=1 + number % 11))


def moment(kind: Any, number: int) -> Any:
    """A date, a time, a span; None for what is none of them."""
    from pyarrow import types

    if types.is_timestamp(kind):
        return START + dt.timedelta(seconds=number)
    if types.is_date(kind):
        return (START + dt.timedelta(days=number)).date()
    if types.is_time(kind):
        return (START + dt.timedelta(seconds=number)).time()
    return dt.timedelta(seconds=number) if types.is_duration(kind) else None


def schema_of(path: str, kind: str) -> Any:
    """Of a file, with its notes."""
    if kind == "parquet":
        from pyarrow.parquet import read_schema

        return read_schema(path)
    from pyarrow import ipc, memory_map

    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    return (ipc.open_file if is_file else ipc.open_stream)(memory_map(path)).schema


def make_like(order: dict[str, Any]) -> None:
    """Rows of the schema of another file."""
    from pyarrow import Table, array

    schema = schema_of(order["like"], order["from"])
    maker = Maker(order["seed"])
    columns = [
        array([maker.value(one.type, one.name) for _ in range(order["count"])], one.type)
        for one in schema
    ]
    write(Table.from_arrays(columns, schema=schema), order)


def make_rows(order: dict[str, Any]) -> None:
    """These."""
    from pyarrow import Table

    write(Table.from_pylist(order["rows"]), order)


def write(table: Any, order: dict[str, Any]) -> None:
    """As the name of the file says."""
    if order["kind"] == "parquet":
        from pyarrow.parquet import write_table

        write_table(table, order["to"])
    else:
        from pyarrow.feather import write_feather

        write_feather(table, order["to"], compression="uncompressed")


def arrays(order: dict[str, Any]) -> dict[str, Any]:
    """The tensors of a file, by the keys that lead to them; with what else it holds."""
    import torch

    value = torch.load(order["arrays"], **SAFE)
    found = {name: one for name, one in tensors_of(value) if one is not None}
    if not found:
        raise ValueError("there is no tensor in it that could be made up")
    names = {name: str(one.dtype).rpartition(".")[2] for name, one in found.items()}
    return {
        "as_in": order["arrays"],
        "arrays": {name: [names[name], list(one.shape)] for name, one in found.items()},
    }


def tensors_of(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All of them; None for what is none."""
    import torch

    if isinstance(value, (dict, list, tuple)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from tensors_of(one, f"{name}.{key}" if name else str(key))
    else:
        yield name, value if isinstance(value, torch.Tensor) else None


def with_tensors(value: Any, made: dict[str, Any], name: str = "") -> Any:
    """The same, with others in the place of its tensors."""
    import torch

    if isinstance(value, torch.Tensor):
        return made[name]
    if not isinstance(value, (dict, list, tuple)):
        return value
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = {
        key: with_tensors(one, made, f"{name}.{key}" if name else str(key)) for key, one in pairs
    }
    return found if isinstance(value, dict) else type(value)(found.values())


def make_tensors(order: dict[str, Any]) -> None:
    """What a safetensors file holds, without its library."""
    import torch

    with open(order["tensors"], "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = bytearray(file.read())
    found = {}
    for name, told in header.items():
        start, end = told["data_offsets"]
        kind = getattr(torch, KINDS[told["dtype"]])
        flat = torch.frombuffer(body[start:end], dtype=kind) if end > start else torch.empty(0)
        found[name] = flat.to(kind).reshape(told["shape"])
    made: Any = next(iter(found.values())) if order["only"] else found
    if order["as_in"] and not order["only"]:
        made = with_tensors(torch.load(order["as_in"], **SAFE), found)
    torch.save(made, order["to"])


ORDERS = {"rows": make_rows, "like": make_like, "arrays": arrays, "tensors": make_tensors}


def main() -> None:
    """Serve until nobody asks."""
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    del sys.path[0]  # libraries must not find our modules in place of theirs
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer: Any = next(make for name, make in ORDERS.items() if name in order)(order)
        except ImportError as error:
            answer = {"error": str(error), "missing": error.name}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        os.write(out, (json.dumps(answer) + "\n").encode())


if __name__ == "__main__":
    main()

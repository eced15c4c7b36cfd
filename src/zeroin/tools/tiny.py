"""`tiny` and `fake`: small data for debugging, chosen from what there is or made up."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from zeroin.errors import UsageError
from zeroin.tiny import fake as fakes
from zeroin.tiny import sample
from zeroin.tiny.rows import open_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOKED_AT = 10_000  # rows from which a schema is taken


class TinyReport(NamedTuple):
    """What was written, from what."""

    path: str
    result: str
    kind: str
    rows: int
    seen: int  # rows that were read
    kinds: int | None  # of values, with --covering
    shown: int | None
    size: int


def data(path: str, count: int, how: str, seed: int, out: str) -> TinyReport:
    """A few rows of a file, chosen in one pass."""
    if count < 1:
        raise UsageError("-n: at least one row")
    with open_rows(path) as opened:
        if how == "first":
            found = sample.first(opened.rows, count)
        elif how == "random":
            found = sample.at_random(opened.rows, count, seed)
        else:
            found = sample.covering(opened.rows, count)
    target = out or _target(path)
    content = opened.written(found.rows).encode()
    _write(target, content)
    covers = how == "covering"
    return TinyReport(
        path,
        target,
        opened.kind,
        len(found.rows),
        found.seen,
        found.kinds if covers else None,
        found.shown if covers else None,
        len(content),
    )


def _target(path: str) -> str:
    stem, end = os.path.splitext(path.removesuffix(".gz"))
    return f"{stem}.tiny{end}"


def _write(target: str, content: bytes) -> None:
    try:
        with open(target, "wb") as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"{target}: {os.strerror(error.errno or 0).lower()}") from None


def fake(spec: str, like: str, count: int, seed: int | None, kind: str) -> bytes:
    """Rows or an array of that schema: as JSON Lines, CSV, or what NumPy reads."""
    array = fakes.array_of(spec) if spec else None
    if array is not None:
        values = fakes.array_values(*array, seed)
        if kind == "npy":
            return fakes.npy(*array, values)
        return (json.dumps(fakes.nested(array[1], values)) + "\n").encode()
    if kind == "npy":
        raise UsageError("rows are no array", hint="zeroin fake 'float32[2,3]' -o array.npy")
    schema = fakes.parse(spec) if spec else _schema_like(like)
    maker = fakes.Maker(seed)
    rows = [maker.value(schema) for _ in range(count)]
    return (_csv(rows) if kind == "csv" else _json_lines(rows)).encode()


def _schema_like(path: str) -> Any:
    with open_rows(path) as opened:
        rows = itertools.islice(opened.rows, LOOKED_AT)
        schema = fakes.schema_of(row.value for row in rows)
    if schema == "null":
        raise UsageError(f"{path}: there are no rows to be like")
    return schema


def _json_lines(rows: Sequence[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _csv(rows: Sequence[Any]) -> str:
    if not all(isinstance(row, dict) for row in rows):
        raise UsageError("a table needs fields with names")
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in row.items()}
        )
    return out.getvalue()

"""`tiny` and `fake`: small data for debugging, chosen from what there is or made up."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from zeroin.errors import UsageError
from zeroin.run.library import Library, interpreter
from zeroin.tiny import fake as fakes
from zeroin.tiny import sample
from zeroin.tiny.opening import open_rows
from zeroin.tiny.source import unpacked_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LOOKED_AT = 10_000  # rows from which a schema is taken


class TinyReport(NamedTuple):
    """What was written, from what."""

    path: str
    result: str
    kind: str
    noun: str  # what its rows are
    rows: int
    seen: int  # rows that were read
    kinds: int | None  # of values, with --covering
    shown: int | None
    size: int


class Ask(NamedTuple):
    """Which rows are wanted."""

    wanted: int
    how: str  # "first", "random", "covering"
    seed: int = 0


def data(
    path: str, ask: Ask, out: str = "", python: str = "", environ: Mapping[str, str] = os.environ
) -> TinyReport:
    """A few rows of a file, chosen in one pass."""
    if ask.wanted < 1:
        raise UsageError("-n: at least one row")
    target = out or _target(path)
    if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
        raise UsageError(f"{target}: that is what it is made of", hint="name another with -o")
    with open_rows(path, _opener(path, python, environ)) as opened:
        if ask.how == "first":
            found = sample.first(opened.rows, ask.wanted)
        elif ask.how == "random":
            found = sample.at_random(opened.rows, ask.wanted, ask.seed)
        else:
            found = sample.covering(opened.rows, ask.wanted)
        size = opened.write(found.rows, target)
    covers = ask.how == "covering"
    return TinyReport(
        path,
        target,
        opened.kind,
        opened.noun,
        len(found.rows),
        found.seen,
        found.kinds if covers else None,
        found.shown if covers else None,
        size,
    )


def _opener(path: str, python: str, environ: Mapping[str, str]) -> Callable[[str, str], Library]:
    """Who reads what only a library can."""

    def opened(file: str, kind: str) -> Library:
        return Library(interpreter(python, environ), file, kind, path, environ)

    return opened


def _target(path: str) -> str:
    """Beside it: `train.tiny.csv` of `train.csv.gz`."""
    folder, name = os.path.split(path.rstrip("/") or path)
    if os.path.isdir(path):
        return os.path.join(folder, f"{name}.tiny")
    stem, end = os.path.splitext(unpacked_name(name))
    return os.path.join(folder, f"{stem}.tiny{end}")


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
    with open_rows(path, _opener(path, "", os.environ)) as opened:
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

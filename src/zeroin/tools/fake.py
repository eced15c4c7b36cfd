"""`fake`: data of a schema that was never there."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import os
import random
import tempfile

from zeroin.axes.payload import foreign, packings
from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run import library
from zeroin.tiny import arrays as stored
from zeroin.tiny import fake as fakes
from zeroin.tiny import fake_arrays as made
from zeroin.tiny.numbers import Numbers
from zeroin.tiny.opening import SAMPLE, open_rows, reading
from zeroin.tiny.rows import put, put_packed
from zeroin.tiny.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.tiny.fake_arrays import Arrays

LOOKED_AT = 10_000  # rows from which a schema is taken
ARRAYS = (".npy", ".npz", ".safetensors", ".pt", ".pth")
TABLES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
NOT_MADE = (".yaml", ".yml", ".toml", ".xml", ".html", ".htm", ".zip", ".tar", ".png", ".jpg")


class Fake(NamedTuple):
    """What is wanted."""

    spec: str
    like: str
    wanted: int  # rows
    seed: int | None  # None for values that count
    out: str
    python: str = ""

    @property
    def end(self) -> str:
        """By which the format is known: of the file that is written, or that is imitated."""
        return os.path.splitext(packings.unpacked(self.out or self.like))[1].lower()


def fake(asked: Fake, environ: Mapping[str, str]) -> bytes | None:
    """Write it; what has no place to go to is given back."""
    if asked.out and asked.end in NOT_MADE:
        raise UsageError(f"{asked.out}: such files are not made up", hint="-o fake.jsonl")
    with contextlib.ExitStack() as stack:
        content = _Making(asked, environ, stack).content()
    if content is None:
        return None
    if asked.out:
        put_packed(asked.out, content)
        return None
    return content


class _Making:
    def __init__(
        self, asked: Fake, environ: Mapping[str, str], stack: contextlib.ExitStack
    ) -> None:
        self.asked = asked
        self.environ = environ
        self.stack = stack
        self.as_in = ""  # a file in which torch holds tensors together
        self.kind = ""  # of the file to be like, if only a library reads it
        if asked.like and not os.path.isdir(asked.like):
            with reading(asked.like):
                self.kind = _kind_of(asked.like)

    def content(self) -> bytes | None:
        """What the file holds; None if somebody else has written it."""
        arrays = self._arrays()
        return self._rows() if arrays is None else self._write_arrays(arrays)

    def _ask(self, name: str, order: Mapping[str, Any]) -> Any:
        python = library.interpreter(self.asked.python, self.environ)
        return library.fake(python, name, order, self.environ)

    def _to(self) -> str:
        """For who writes the file himself."""
        if packings.by_name(self.asked.out) is not None:
            raise UsageError(f"{self.asked.out}: such a file is not packed once more")
        put(self.asked.out, b"")  # whether it can be written is said in our own words
        return os.path.abspath(self.asked.out)

    # --- arrays -------------------------------------------------------------------------------

    def _arrays(self) -> Arrays | None:
        asked = self.asked
        if asked.spec:
            return made.parse(asked.spec)
        if self.kind == "torch":
            path = Source(asked.like).file(self.stack)
            told = self._ask(asked.like, {"arrays": os.path.abspath(path)})
            self.as_in = told["as_in"]
            return _cut({n: _known(*one) for n, one in told["arrays"].items()}, asked.wanted)
        if self.kind or os.path.isdir(asked.like):
            return None
        with reading(asked.like):
            return made.like(asked.like, asked.wanted, self.stack)

    def _write_arrays(self, arrays: Arrays) -> bytes | None:
        seed, end = self.asked.seed, self.asked.end if self.asked.out else ""
        numbers = {
            name: made.values(one, None if seed is None else random.Random(f"{seed}{name}"))
            for name, one in arrays.items()
        }
        if end == ".npy":
            if len(arrays) > 1:
                raise UsageError("a .npy file holds one array", hint="-o several.npz")
            ((name, one),) = arrays.items()
            return made.npy(one, numbers[name])
        if end == ".npz":
            return made.npz(arrays, numbers)
        if end == ".safetensors":
            return made.safetensors(arrays, numbers)
        if end in (".pt", ".pth"):
            self._save(made.safetensors(arrays, numbers), is_only=made.ONLY in arrays)
            return None
        if end in TABLES or end in (".csv", ".tsv"):
            raise UsageError("arrays are no rows", hint="zeroin fake 'id:int,name:str'")
        told = {name: made.nested(one.shape, numbers[name]) for name, one in arrays.items()}
        return (json.dumps(told.get(made.ONLY, told)) + "\n").encode()

    def _save(self, content: bytes, *, is_only: bool) -> None:
        """By torch, which is told the numbers in a file."""
        to = self._to()
        with tempfile.NamedTemporaryFile(prefix="zeroin-fake-") as file:
            file.write(content)
            file.flush()
            order = {"tensors": file.name, "only": is_only, "as_in": self.as_in, "to": to}
            self._ask(self.asked.out, order)

    # --- rows ---------------------------------------------------------------------------------

    def _rows(self) -> bytes | None:
        asked, end = self.asked, self.asked.end
        if asked.out and end in ARRAYS:
            raise UsageError("rows are no array", hint=f"zeroin fake 'float32[2,3]' -o array{end}")
        if asked.out and end in TABLES and self.kind in ("parquet", "arrow"):
            path = os.path.abspath(Source(asked.like).file(self.stack))
            order = {"like": path, "from": self.kind, "count": asked.wanted, "seed": asked.seed}
            self._ask(asked.like, {**order, "kind": TABLES[end], "to": self._to()})
            return None
        schema = fakes.parse(asked.spec) if asked.spec else self._schema()
        maker = fakes.Maker(asked.seed)
        rows = [maker.value(schema) for _ in range(asked.wanted)]
        if asked.out and end in TABLES:
            if not all(isinstance(row, dict) for row in rows):
                raise UsageError("a table needs fields with names")
            self._ask(asked.out, {"rows": rows, "kind": TABLES[end], "to": self._to()})
            return None
        if end in (".csv", ".tsv"):
            return _encoded(_csv(rows, "\t" if end == ".tsv" else ","))
        if end == ".json":
            return _encoded(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        return _encoded("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def _schema(self) -> Any:
        """What the rows of a file have together."""
        path = self.asked.like

        def opener(file: str, kind: str) -> library.Library:
            python = library.interpreter(self.asked.python, self.environ)
            return library.Library(python, file, kind, path, self.environ)

        with open_rows(path, opener) as opened:
            if opened.noun == "file":
                raise UsageError(f"{path}: files are not made up", hint="name one of its files")
            rows = itertools.islice(opened.rows, LOOKED_AT)
            schema = fakes.schema_of(row.value for row in rows)
        if schema == "null":
            raise UsageError(f"{path}: there are no rows to be like")
        return schema


def _encoded(text: str) -> bytes:
    """Names as the file has them, also where they are no text; what never can be becomes a ?."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="replace")


def _kind_of(path: str) -> str:
    """What only a library reads; "" for all else."""
    source = Source(path)
    with source.open() as file:
        return foreign.kind_of(file.read(SAMPLE), source.name)


def _known(kind: str, shape: Sequence[int]) -> made.Array:
    if kind not in made.KINDS:
        raise UsageError(f"numbers of the kind {kind} are not made up")
    return made.Array(kind, tuple(shape))


def _cut(arrays: Arrays, wanted: int) -> Arrays:
    """Those that are equally long, with another length."""
    sizes = {
        name: stored.Stored(one.kind, one.shape, Numbers("", "<", 1, ""))
        for name, one in arrays.items()
    }
    names = stored.together(sizes)
    return {
        name: one._replace(shape=(wanted, *one.shape[1:])) if name in names else one
        for name, one in arrays.items()
    }


def _csv(rows: Sequence[Any], delimiter: str) -> str:
    if not all(isinstance(row, dict) for row in rows):
        raise UsageError("a table needs fields with names")
    out = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.DictWriter(out, names, lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in row.items()}
        )
    return out.getvalue()

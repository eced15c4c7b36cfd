"""What a content is: by what is in it, and by its name only where several would do."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

from zeroin.axes.payload import (
    arrays,
    foreign,
    jsons,
    lines,
    markup,
    packed,
    python,
    settings,
    tables,
)
from zeroin.axes.payload.huge import SMALL, open_huge
from zeroin.axes.payload.tree import Codec, Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from zeroin.axes.payload.foreign import Cutter
    from zeroin.axes.payload.kinds import Payload
    from zeroin.axes.payload.node import Node
    from zeroin.axes.payload.tree import Format

    Chosen = tuple[Callable[[str], Node], Format]

SAMPLE = 1 << 18  # bytes of a large file, by which it is judged
ODD = 0.05  # of the bytes of a text may be control characters
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})


def read_file(path: str, cutter: Callable[[str, str], Cutter | None]) -> Payload:
    """The payload in a file; a large one stays there.

    `cutter` gives somebody who can cut a file of this path and kind, if there is anybody.
    """
    name = os.path.basename(path)
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        sample = file.read(SAMPLE)
        kind = foreign.kind_of(sample, name)
        found = cutter(path, kind) if kind else None
        if found is not None:
            return foreign.Foreign(kind, found)
        if length <= SMALL:
            return read(sample + file.read(), name)
    sample = sample[: sample.rfind(b"\n") + 1] or sample
    head = 0
    codec = codec_of(sample)
    if codec is not None:
        text = codec.decode(sample)
        dialect = None if jsons.is_json_lines(text) else tables.dialect_of(text)
        if dialect is not None and tables.has_header(text, dialect):
            head = len(codec.encode(tables.rows_of(text)[0]))
    return open_huge(path, head, lambda content: read(content, name))


def read(content: bytes, name: str = "") -> Payload:
    """The payload that this content is."""
    found: Payload | None = packed.read_packed(content, name, read)
    found = found or arrays.read_npy(content) or arrays.read_safetensors(content)
    if found is not None:
        return found
    codec = codec_of(content)
    if codec is None:
        return _tree((lines.read_bytes, lines.BYTES), lines.AS_BYTES, content)
    return _tree(_chosen(codec.decode(content), name.lower()), codec, content)


def _chosen(text: str, name: str) -> Chosen:
    if name.endswith((".py", ".pyw")) and python.is_python(text):
        return python.read_python, python.PYTHON
    if jsons.is_json(text):
        return jsons.read_json, jsons.JSON
    if jsons.is_json_lines(text):
        return jsons.read_json_lines, jsons.JSON_LINES
    if markup.is_xml(text):
        return markup.read_markup, markup.XML
    if markup.is_html(text):
        return markup.read_markup, markup.HTML
    if settings.is_toml(text):
        return settings.read_toml, settings.TOML
    dialect = tables.dialect_of(text)
    if dialect is not None and not name.endswith((".yaml", ".yml")):
        return (lambda one: tables.read_table(one, dialect)), tables.TABLE
    if settings.is_yaml(text):
        return settings.read_yaml, settings.YAML
    if text.startswith("#!") and "python" in text.split("\n", 1)[0] and python.is_python(text):
        return python.read_python, python.PYTHON
    return lines.read_lines, lines.LINES


def _tree(chosen: Chosen, codec: Codec, content: bytes) -> Tree:
    read_text, kind = chosen
    return Tree(read_text(codec.decode(content)), kind, codec, read_text)


def codec_of(content: bytes) -> Codec | None:
    """How the text is written; None for what is none."""
    for mark, name in _MARKS.items():
        if content.startswith(mark):
            return Codec(name, mark)
    start = content[:SAMPLE]
    odd = len(start) - len(start.translate(None, _CONTROLS))
    return Codec() if odd <= ODD * len(start) else None

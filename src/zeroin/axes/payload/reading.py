"""What a content is: by what is in it, and by its name only where several would do."""

from __future__ import annotations

import codecs
import os

from zeroin.axes.payload import (
    arrays,
    depth,
    foreign,
    huge,
    jsons,
    lines,
    markup,
    npy,
    packed,
    python,
    settings,
    tables,
)
from zeroin.axes.payload.huge import SMALL
from zeroin.axes.payload.tree import Codec, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zeroin.axes.payload.foreign import Cutter
    from zeroin.axes.payload.kinds import Payload
    from zeroin.axes.payload.node import Node
    from zeroin.axes.payload.tree import Format

    Chosen = tuple[Callable[[str], Node], Format]

HELD = 1 << 30  # bytes of arrays and archives,
DOCUMENT = 128 << 20  # and of texts, of which all has to be read at once
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
        if length <= _most(sample):
            return read(sample + file.read(), name)
    return huge.in_file(path, _head(sample), lambda content: read(content, name))


def is_too_large(path: str) -> bool:
    """Whether a file has parts, but too many to be held."""
    with open(path, "rb") as file:
        most = _most(file.read(SAMPLE))
        return SMALL < most < os.fstat(file.fileno()).st_size


def _most(sample: bytes) -> int:
    """So many bytes are held. What consists of lines needs less: it can stay where it is."""
    if packed.is_packed(sample) or sample.startswith(npy.MAGIC) or arrays.is_safetensors(sample):
        return HELD
    codec = codec_of(sample)
    text = codec.decode(sample).lstrip() if codec is not None else ""
    is_document = text.startswith(("{", "[", "<")) and not jsons.is_json_lines(_whole_lines(text))
    return DOCUMENT if is_document else SMALL


def _whole_lines(text: str) -> str:
    return text[: text.rfind("\n") + 1] or text


def _head(sample: bytes) -> int:
    """Bytes at the start of a large table that always stay: the names of its columns."""
    codec = codec_of(sample)
    if codec is None:
        return 0
    text = _whole_lines(codec.decode(sample))
    dialect = None if jsons.is_json_lines(text) else tables.dialect_of(text)
    if dialect is None or not tables.has_header(text, dialect):
        return 0
    return len(codec.encode(tables.rows_of(text)[0]))


def read(content: bytes, name: str = "") -> Payload:
    """The payload that this content is."""
    found: Payload | None = packed.read_packed(content, name, read)
    found = found or npy.read_npy(content) or arrays.read_safetensors(content)
    if found is not None:
        return found
    if len(content) > _most(content[:SAMPLE]):
        return _large(content, name)
    codec = codec_of(content)
    if codec is None:
        codec = lines.AS_BYTES
        chosen: Chosen = lines.read_bytes, lines.BYTES
    else:
        chosen = _chosen(codec.decode(content), name.lower())
    is_document = chosen[1] not in (lines.LINES, lines.BYTES)
    if len(content) > SMALL and not is_document:  # it only looked like one
        return _large(content, name)
    return _tree(chosen, codec, content)


def _large(content: bytes, name: str) -> Payload:
    return huge.in_memory(content, _head(content[:SAMPLE]), lambda less: read(less, name))


def is_too_deep(path: str) -> bool:
    """Whether a file of some format is nested so deeply that it was read by its lines."""
    with open(path, "rb") as file:
        content = file.read(DOCUMENT + 1)
    codec = codec_of(content)
    if codec is None or len(content) > DOCUMENT:
        return False
    return nests_too_deeply(codec.decode(content), os.path.basename(path).lower())


def nests_too_deeply(text: str, name: str) -> bool:
    """Whether a text of some format is nested more deeply than can be read as a tree."""
    return any(is_it(text, name) for is_it in _TOO_DEEP)


def _deep_json(text: str, _name: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and depth.has_deep_json(text)


def _deep_markup(text: str, _name: str) -> bool:
    is_markup = text.lstrip("\ufeff \t\r\n").startswith("<")
    return is_markup and markup.has_deep_elements(text)


def _deep_settings(text: str, name: str) -> bool:
    is_named = name.endswith((".toml", ".yaml", ".yml"))
    return (is_named or settings.is_yaml(text)) and depth.has_deep_indents(text)


def _deep_python(text: str, name: str) -> bool:
    return name.endswith((".py", ".pyw")) and depth.has_deep_code(text)


_TOO_DEEP = (_deep_json, _deep_markup, _deep_settings, _deep_python)


def _chosen(text: str, name: str) -> Chosen:
    """How it is read; what is nested too deeply has lines, and no other parts."""
    if nests_too_deeply(text, name):
        return lines.read_lines, lines.LINES
    return _format_of(text, name)


def _format_of(text: str, name: str) -> Chosen:
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
    if settings.is_yaml(text) and not name.endswith(".json"):  # it looks so if it is broken
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

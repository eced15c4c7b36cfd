"""Which kind of rows a file has: by what is in it, and by its name only where several would do."""

from __future__ import annotations

import contextlib
import csv
import json
import lzma
import os
import stat
import tarfile
import zipfile
import zlib

from zeroin.axes.payload import foreign as foreigners
from zeroin.axes.payload import jsons, markup, settings, zstd
from zeroin.axes.payload.depth import DEEPEST
from zeroin.axes.payload.huge import SMALL
from zeroin.axes.payload.npy import MAGIC as NPY_MAGIC
from zeroin.axes.payload.reading import codec_of, nests_too_deeply
from zeroin.errors import UsageError
from zeroin.tiny import arrays, documents, folders, lists, rows, trees
from zeroin.tiny.foreign import foreign
from zeroin.tiny.rows import UnreadableError
from zeroin.tiny.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from zeroin.axes.payload.tree import Codec
    from zeroin.tiny.foreign import Library
    from zeroin.tiny.rows import Rows
    from zeroin.tiny.trees import Look

    Opener = Callable[[str, str], Library]  # of the file at a path, and its kind
    Stack = contextlib.ExitStack

SAMPLE = 1 << 16  # bytes by which a file is judged
LINES = 3  # that must be among them,
LONGEST = 1 << 20  # if they are not longer than this
ZIP = (b"PK\3\4", b"PK\5\6")
NAMES_OF_LINES = (".jsonl", ".ndjson", ".jsonlines")
NAMES_OF_TREES = (".json", ".yaml", ".yml", ".toml", ".xml", ".html", ".htm")


@contextlib.contextmanager
def open_rows(path: str, opener: Opener) -> Iterator[Rows]:
    """The rows of a file or a folder; `opener` gives who reads what only a library can."""
    with contextlib.ExitStack() as stack, reading(path):
        yield _opened(path, opener, stack)


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """While it is read: what is wrong with it is said in our words."""
    _check(path)
    try:
        yield
    except UnreadableError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from None
    except PermissionError as error:
        name = error.filename or path
        raise UsageError(f"{name}: may not be read", hint=f"chmod u+r {name}") from None
    except RecursionError:
        raise UsageError(f"{path}: it is nested too deep") from None
    except UnicodeError as error:
        raise UsageError(f"{path}: it can't be read as text: {error}") from None
    except _broken() as error:
        raise UsageError(f"{path}: it can't be read: {error}") from None


def _broken() -> tuple[type[Exception], ...]:
    """What libraries raise for broken files; RuntimeError is for a zip file with a password."""
    known = (OSError, EOFError, RuntimeError, csv.Error, zlib.error, lzma.LZMAError)
    return (*known, zipfile.BadZipFile, tarfile.TarError, *zstd.errors())


def _check(path: str) -> None:
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path}: no such file") from None
    except OSError as error:
        raise UsageError(f"{path}: {os.strerror(error.errno or 0).lower()}") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError(
            f"{path}: neither a file nor a folder", hint=f"make a file of it: cat {path} > data"
        )


def _opened(path: str, opener: Opener, stack: Stack) -> Rows:
    if os.path.isdir(path):
        return folders.folder(path)
    source = Source(path)
    with source.open() as file:
        sample = file.read(SAMPLE)
    kind = foreigners.kind_of(sample, source.name)
    if kind == "image":
        raise UnreadableError(
            "an image has no rows",
            hint="name the folder that it is in, or: zeroin shrink IMAGE -- COMMAND",
        )
    if kind:
        library = opener(source.file(stack), kind)
        stack.callback(library.close)
        return foreign(kind, library)
    return _binary(source, sample, stack) or _text(source, sample, stack)


# --- what is no text ----------------------------------------------------------------------------


def _binary(source: Source, sample: bytes, stack: Stack) -> Rows | None:
    if sample.startswith(NPY_MAGIC):
        return arrays.npy(_file(source, stack))
    if sample.startswith(ZIP):
        return _zip(source.file(stack), stack)
    if sample[257:262] == b"ustar":
        return folders.tar_file(source.file(stack), stack)
    if sample[8:9] == b"{" and b"\0" in sample[:8]:
        file = _file(source, stack)
        told = arrays.tensors(file, os.fstat(file.fileno()).st_size)
        return arrays.safetensors(file, told) if told is not None else None
    return None


def _file(source: Source, stack: Stack) -> IO[bytes]:
    return stack.enter_context(open(source.file(stack), "rb"))


def _zip(path: str, stack: Stack) -> Rows:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    is_arrays = bool(names) and all(one.endswith(".npy") for one in names)
    return arrays.npz(path, stack) if is_arrays else folders.zip_file(path, stack)


# --- texts --------------------------------------------------------------------------------------


def _text(source: Source, sample: bytes, stack: Stack) -> Rows:
    """JSON Lines, tables and lines are read as they come, and so is a list of JSON."""
    codec = codec_of(sample)
    if codec is None or source.name.endswith((".npy", ".npz", ".safetensors", ".parquet")):
        raise UnreadableError("it can't be read as text, and is of no other kind that is known")
    start = _start(source, codec)
    first, name = start.lstrip()[:1], source.name.lower()
    line, end, rest = start.partition("\n")
    text = stack.enter_context(source.text(codec))
    is_named = name.endswith(NAMES_OF_LINES)
    is_long = is_named and not end and len(start) >= LONGEST
    is_row = first in ("{", "[") and (is_long or jsons.is_json(line))
    if is_row and (rest.strip() or is_named):
        return rows.json_lines(text, codec)
    if first == "[" and (lists.is_list(start) or name.endswith(".json")):
        return lists.json_list(text, codec)
    tree = _tree(source, start, codec)
    if tree is not None:
        return trees.tree(*tree, codec)
    delimiter = rows.delimiter_of(start)
    return rows.table(text, delimiter, codec) if delimiter else rows.lines(text, codec)


def _start(source: Source, codec: Codec) -> str:
    """As much as it takes to see what it is."""
    with source.text(codec) as text:
        start = text.read(SAMPLE)
        while start.count("\n") < LINES and len(start) < LONGEST:
            line = text.readline(LONGEST)
            if not line:
                break
            start += line
        return start


def _tree(source: Source, start: str, codec: Codec) -> tuple[str, Look] | None:
    """A text that is held as a whole, and how its rows are found; None if it is none."""
    name = source.name.lower()
    is_sure = name.endswith(NAMES_OF_TREES) or start.lstrip()[:1] in ("{", "<")
    with source.open() as file:
        whole = file.read(-1 if is_sure else SMALL + 1)
    if len(whole) > SMALL and not is_sure:
        return None
    text = codec.decode(whole)
    look = _look(text, name, bool(rows.delimiter_of(start)))
    return None if look is None else (text, look)


def _look(text: str, name: str, is_table: bool) -> Look | None:
    if nests_too_deeply(text, name):
        raise UnreadableError(
            f"it is nested more than {DEEPEST} levels deep", hint="by its lines: head -n 100"
        )
    if text.lstrip()[:1] == "{":
        try:
            json.loads(text)
        except ValueError as error:
            if name.endswith(".json"):
                raise UnreadableError(f"it begins as JSON, and is none: {error}") from None
        else:
            return trees.JSON
    if text.lstrip()[:1] == "<":
        if markup.is_xml(text):
            return documents.XML
        if markup.is_html(text):
            return documents.HTML
    if settings.is_toml(text):
        return documents.TOML
    is_named = name.endswith((".yaml", ".yml")) and bool(text.strip())
    return documents.YAML if is_named or (settings.is_yaml(text) and not is_table) else None

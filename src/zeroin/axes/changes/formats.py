"""JSON, TOML, YAML, INI and dotenv, each read as a tree of keys."""

from __future__ import annotations

import json
import re
import tomllib

from zeroin.axes.changes.entries import ended, entries, is_silent, told_apart
from zeroin.axes.changes.pieces import Piece
from zeroin.axes.changes.yaml import read_yaml
from zeroin.axes.payload import depth, jsons
from zeroin.axes.payload.settings import toml_entries
from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from zeroin.axes.payload.node import Node

_TOML_TABLE = re.compile(r"[ \t]*(\[\[?)[ \t]*([^\]\n]+?)[ \t]*\]")
_TOML_KEY = re.compile(r"[ \t]*((?:[\w\-]+|\"[^\"\n]*\"|'[^'\n]*'|[ \t]*\.[ \t]*)+?)[ \t]*=")
_INI_SECTION = re.compile(r"\[([^\]]+)\]")
_INI_KEY = re.compile(r"([^\s=:#;\[][^=:\n]*?)[ \t]*(?:[=:](.*))?$", re.DOTALL)
_VARIABLE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*)$", re.DOTALL)


def kind_of(text: str, name: str) -> str:
    """By the name; else by what it looks like."""
    name = name.lower().rpartition("/")[2]
    for kind, ends in (
        ("JSON", (".json",)),
        ("TOML", (".toml",)),
        ("YAML", (".yaml", ".yml")),
        ("INI", (".ini", ".cfg", ".conf")),
        ("dotenv", (".env",)),
    ):
        if name.endswith(ends):
            return kind
    if name.startswith(".env"):
        return "dotenv"
    if text.lstrip()[:1] in ("{", "[") and jsons.is_json(text):
        return "JSON"
    if _is_toml(text):
        return "TOML"
    rows = [row for row in text.splitlines() if row.strip() and row.lstrip()[0] not in "#;"]
    if rows and all(map(_VARIABLE.match, rows)):
        return "dotenv"
    return "INI" if rows and _INI_SECTION.match(rows[0].lstrip()) else "YAML"


def parsed(text: str, kind: str, name: str) -> Piece:
    """The tree; what is not of its kind is said, with the line."""
    readers: dict[str, Callable[[str], Piece]] = {
        "JSON": _json,
        "TOML": _toml,
        "YAML": read_yaml,
        "INI": _ini,
        "dotenv": _dotenv,
    }
    if depth.has_deep_json(text) if kind == "JSON" else depth.has_deep_indents(text):
        raise UsageError(
            f"{name} is nested more than {depth.DEEPEST} levels deep",
            hint="by their lines: zeroin bisect data GOOD BAD -- COMMAND",
        )
    try:
        return readers[kind](text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not {kind}: {str(error).partition(';')[0]}") from None


def is_valid(text: str, kind: str) -> bool:
    """Whether it can be read: a mixture may not be."""
    if kind == "TOML":
        return _is_toml(text)
    return kind != "JSON" or jsons.is_json(text)


def _is_toml(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except (ValueError, RecursionError):
        return False


# --- JSON ---------------------------------------------------------------------------------------


def _json(text: str) -> Piece:
    if not isinstance(json.loads(text), dict | list):
        raise ValueError("neither an object nor a list")  # noqa: TRY004 - of the text
    node = jsons.read_json(text)
    (value,) = node.parts
    whole = _of_value("", "", value)
    inner = node.inner
    return Piece(
        "",
        inner.head + whole.head,
        whole.inside,
        whole.joint,
        whole.tail + inner.tail,
        whole.value,
        whole.is_list,
    )


def _of_value(key: str, before: str, node: Node) -> Piece:
    text = node.text
    if text[:1] not in ("{", "[") or not node.parts:
        return Piece(key, before + text, value=text)
    inner = node.inner
    if text[0] == "[":
        items = [_of_value(str(at), "", one) for at, one in enumerate(inner.parts)]
    else:
        items = [
            _of_value(str(json.loads(one.inner.head.rstrip().rstrip(":"))), one.inner.head, part)
            for one in inner.parts
            for part in one.parts
        ]
    return Piece(
        key, before + inner.head, tuple(items), inner.joint, inner.tail, is_list=text[0] == "["
    )


# --- TOML ---------------------------------------------------------------------------------------


def _toml(text: str) -> Piece:
    tomllib.loads(text)
    text = ended(text)
    top: list[Piece] = []
    table: tuple[str, str, list[Piece]] | None = None
    for start, end, own in toml_entries(text):
        entry = text[start:end]
        head = _TOML_TABLE.match(text, own)
        if head is not None:
            top += _section(table)
            table = (head[2] if head[1] == "[" else f"[{head[2]}]", entry, [])
            continue
        key = _TOML_KEY.match(text, own)
        name = key[1].strip() if key is not None else ""
        value = _toml_value(text[own:end]) if name else None
        (top if table is None else table[2]).append(Piece(name, entry, value=value))
    return Piece("", inside=told_apart([*top, *_section(table)]))


def _section(table: tuple[str, str, list[Piece]] | None) -> Iterator[Piece]:
    if table is not None:
        key, head, inside = table
        yield Piece(key, head, told_apart(inside), value="")


def _toml_value(text: str) -> str:
    value: Any = tomllib.loads(text)
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, str) and "\n" in value else _toml_shown(value)


def _toml_shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, default=str) if isinstance(value, str | dict | list) else str(value)


# --- INI and dotenv -----------------------------------------------------------------------------


def _ini(text: str) -> Piece:
    import configparser

    parser = configparser.ConfigParser(strict=False, allow_no_value=True, interpolation=None)
    try:
        parser.read_string(text if _INI_SECTION.search(text) else f"[top]\n{text}")
    except configparser.Error as error:
        raise ValueError(str(error).splitlines()[0]) from None
    top: list[Piece] = []
    table: tuple[str, str, list[Piece]] | None = None
    for comments, entry in entries(text, "#;", lambda _, row: row[:1] in " \t"):
        head = _INI_SECTION.match(entry.strip())
        if head is not None:
            top += _section(table)
            table = (head[1], comments + entry, [])
            continue
        key = _INI_KEY.match(entry.strip())
        name = key[1].strip() if key is not None else ""
        value = " ".join((key[2] or "").split()) if key is not None else None
        (top if table is None else table[2]).append(Piece(name, comments + entry, value=value))
    return Piece("", inside=told_apart([*top, *_section(table)]))


def _dotenv(text: str) -> Piece:
    inside = []
    for comments, entry in entries(text, "#", _quote_is_open):
        found = _VARIABLE.match(entry.rstrip("\n"))
        if found is None and not is_silent(entry):
            raise ValueError(f"write NAME=VALUE, not {entry.strip()!r}")
        name, value = (found[1], found[2].strip()) if found is not None else ("", None)
        if value and value[0] not in "'\"":
            value = value.partition(" #")[0].strip()
        inside.append(Piece(name, comments + entry, value=value))
    return Piece("", inside=told_apart(inside))


def _quote_is_open(entry: str, _: str) -> bool:
    found = _VARIABLE.match(entry)
    mark = found[2][:1] if found is not None else ""
    return mark in ("'", '"') and entry.count(mark) % 2 == 1

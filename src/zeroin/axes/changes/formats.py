"""JSON, TOML, YAML, INI and dotenv, each read as a tree of keys."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from zeroin.axes.changes.pieces import Piece
from zeroin.axes.payload import jsons
from zeroin.axes.payload.settings import toml_entries
from zeroin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zeroin.axes.payload.node import Node

_TOML_TABLE = re.compile(r"[ \t]*(\[\[?)[ \t]*([^\]\n]+?)[ \t]*\]")
_TOML_KEY = re.compile(r"[ \t]*((?:[\w\-]+|\"[^\"\n]*\"|'[^'\n]*'|[ \t]*\.[ \t]*)+?)[ \t]*=")
_INI_SECTION = re.compile(r"\[([^\]]+)\]")
_INI_KEY = re.compile(r"([^\s=:#;\[][^=:\n]*?)[ \t]*(?:[=:](.*))?$", re.DOTALL)
_VARIABLE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*)$", re.DOTALL)
_YAML_LINE = re.compile(
    r"(?P<indent> *)(?P<key>\"[^\"\n]*\"|'[^'\n]*'|[^\s#\-\[{&*!|>'\"%@`][^\n]*?|-[^\s\n][^\n]*?)"
    r"[ ]*:(?:[ \t]+(?P<rest>[^\n]*))?\r?\n?$"
)
_YAML_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_NO_VALUE = re.compile(r"(?:[&!][^\s]+[ \t]*)*$")  # an anchor or a tag, and nothing else


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
        "YAML": _yaml,
        "INI": _ini,
        "dotenv": _dotenv,
    }
    try:
        return readers[kind](text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not {kind}: {error}") from None


def is_valid(text: str, kind: str) -> bool:
    """Whether it can be read: a mixture may not be."""
    if kind == "TOML":
        return _is_toml(text)
    return kind != "JSON" or jsons.is_json(text)


def _is_toml(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
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
    text = _ended(text)
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
    return Piece("", inside=_told_apart([*top, *_section(table)]))


def _section(table: tuple[str, str, list[Piece]] | None) -> Iterator[Piece]:
    if table is not None:
        key, head, inside = table
        yield Piece(key, head, _told_apart(inside), value="")


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
    for comments, entry in _entries(text, "#;", lambda _, row: row[:1] in " \t"):
        head = _INI_SECTION.match(entry.strip())
        if head is not None:
            top += _section(table)
            table = (head[1], comments + entry, [])
            continue
        key = _INI_KEY.match(entry.strip())
        name = key[1].strip() if key is not None else ""
        value = " ".join((key[2] or "").split()) if key is not None else None
        (top if table is None else table[2]).append(Piece(name, comments + entry, value=value))
    return Piece("", inside=_told_apart([*top, *_section(table)]))


def _dotenv(text: str) -> Piece:
    inside = []
    for comments, entry in _entries(text, "#", _quote_is_open):
        found = _VARIABLE.match(entry.rstrip("\n"))
        if found is None and not _is_silent(entry):
            raise ValueError(f"write NAME=VALUE, not {entry.strip()!r}")
        name, value = (found[1], found[2].strip()) if found is not None else ("", None)
        if value and value[0] not in "'\"":
            value = value.partition(" #")[0].strip()
        inside.append(Piece(name, comments + entry, value=value))
    return Piece("", inside=_told_apart(inside))


def _quote_is_open(entry: str, _: str) -> bool:
    found = _VARIABLE.match(entry)
    mark = found[2][:1] if found is not None else ""
    return mark in ("'", '"') and entry.count(mark) % 2 == 1


# --- YAML ---------------------------------------------------------------------------------------


def _yaml(text: str) -> Piece:
    if "\t" in re.sub(r"[^\n\t ].*", "", text):
        raise ValueError("tabs in front of a key")
    rows = list(_entries(text, "#", lambda _a, _b: False))
    lead = ""
    while rows and rows[0][1].startswith(("---", "%")):
        lead += "".join(rows.pop(0))
    if any(row.startswith("---") for _, row in rows):
        raise ValueError("several documents in one file")
    inside, rest = _yaml_block(rows, 0)
    if rest or not inside:
        row = rest[0][1].strip() if rest else ""
        raise ValueError(f"no key: {row[:60]!r}" if row else "no keys in it")
    is_list = inside[0].key == "0" and inside[0].head.lstrip().startswith("-")
    return Piece("", lead, _told_apart(inside), indent=0, is_list=is_list)


def _yaml_block(
    rows: Sequence[tuple[str, str]], depth: int
) -> tuple[list[Piece], list[tuple[str, str]]]:
    """The keys, or the elements, that stand this deep; and what is behind them."""
    found: list[Piece] = []
    left = list(rows)
    while left:
        comments, row = left[0]
        if _is_silent(row):  # comments at the end
            found.append(Piece("", comments + row, indent=depth))
            left.pop(0)
            continue
        here = _depth(row)
        key = _YAML_LINE.match(_YAML_COMMENT.sub("", row))
        dash = row.lstrip().startswith(("- ", "-\n")) or row.strip() == "-"
        if here != depth or (key is None and not dash):
            break
        left.pop(0)
        deeper = [left.pop(0) for _ in range(_count_deeper(left, depth, below_key=not dash))]
        if dash:
            text = comments + row + "".join(a + b for a, b in deeper)
            found.append(Piece(str(len(found)), text, value=_plain(row, deeper), indent=depth))
        elif key is not None:
            found.append(_yaml_key(key, comments + row, deeper, depth))
    return found, left


def _yaml_key(
    key: re.Match[str], head: str, deeper: Sequence[tuple[str, str]], depth: int
) -> Piece:
    name = key["key"].strip("\"'")
    rest = key["rest"] or ""
    if deeper and _NO_VALUE.match(rest.strip()):
        inside, left = _yaml_block(deeper, _depth(deeper[0][1]))
        if inside and not left:
            is_list = deeper[0][1].lstrip().startswith("-")
            return Piece(name, head, _told_apart(inside), is_list=is_list, indent=depth)
    text = head + "".join(a + b for a, b in deeper)
    return Piece(name, text, value=_plain(rest, deeper), indent=depth)


def _plain(first: str, deeper: Sequence[tuple[str, str]]) -> str:
    first = _YAML_COMMENT.sub("", first).strip().removeprefix("- ")
    rows = [first, *(row.strip() for _, row in deeper)]
    return "\n".join(filter(None, rows))


def _count_deeper(rows: Sequence[tuple[str, str]], depth: int, *, below_key: bool) -> int:
    """A list may stand as deep as the key that it belongs to."""
    for count, (_, row) in enumerate(rows):
        dash = below_key and row.lstrip().startswith("- ")
        if not _is_silent(row) and (_depth(row) < depth or (_depth(row) == depth and not dash)):
            return count
    return len(rows)


def _is_silent(row: str) -> bool:
    return row.lstrip()[:1] in ("", "#")


def _depth(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


# --- all of them --------------------------------------------------------------------------------


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def _entries(
    text: str, marks: str, goes_on: Callable[[str, str], bool]
) -> Iterator[tuple[str, str]]:
    """Each line that says something, with the comments in front of it, and with its rest."""
    comments, entry = "", ""
    for row in _ended(text).splitlines(keepends=True):
        silent = not row.strip() or row.lstrip()[0] in marks
        if entry and goes_on(entry, row) and row.strip():
            entry += row
            continue
        if entry:
            yield comments, entry
            comments, entry = "", ""
        if silent:
            comments += row
        else:
            entry = row
    if entry or comments:
        yield (comments, entry) if entry else ("", comments)


def _told_apart(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Keys that are there twice get a number; what has none is the same wherever it is."""
    import dataclasses

    seen: dict[str, int] = {}
    found = []
    for one in pieces:
        number = seen[one.key] = seen.get(one.key, 0) + 1
        key = one.key if number == 1 else f"{one.key}#{number}"
        found.append(dataclasses.replace(one, key=key) if key != one.key else one)
    return tuple(found)

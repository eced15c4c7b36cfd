"""Where the rows are in XML and HTML, YAML and TOML, and what they say."""

from __future__ import annotations

import collections
import html
import json
import re
import tomllib

from zeroin.axes.payload.markup import ATTRIBUTE, TOKEN, read_elements
from zeroin.axes.payload.settings import read_toml_lines, read_yaml_lines
from zeroin.tiny.rows import typed
from zeroin.tiny.trees import Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from zeroin.axes.payload.node import Node
    from zeroin.tiny.trees import Group

# --- XML and HTML -------------------------------------------------------------------------------

_TAG = re.compile(r"<([^\s<>/=\"'!?]+)")


def _elements(node: Node) -> Sequence[Group]:
    """Those of the name that most have, each with the spaces and comments in front of it."""
    tags = [_TAG.match(part.text) if not part.stays else None for part in node.parts]
    names = collections.Counter(one[1] for one in tags if one is not None)
    if not names:
        return ()
    usual = names.most_common(1)[0][0]
    found: list[Group] = []
    start = 0
    for number, tag in enumerate(tags):
        if tag is not None and tag[1] == usual:
            found.append((start, number + 1))
        if tag is not None or not _says_nothing(node.parts[number]):
            start = number + 1
    return found


def _says_nothing(part: Node) -> bool:
    return not part.stays and (not part.text.strip() or part.text.startswith("<!--"))


def _everywhere(node: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    for number, part in enumerate(node.parts):
        if part.parts:
            yield (number,), part


def _element_value(text: str) -> Any:
    """Attributes and texts by the way to them; just the text if there is nothing else."""
    found: dict[str, Any] = {}
    way: list[str] = []
    for token in TOKEN.finditer(text):
        if token["opened"]:
            way.append(token["opened"])
            for one in ATTRIBUTE.finditer(token["attributes"]):
                name, _, value = one[0].strip().partition("=")
                _add(found, f"{'.'.join(way[1:])}@{name.strip()}", value.strip().strip("\"'"))
            if token["alone"]:
                _add(found, ".".join(way[1:]), "")
                way.pop()
        elif token["closed"]:
            while token["closed"] in way and way.pop() != token["closed"]:
                pass
        elif (token["text"] or "").strip():
            _add(found, ".".join(way[1:]), html.unescape(token["text"].strip()))
    return _alone(found)


def _add(found: dict[str, Any], name: str, text: str) -> None:
    """What is there several times is a list."""
    value = typed(text)
    if name not in found:
        found[name] = value
    elif isinstance(found[name], list):
        found[name].append(value)
    else:
        found[name] = [found[name], value]


XML = Look("XML", "element", read_elements, _elements, _everywhere, _element_value)
HTML = XML._replace(kind="HTML")

# --- YAML ---------------------------------------------------------------------------------------

_COMMENTS = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*")
_BLOCK = re.compile(r"[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?\n")
_ANCHOR = re.compile(r"(?:^|[\s,\[{])&([\w-]+)")
_LINE = re.compile(r"([ \t]*)((?:- +)*)(?:([^\s:#\"'\[{][^:\n]*|\"[^\"]*\"|'[^']*'):(?: |$))?(.*)")


def _own(part: Node) -> str:
    """Without the comments in front of it."""
    return _COMMENTS.sub("", part.text)


def _yaml_groups(node: Node) -> Sequence[Group]:
    """Documents of a stream, entries of a list, lines of a mapping that are all alike."""
    rows = [number for number, part in enumerate(node.parts) if not part.stays]
    own = [_own(node.parts[number]) for number in rows]
    starts = [number for number, text in zip(rows, own, strict=True) if text.startswith("---")]
    if len(starts) > 1:
        return list(zip(starts, [*starts[1:], len(node.parts)], strict=True))
    if not rows or (node.parts[0].stays and _BLOCK.search(_own(node.parts[0]))):
        return ()  # the lines of a text
    if any(map(_goes_on, (node.parts[0].text, *own))):
        return ()  # something in brackets or quotes that takes several lines
    in_brackets = not own[0].endswith("\n") and len(rows) == len(node.parts)
    is_list = in_brackets or all(text.lstrip().startswith(("- ", "-\n")) for text in own)
    if not is_list and len({"\n" in text.strip() for text in own}) > 1:
        return ()  # a record: its lines are of different kinds
    named = {name for text in own for name in _ANCHOR.findall(text)}  # others may stand on it
    return [
        (number, number + 1)
        for number, text in zip(rows, own, strict=True)
        if not named & set(_ANCHOR.findall(text))
    ]


def _goes_on(text: str) -> bool:
    bare = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|(?:^|\s)#[^\n]*", "", text)
    opened, closed = (sum(map(bare.count, marks)) for marks in ("[{", "]}"))
    return opened != closed or '"' in bare


def _yaml_inside(node: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    """Not in the entries of a list that has several."""
    entries = [part for part in node.parts if not part.stays]
    if len(entries) > 1 and all(_own(one).lstrip().startswith("- ") for one in entries):
        return
    yield from _everywhere(node)


def _yaml_value(text: str) -> Any:
    """Scalars by the keys above them; no more of YAML is read than that takes."""
    found: dict[str, Any] = {}
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None or not line.strip() or line.lstrip().startswith(("#", "---")):
            continue
        depth = len(match[1]) + len(match[2])
        while above and above[-1][0] >= depth:
            above.pop()
        if match[3]:
            above.append((depth, match[3].strip("\"' ")))
        value = re.sub(r"\s#.*", "", match[4]).strip()
        if value or not match[3]:
            _add_scalar(found, ".".join(name for _, name in above), value)
    if above and not _COMMENTS.sub("", text).startswith(("-", " ")):  # a line with its key
        key = above[0][1]
        below = {name[len(key) + 1 :]: one for name, one in found.items()}
        return {"key": key, "value": _alone(below)}
    return _alone(found)


def _alone(found: dict[str, Any]) -> Any:
    """Just what is in it if it has no name."""
    return found[""] if list(found) == [""] else found


def _add_scalar(found: dict[str, Any], name: str, text: str) -> None:
    is_list = text.startswith("[") and text.endswith("]")
    value = [_scalar(one.strip()) for one in text[1:-1].split(",")] if is_list else _scalar(text)
    if name in found:
        before = found[name] if isinstance(found[name], list) else [found[name]]
        value = [*before, value]
    found[name] = value


def _scalar(text: str) -> Any:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else None if text in ("null", "~") else typed(text)


YAML = Look("YAML", "item", read_yaml_lines, _yaml_groups, _yaml_inside, _yaml_value)

# --- TOML ---------------------------------------------------------------------------------------

_HEADER = re.compile(r"[ \t]*(\[\[?)[ \t]*([^\]\n]+?)[ \t]*\]")


def _toml_groups(node: Node) -> Sequence[Group]:
    """Tables of one name with those below them, elements of a list, lines."""
    rows = [number for number, part in enumerate(node.parts) if not part.stays]
    headers = {number: _HEADER.match(_own(node.parts[number])) for number in rows}
    if not any(headers.values()):
        return [(number, number + 1) for number in rows]
    if any(part.stays for part in node.parts):  # a table: what is above its lines is its name
        return ()
    names = {number: found[2] for number, found in headers.items() if found is not None}
    kinds = {
        number: names[number] if found[1] == "[[" else names[number].rpartition(".")[0] + ".*"
        for number, found in headers.items()
        if found is not None
    }
    usual = collections.Counter(kinds.values()).most_common(1)[0][0]
    found: list[Group] = []
    for number, kind in kinds.items():
        if kind == usual and (not found or number >= found[-1][1]):
            found.append((number, _behind(number, names)))
    return found


def _behind(number: int, names: dict[int, str]) -> int:
    """Behind the tables that belong to it."""
    end = number + 1
    while end in names and names[end].startswith(f"{names[number]}."):
        end += 1
    return end


def _toml_value(text: str) -> Any:
    text = _COMMENTS.sub("", text)
    found = _HEADER.match(text)
    try:
        value: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # of a list
        value = tomllib.loads(f"value = {text}")["value"]
    if found is None and isinstance(value, dict) and len(value) == 1:  # a line
        ((key, inner),) = value.items()
        value = {"key": key, "value": inner}
    for _ in found[2].split(".") if found is not None else ():
        value = next(iter(value.values()), {}) if isinstance(value, dict) else value
        value = value[0] if isinstance(value, list) and value else value
    return json.loads(json.dumps(value, default=lambda one: {type(one).__name__: str(one)}))


TOML = Look("TOML", "item", read_toml_lines, _toml_groups, _everywhere, _toml_value)

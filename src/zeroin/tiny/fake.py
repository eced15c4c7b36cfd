"""Rows that were never there: they count, so that each value says where it stands.

A schema comes from a line such as `id:int,name:str,tags:[str],at:{x:float}`, or from rows that
there are.
"""

from __future__ import annotations

import itertools
import random
import re
import string

from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

NAMES = ("int", "float", "str", "bool", "null")
LENGTH = 2  # of lists, where nothing says otherwise


class Maker:
    """Makes values of a schema: counting, or random."""

    def __init__(self, seed: int | None = None) -> None:
        self._drawn = random.Random(seed) if seed is not None else None
        self._numbers: dict[str, Iterator[int]] = {}

    def value(self, schema: Any, name: str = "") -> Any:
        """One that fits."""
        if isinstance(schema, dict):
            return {key: self.value(one, f"{name}.{key}") for key, one in schema.items()}
        if isinstance(schema, list):
            return [self.value(schema[0], f"{name}[]") for _ in range(LENGTH)] if schema else []
        number = next(self._numbers.setdefault(name, itertools.count(1)))
        if self._drawn is None:
            return _counted(schema, name, number)
        return _random(schema, self._drawn)


def _counted(kind: str, name: str, number: int) -> Any:
    word = re.sub(r"\W", "", name.rpartition(".")[2]) or "text"
    return {
        "int": number,
        "float": float(number),
        "str": f"{word}{number}",
        "bool": number % 2 == 1,
        "null": None,
    }[kind]


def _random(kind: str, drawn: random.Random) -> Any:
    letters = "".join(drawn.choices(string.ascii_lowercase, k=drawn.randrange(1, 12)))
    return {
        "int": drawn.randrange(-1000, 1000),
        "float": round(drawn.gauss(0, 100), 3),
        "str": letters,
        "bool": drawn.random() < 0.5,
        "null": None,
    }[kind]


# --- schemas ------------------------------------------------------------------------------------


def parse(spec: str) -> Any:
    """A schema from a line."""
    schema, rest = _fields(f"{spec}}}")
    if rest:
        raise UsageError(f"{spec}: there is something behind it: {rest[:-1]}")
    return schema


def _fields(text: str) -> tuple[dict[str, Any], str]:
    found: dict[str, Any] = {}
    while True:
        name, colon, rest = text.partition(":")
        if not colon or not name.strip():
            raise UsageError(
                f"{text.rstrip('}')}: a field is a name and a kind",
                hint="zeroin fake 'id:int,name:str,tags:[str],at:{x:float}'",
            )
        found[name.strip()], rest = _kind(rest.lstrip())
        if rest.startswith(","):
            text = rest[1:]
        elif rest.startswith("}"):
            return found, rest[1:]
        else:
            raise UsageError(f"{rest}: a comma is expected there")


def _kind(text: str) -> tuple[Any, str]:
    if text.startswith("{"):
        return _fields(text[1:])
    if text.startswith("["):
        inner, rest = _kind(text[1:].lstrip())
        if not rest.startswith("]"):
            raise UsageError(f"{text}: a ] is missing")
        return [inner], rest[1:].lstrip()
    found = re.match(r"\w+", text)
    word = found[0] if found else ""
    if word not in NAMES:
        raise UsageError(f"{word or text}: no such kind", hint=f"there are {', '.join(NAMES)}")
    return word, text[len(word) :].lstrip()


def schema_of(values: Iterable[Any]) -> Any:
    """The schema that all of these have together: the first kind of each field that is not null."""
    schema: Any = "null"
    for value in values:
        schema = _merged(schema, _schema(value))
    return schema


def _schema(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _schema(one) for key, one in value.items()}
    if isinstance(value, list):
        merged = schema_of(value)
        return [merged] if value else []
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str")):
        if isinstance(value, kind):
            return name
    return "null"


def _merged(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        both = {**dict.fromkeys(one), **dict.fromkeys(other)}
        return {key: _merged(one.get(key, "null"), other.get(key, "null")) for key in both}
    if isinstance(one, list) and isinstance(other, list):
        return [_merged(one[0], other[0])] if one and other else one or other
    if (
        {one, other} == {"int", "float"}
        if isinstance(one, str) and isinstance(other, str)
        else False
    ):
        return "float"
    return other if one == "null" else one

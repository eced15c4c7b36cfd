"""What the user asked about: a file, a console command, or a name to be imported."""

from __future__ import annotations

import os
import re
import shutil

from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = re.compile(r"(.+\.py):([^\W\d][\w.]*)")
_LINE = re.compile(r"(.+?):(\d+)(?::\d+)?")
ENDS = (".py", ".pyi", ".pyx", ".so", ".pyc")


class Question(NamedTuple):
    """A file with a line, or a dotted name, with a colon before what is inside the module."""

    text: str
    file: str = ""
    line: int = 0
    name: str = ""
    inside: str = ""  # FILE.py:NAME


class Definition(NamedTuple):
    """A `def` or `class`, and all its lines, decorators included."""

    line: int
    first: int
    last: int


def read(text: str, cwd: str) -> Question:
    """Files are told by a slash, by their end, or by being there with a line number."""
    named = _NAMED.fullmatch(text)
    if named:
        full = os.path.abspath(os.path.join(cwd, os.path.expanduser(named[1])))
        found = definitions(full, named[2])
        line = found[-1].line if found else _assigned(full, named[2])
        return Question(text, file=full, line=line, inside=named[2] if found else "")
    matched = _LINE.fullmatch(text)
    path, line = (matched[1], int(matched[2])) if matched else (text, 0)
    looks = os.sep in path or path.endswith(ENDS)
    full = os.path.abspath(os.path.join(cwd, os.path.expanduser(path)))
    if looks or (line and os.path.isfile(full)):
        if os.path.isdir(full):
            full = os.path.join(full, "__init__.py")
        _check_line(text, full, line)
        return Question(text, file=full, line=line)
    return Question(text, name=text)


def _check_line(text: str, file: str, line: int) -> None:
    if not line or not os.path.isfile(file):
        return
    with open(file, "rb") as source:
        count = len(source.read().splitlines())
    if line > count:
        raise UsageError(f"{text}: that file has {count} lines")


def is_python(file: str) -> bool:
    """By its end, or by its first line."""
    if file.endswith(ENDS):
        return True
    try:
        with open(file, "rb") as script:
            first = script.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def definitions(file: str, name: str) -> list[Definition]:
    """Where a dotted name is defined in a file, without running it: from the top.

    Several are the branches of an `if`, overloads, or a property and its setter.
    """
    import ast

    from zeroin.agent.which import places

    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError) as error:
        raise UsageError(f"{file}: {error}") from None
    return [Definition(one.lineno, *places.extent(one)) for one in places.written_in(tree, name)]


def _assigned(file: str, name: str) -> int:
    from zeroin.agent.which import places

    line = places.assigned(file, name)
    if line:
        return line
    raise UsageError(f"{file} has no {name}", hint="names of methods have their class before them")


def names_of(file: str, path: list[str]) -> list[str]:
    """The names under which a file may be imported, the likeliest first."""
    folder, name = os.path.split(file)
    words = [name.split(".")[0]] if name.split(".")[0] != "__init__" else []
    while os.path.isfile(os.path.join(folder, "__init__.py")) and folder != "/":
        folder, name = os.path.split(folder)
        words.insert(0, name)
    found = [".".join(words)] if words else []
    real = os.path.realpath(file)
    below = [one for one in path if _inside(real, one)]
    for entry in sorted(below, key=len, reverse=True):
        parts = os.path.relpath(real, os.path.realpath(entry)).split(os.sep)
        parts[-1] = parts[-1].split(".")[0]
        if parts[-1] == "__init__":
            parts.pop()
        if parts and all(part.isidentifier() for part in parts):
            found.append(".".join(parts))
    return list(dict.fromkeys(one for one in found if one))


def _inside(real: str, entry: str) -> bool:
    return real.startswith(os.path.join(os.path.realpath(entry), ""))


# --- console commands --------------------------------------------------------------------------


class Command(NamedTuple):
    """A console script: where it is, whose interpreter runs it, and which function."""

    file: str
    python: str  # "" for one that is no Python script
    target: str  # "package.module:function", or ""


_IMPORT = re.compile(r"^from ([\w.]+) import (\w+)", re.MULTILINE)
_FIRST = re.compile(rb"#!\s*(\S+)")
_LONG = re.compile(rb"'''exec' \"?([^\"\n]+?)\"? \"\$0\"")


def command(name: str, scripts: str, env: Mapping[str, str]) -> Command | None:
    """The command of that name in the environment, else the one on PATH."""
    if os.sep in name:
        return None
    inside = os.path.join(scripts, name)
    file = inside if os.access(inside, os.X_OK) else shutil.which(name, path=env.get("PATH"))
    if not file or not os.path.isfile(file):
        return None
    try:
        with open(file, "rb") as script:
            head = script.read(4096)
    except OSError:
        return None
    first = _LONG.search(head) if head.startswith(b"#!/bin/sh") else _FIRST.match(head)
    python = os.fsdecode(first[1]) if first and b"python" in first[1] else ""
    target = _IMPORT.search(head.decode(errors="replace")) if python else None
    return Command(file, python, f"{target[1]}:{target[2]}" if target else "")

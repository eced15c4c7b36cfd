"""What one row of the table of failures is."""

from __future__ import annotations

import textwrap
from typing import NamedTuple


class Failure(NamedTuple):
    """A small program that fails, and what its signature has to say.

    `{python}` in the command stands for the interpreter. `needs` names importable modules, or
    binaries as "bin:gcc". `varies` is a regular expression for the part of the output that
    is different in every run: a test looks that it really was, else the row would prove nothing.
    """

    name: str
    files: dict[str, str]
    command: list[str]
    needs: tuple[str, ...]
    timeout: float | None
    expect: str
    min_python: tuple[int, ...]
    varies: str = ""


class Twins(NamedTuple):
    """Two rows that look alike and must differ, and why a reasonable person says so."""

    one: str
    other: str
    why: str


def text(source: str) -> str:
    """Return the program without the indentation it has in the table."""
    return textwrap.dedent(source).lstrip("\n")


def python(
    name: str,
    source: str,
    expect: str,
    *,
    files: dict[str, str] | None = None,
    args: tuple[str, ...] = ("main.py",),
    needs: tuple[str, ...] = (),
    timeout: float | None = None,
    min_python: tuple[int, ...] = (3, 9),
    varies: str = "",
) -> Failure:
    """Make the row of a Python program; `source` is its main.py, if it has one."""
    sources = {"main.py": text(source)} if source else {}
    sources.update({path: text(content) for path, content in (files or {}).items()})
    return Failure(name, sources, ["{python}", *args], needs, timeout, expect, min_python, varies)


def command(
    name: str,
    line: list[str],
    expect: str,
    *,
    files: dict[str, str] | None = None,
    needs: tuple[str, ...] = (),
    timeout: float | None = None,
    varies: str = "",
) -> Failure:
    """Make the row of any other command."""
    sources = {path: text(content) for path, content in (files or {}).items()}
    return Failure(name, sources, line, needs, timeout, expect, (3, 9), varies)

"""The same failure under other circumstances: what may change while the failure stays the same.

Variant 0 writes the files as the table has them. Variant 1 moves every line, checks out into
another folder with a space and a digit in its name, and changes the temporary folder, the home,
the hash seed and the time zone, so that dates in messages are never those of variant 0.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .table import Failure

VARIANTS = (0, 1)

# Short names, since sockets of multiprocessing live in TMPDIR and a socket's path has 107 letters.
FOLDERS = ("project", "my checkout 7/deeper/project-b")
TMPDIRS = ("t", "tmp2/x9")
HOMES = ("home", "people/user42")
HASH_SEEDS = ("1", "42")
TIME_ZONES = ("AAA12", "BBB-14")  # 26 hours apart: always another weekday

# A variable that says something of this machine's or this test's own would reach the program.
DROPPED = ("PYTHON", "ZEROIN_", "XDG_", "PYTEST_", "COV_", "GIT_", "MAKE", "MFLAGS", "VIRTUAL_ENV")

HELPER = '''
import textwrap as _wrapping


def _banner(words):
    """Put the words into a box; nobody calls this."""
    return _wrapping.indent(" ".join(words), "| ")

'''

COMMENTS = {
    ".py": "# {}",
    ".sh": "# {}",
    ".awk": "# {}",
    ".pl": "# {}",
    ".c": "/* {} */",
    "Makefile": "# {}",
}


class Staged(NamedTuple):
    """A program ready to be started."""

    command: list[str]
    cwd: str
    env: dict[str, str]


def stage(failure: Failure, folder: str, variant: int, python: str = sys.executable) -> Staged:
    """Write the failing program into `folder` and return how to start it."""
    cwd = os.path.join(folder, FOLDERS[variant])
    for path, source in failure.files.items():
        target = os.path.join(cwd, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(moved(failure.name, path, source) if variant else source)
    os.makedirs(cwd, exist_ok=True)
    if variant:
        burn_pids(zlib.crc32(failure.name.encode()) % 5 + 1)
    command = [word.replace("{python}", python) for word in failure.command]
    return Staged(command, cwd, environment(folder, variant))


def environment(folder: str, variant: int) -> dict[str, str]:
    """Return the variables of the variant, with none that would hide or change a failure."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(DROPPED) and not name.lower().endswith("_proxy")
    }
    for name, choices in (("TMPDIR", TMPDIRS), ("HOME", HOMES)):
        env[name] = os.path.join(folder, choices[variant])
        os.makedirs(env[name], exist_ok=True)
    env["PYTHONHASHSEED"] = HASH_SEEDS[variant]
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["TZ"] = TIME_ZONES[variant]
    env["LC_ALL"] = "C.UTF-8"
    # Nothing above the stage may be taken for the program's repository.
    env["GIT_CEILING_DIRECTORIES"] = folder
    return env


def moved(name: str, path: str, source: str) -> str:
    """Return the file with its lines moved, by another number of lines for every file."""
    comment = COMMENTS.get(os.path.basename(path)) or COMMENTS.get(os.path.splitext(path)[1])
    if comment is None:  # data: where it is wrong is part of the failure
        return source
    count = zlib.crc32(f"{name}/{path}".encode()) % 9 + 1
    added = "".join(comment.format(f"a remark, number {n}") + "\n" for n in range(count))
    if not path.endswith(".py"):
        return added + source
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return added + source
    lines = source.splitlines(keepends=True)
    begin = preamble_end(body)
    return "".join([*lines[:begin], added, HELPER, *lines[begin:]])


def preamble_end(body: list[ast.stmt]) -> int:
    """Return the last line of the docstring and the `from __future__` imports."""
    end = 0
    for place, node in enumerate(body):
        docstring = (
            place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not docstring and not future:
            break
        end = node.end_lineno or end
    return end


def burn_pids(count: int) -> None:
    """Start and end a few processes, so that the numbers of the next ones move on."""
    for _ in range(count):
        subprocess.run(["true"], check=True)

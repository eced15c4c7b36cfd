"""The standard library's own test files, run as scripts of the user's: what each test says.

The file is copied to a folder, so that it counts as the user's own, and run by `python FILE -v`, or
by `python -m unittest` if it does something else as a script.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import stepped

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 200  # seconds that a file may take, on a loaded machine

_LIST = [
    word
    for line in (stepped.HERE / "stdlib.txt").read_text().splitlines()
    if not line.startswith("#")
    for word in line.split()
]
FILES = [word.removesuffix("*") for word in _LIST]
QUICK = [word.removesuffix("*") for word in _LIST if word.endswith("*")]

_OUTCOME = re.compile(
    r"^(\w+) \(([\w.<>]+)\)(?:\n[^\n]*?)?? \.\.\. "
    r"(?:[^\n]*?)(ok|FAIL|ERROR|expected failure|unexpected success|skipped [^\n]*)$",
    re.MULTILINE,
)
_HEADING = re.compile(r"^((?:FAIL|ERROR): .*)$", re.MULTILINE)
_TOTAL = re.compile(r"^(Ran \d+ tests?) in", re.MULTILINE)
_VARIES = re.compile(r"0x[0-9a-f]+|\d+\.\d+s")


@functools.cache
def library(python: str) -> str:
    """Give the folder of an interpreter's own tests, "" if it came without."""
    ask = "import test, os; print(os.path.dirname(test.__file__))"
    done = subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=False)
    found = done.stdout.strip()
    return found if os.path.exists(os.path.join(found, "test_grammar.py")) else ""


def files(python: str, names: list[str]) -> list[str]:
    """Give the paths of the named test files, or folders, that this Python has."""
    stems = [os.path.join(library(python), f"test_{name}") for name in names]
    paths = [path for stem in stems for path in (f"{stem}.py", stem)]
    return [path for path in paths if os.path.exists(path)]


def outcomes(result: stepped.Result) -> dict[str, str]:
    """Read what each test said, and how it ended."""
    text = _VARIES.sub("~", result.err.decode("utf-8", "replace"))
    found = {f"{where}.{name}": said for name, where, said in _OUTCOME.findall(text)}
    found.update(dict.fromkeys(_HEADING.findall(text), "listed"))
    found["total"] = " ".join(_TOTAL.findall(text))
    found["exit code"] = str(result.code)
    return found


def run(path: str, python: str, base: Path, *, is_stepped: bool) -> stepped.Result:
    """Run a test file as a script, in a folder of its own."""
    name = os.path.basename(path)
    folder = base / name.removesuffix(".py")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "private").mkdir(parents=True)
    if os.path.isdir(path):
        shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(path, folder / name)
    words = [name, "-v"] if _is_script(path) else ["-m", "unittest", "-v", name.removesuffix(".py")]
    env = stepped.environment(folder / "private", stepped=is_stepped)
    command = [python, "-W", "ignore", *words]
    return stepped.execute(command, cwd=folder, env=env, patience=PATIENCE)


def _is_script(path: str) -> bool:
    """Tell whether a file runs its tests when it is run."""
    if os.path.isdir(path):
        return False
    with open(path, encoding="utf-8") as file:
        return re.search(r"^    unittest\.main\(\)", file.read(), re.MULTILINE) is not None


def compare(path: str, python: str, base: Path) -> dict[str, tuple[str, str]]:
    """Give the tests that say something else when they are stepped: (plain, stepped) of each."""
    plain = outcomes(run(path, python, base, is_stepped=False))
    told = outcomes(run(path, python, base, is_stepped=True))
    differ = _differing(plain, told)
    if differ:  # a test that differs from itself tells nothing
        again = outcomes(run(path, python, base, is_stepped=False))
        differ = {k: v for k, v in differ.items() if k not in _differing(plain, again)}
    return differ


def _differing(one: dict[str, str], two: dict[str, str]) -> dict[str, tuple[str, str]]:
    keys = sorted(one.keys() | two.keys())
    both = {key: (one.get(key, "-"), two.get(key, "-")) for key in keys}
    return {key: pair for key, pair in both.items() if pair[0] != pair[1]}

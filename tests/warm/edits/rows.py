r"""The table: small projects, each with one or more edits.

A file `table/<kind>.txt` has the rows of one kind:

    === a constant that was used
    : expect: resumed
    --- train.py
    import helper
    0|LIMIT = 1
    1|LIMIT = 2
    --- notes.txt @1
    only there after the edit

Lines stand in all versions of a file, unless they begin with the numbers of those that have
them: 0 is the project before, 1 after the edit, 2 after the next. `@…` says which versions have
the file at all. Settings of a row:

    : expect: resumed      it must go on from a snapshot; `resumed at TEXT`: not from before the
                           line that has this text after the edit; ` | TEXT`: or
                           from a line that has this one
    : run: -m pkg x        words after `python`; `train.py` without
    : cwd: below           folder that it is started in
    : stdin: one\ntwo\n    a file that it reads as its stdin
    : env: NAME=value
    : save: rename         how files are saved: `rename`, `touch`, `again` (the same content)
    : unnoticed            the edit is nobody's business: it is run by hand
    : needs: 3.10          the oldest Python for it; `until: 3.11` is the newest
    : mask: 0x[0-9a-f]+    masked in all outputs; nothing else is
    : pace: real           snapshots at the pace users have, `often`, or `rare`: each 0.3 seconds;
                           otherwise at every point
    : world: first         compared with a cold run before which there was no other: a file that
                           an earlier run has added to is put back to its length
    : broken: 1            versions that do not parse, and are not compared
    : strict
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "table"
_SETTING = re.compile(r": ([a-z]+)(?:: (.*))?")
_FILE = re.compile(r"--- (\S+)(?: @(\d+))?")
_LINE = re.compile(r"(\d+)\|(.*)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Row:
    """A project and its edits."""

    kind: str
    name: str
    settings: dict[str, str]
    versions: list[dict[str, str]]  # file → text, of each

    def get(self, setting: str, default: str = "") -> str:
        """A setting, or what holds without."""
        return self.settings.get(setting, default)

    def is_for(self, version: tuple[int, ...]) -> bool:
        """Whether a Python can run it."""
        oldest, newest = self.get("needs", "3.9"), self.get("until", "3.99")
        return _numbers(oldest) <= version <= _numbers(newest)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def read(folder: Path = TABLE) -> dict[str, list[Row]]:
    """All rows by their kinds."""
    found = {}
    for path in sorted(folder.glob("*.txt")):
        kind = path.stem
        parts = re.split(r"^=== (.*)\n", path.read_text(), flags=re.MULTILINE)
        found[kind] = [_row(kind, *pair) for pair in zip(parts[1::2], parts[2::2], strict=True)]
        names = [row.name for row in found[kind]]
        assert len(set(names)) == len(names), f"{kind} has a name twice"
    return found


def _row(kind: str, name: str, text: str) -> Row:
    settings: dict[str, str] = {}
    files: dict[str, tuple[str, list[str]]] = {}
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("--- "):
            path, has = _FILE.fullmatch(line.rstrip("\n")).groups()
            lines = []
            files[path] = has or "", lines
        elif files:
            lines.append(line)
        elif line.strip():
            key, value = _SETTING.fullmatch(line.rstrip("\n")).groups()
            settings[key] = value or "yes"
    count = 1 + max(
        [int(digit) for has, own in files.values() for digit in has + _digits(own)], default=0
    )
    versions = [
        {
            path: _version(own, str(number))
            for path, (has, own) in files.items()
            if not has or str(number) in has
        }
        for number in range(count)
    ]
    return Row(kind, name, settings, versions)


def _digits(lines: list[str]) -> str:
    return "".join(match[1] for line in lines if (match := _LINE.fullmatch(line)))


def _version(lines: list[str], number: str) -> str:
    kept = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            kept.append(line)
        elif number in match[1]:
            kept.append(match[2])
    return "".join(kept).rstrip("\n") + "\n"

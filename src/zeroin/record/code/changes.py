"""What differs between two snapshots, file by file, as git's `diff-tree` tells it."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.record.code.git import names_in


class Change(NamedTuple):
    """One file that differs between two trees; line counts are None for binary files.

    `kind` is A (added), M (modified, also in mode or type), D (deleted), R (renamed from `was`).
    Bytes of a name that aren't UTF-8 are surrogates, as everywhere in `os`.
    """

    path: str
    added: int | None
    removed: int | None
    kind: str
    was: str | None = None


def parse_changes(output: bytes) -> list[Change]:
    """Read `--raw --numstat -z`: first what happened to each path, then the lines it took."""
    fields = iter(names_in(output))
    kinds: dict[str, tuple[str, str | None]] = {}
    changes = []
    for field in fields:
        if field.startswith(":"):
            kind, path = field.rsplit(" ", 1)[1][0], next(fields)
            was = path if kind == "R" else None
            kinds[next(fields) if was else path] = ("M" if kind == "T" else kind, was)
            continue
        added, removed, path = field.split("\t", 2)
        if not path:  # a rename: the old name, then the new one
            path = (next(fields), next(fields))[1]
        kind, was = kinds[path]
        binary = added == "-"
        plus, minus = (None, None) if binary else (int(added), int(removed))
        changes.append(Change(path, plus, minus, kind, was))
    return sorted(changes)

"""Settings that come with a project's files: some of them need the user's consent, given once.

Whoever writes a project's files may say what of it is worth keeping. How much of the user's disk
the record takes, and when old attempts are deleted, is the user's to say; `zeroin trust` keeps the
consent to the values as they are. Nothing outside of the project can be named at all.
"""

from __future__ import annotations

import os

from zeroin.digest import digest
from zeroin.named import NamedTuple
from zeroin.record import trust
from zeroin.record.place import own_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

LIMITS = frozenset(("code_max_file", "output_max", "store_max", "cache_max"))


class AskedSetting(NamedTuple):
    """A setting of a project's file that needs consent."""

    source: str  # the file
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name} = {self.value} ({os.path.basename(self.source)})"


def withhold_settings(
    layers: Sequence[tuple[str, dict[str, Any]]],
    root: str,
    environ: Mapping[str, str],
    warn: Callable[[str], object],
) -> list[tuple[str, dict[str, Any]]]:
    """The settings of a project's files without those that nobody has agreed to."""
    asked = list_asked(layers)
    if asked and not has_agreed(asked, root, environ):
        told = ", ".join(map(str, asked))
        warn(f"not heeded, since it came with the project: {told} (to agree: zeroin trust)")
        layers = [
            (path, {key: value for key, value in values.items() if not _is_limit(key)})
            for path, values in layers
        ]
    return [(path, _without_outside(path, values, warn)) for path, values in layers]


def list_asked(layers: Sequence[tuple[str, dict[str, Any]]]) -> list[AskedSetting]:
    """All settings of a project's files that need consent."""
    return [
        AskedSetting(path, key.replace("-", "_"), _spell(value))
        for path, values in layers
        for key, value in values.items()
        if _is_limit(key)
    ]


def has_agreed(asked: Sequence[AskedSetting], root: str, environ: Mapping[str, str]) -> bool:
    """Whether the user has agreed to just these values."""
    agreed = trust.read_agreement(os.path.realpath(root), own_state(environ))
    return agreed.settings == name_asked(asked)


def name_asked(asked: Sequence[AskedSetting]) -> str:
    """A name for these settings with their values."""
    return digest("\n".join(sorted(map(str, asked))), 12) if asked else ""


def _spell(value: object) -> str:
    """A value as Python writes it; some numbers are so long that it refuses to."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} that is too long"


def _is_limit(key: str) -> bool:
    return key.replace("-", "_") in LIMITS


def _without_outside(
    path: str, values: dict[str, Any], warn: Callable[[str], object]
) -> dict[str, Any]:
    """Patterns of files to keep can only name what lies in the project."""
    patterns = values.get("include")
    listed = patterns.split(",") if isinstance(patterns, str) else patterns
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        return values  # not there, or it can't be meant, which is said where it is read
    outside = [one for one in listed if one.startswith(("/", "~")) or ".." in one.split("/")]
    if outside:
        told = ", ".join(map(repr, outside))
        warn(f"{path}: include names what is not in the project: {told} (it is not kept)")
    return {**values, "include": [one for one in listed if one not in outside]}

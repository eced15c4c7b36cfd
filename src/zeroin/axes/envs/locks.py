"""Lists of packages and versions: requirements, pip freeze, uv.lock, poetry.lock and their kin."""

from __future__ import annotations

import json
import os
import re
import tomllib

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_COMMENT = re.compile(r"(^|\s)#.*$")
_HASH = re.compile(r"\s--(hash|config-settings?|global-option)[= ]\S+")
_PIP = re.compile(r"^(\s*)-\s*pip:\s*$")
_ITEM = re.compile(r"^(\s*)-\s*(.+?)\s*$")
_OWN = ("virtual", "editable", "directory")  # where the project itself comes from
DEEPEST = 10


class Listed(NamedTuple):
    """A package as a list has it."""

    version: str
    source: str = ""  # an address, if it does not come from the index


class Lock(NamedTuple):
    """What a file lists."""

    packages: dict[str, Listed]
    notes: tuple[str, ...] = ()  # what was left out


def read(path: str, markers: Mapping[str, str]) -> Lock:
    """All packages that a file pins for an interpreter."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        raise UsageError(
            f"{path}: {why}", hint="a lock file, an environment, or attempt:N"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: this is no text, so no lock file") from None
    name = os.path.basename(path)
    try:
        found = _parsed(name, text, path, markers)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        raise UsageError(f"{path}: can't be read: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: not as such a file should be: {error!r}") from None
    if not found.packages:
        raise UsageError(f"{path}: there are no packages in it")
    return found


def _parsed(name: str, text: str, path: str, markers: Mapping[str, str]) -> Lock:
    if name.endswith((".yml", ".yaml")):
        return _conda(text, path, markers)
    if name.startswith("Pipfile") or text.lstrip().startswith("{"):
        return _pipfile(json.loads(text), markers)
    if name.endswith((".lock", ".toml")) and "[[package" in text:
        return _toml(tomllib.loads(text), markers)
    return Lock(*_requirements(text.splitlines(), path, markers, DEEPEST))


# --- lines --------------------------------------------------------------------------------------


def _requirements(
    lines: list[str], path: str, markers: Mapping[str, str], depth: int
) -> tuple[dict[str, Listed], tuple[str, ...]]:
    found: dict[str, Listed] = {}
    notes: list[str] = []
    for number, line in _joined(lines):
        text = _HASH.sub("", f" {_COMMENT.sub('', line)}").strip()
        if text.startswith(("-r ", "--requirement ")) and depth:
            other = os.path.join(os.path.dirname(path), text.split(None, 1)[1])
            inner = read(other, markers)
            found |= inner.packages
            notes += inner.notes
        elif text.startswith(("-e ", "--editable ")):
            notes.append(f"an editable package is left as it is: {text.split(None, 1)[1]}")
        elif text and not text.startswith("-"):
            _take(text, f"{path}:{number}", markers, found)
    return found, tuple(notes)


def _joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines that go on behind a backslash are one."""
    begun, start = "", 0
    for number, line in enumerate(lines, 1):
        start = start if begun else number
        if line.rstrip().endswith("\\"):
            begun += line.rstrip()[:-1] + " "
            continue
        yield start, begun + line
        begun = ""
    if begun:
        yield start, begun


def _take(text: str, where: str, markers: Mapping[str, str], found: dict[str, Listed]) -> None:
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        raise UsageError(
            f"{where}: no pinned package: {text}", hint="each line is a NAME==VERSION"
        ) from None
    if wanted.marker is not None and not wanted.marker.evaluate(dict(markers)):
        return
    name = canonicalize_name(wanted.name)
    if wanted.url:
        found[name] = Listed("0", wanted.url)
        return
    pins = [one for one in wanted.specifier if one.operator in ("==", "===")]
    if len(wanted.specifier) != 1 or not pins or pins[0].version.endswith("*"):
        raise UsageError(
            f"{where}: {wanted.name} is not pinned: {text}",
            hint="write what is installed with pip freeze, or lock with uv pip compile",
        )
    found[name] = Listed(pins[0].version)


def _conda(text: str, path: str, markers: Mapping[str, str]) -> Lock:
    """What pip installs of it: the lines below `- pip:`."""
    lines: list[str] = []
    others, deep = 0, -1
    for line in text.splitlines():
        start = _PIP.match(line)
        item = _ITEM.match(line)
        if start:
            deep = len(start[1])
        elif item and deep >= 0 and len(item[1]) > deep:
            lines.append(item[2].strip("'\""))
        elif item:
            others += 1
    found, notes = _requirements(lines, path, markers, DEEPEST)
    what = f"{others} lines that are" if others > 1 else "1 line that is"
    more = f"left out: {what} not for pip, such as channels and conda's packages"
    return Lock(found, (*notes, *([more] if others else [])))


# --- structured files ---------------------------------------------------------------------------


def _pipfile(told: Mapping[str, Any], markers: Mapping[str, str]) -> Lock:
    found: dict[str, Listed] = {}
    for section in ("default", "develop"):
        for name, one in told.get(section, {}).items():
            if _holds(one.get("markers"), markers) and str(one.get("version", "")).startswith("=="):
                found[canonicalize_name(name)] = Listed(one["version"].lstrip("="))
    return Lock(found)


def _toml(told: Mapping[str, Any], markers: Mapping[str, str]) -> Lock:
    """uv.lock, poetry.lock, pylock.toml: for all platforms, so what is not for ours is left out."""
    entries = told.get("package") or told.get("packages") or []
    own = [one for one in entries if _is_own(one)]
    if own:
        entries = list(_reachable(entries, own, markers))
    found: dict[str, Listed] = {}
    for one in entries:
        held = one.get("resolution-markers")
        if held is not None and not any(_holds(text, markers) for text in held):
            continue
        if "version" in one and _holds(_own_marker(one), markers) and not _is_own(one):
            found[canonicalize_name(one["name"])] = Listed(str(one["version"]), _source(one))
    return Lock(found)


def _is_own(one: Mapping[str, Any]) -> bool:
    source = one.get("source")
    return isinstance(source, dict) and any(kind in source for kind in _OWN)


def _own_marker(one: Mapping[str, Any]) -> str | None:
    told = one.get("marker") or one.get("markers")
    if isinstance(told, dict):  # poetry: by group
        told = " or ".join(f"({text})" for text in told.values())
    return str(told) if told else None


def _source(one: Mapping[str, Any]) -> str:
    source = one.get("source") or {}
    if "git" in source:
        return f"git+{str(source['git']).replace('#', '@').split('?')[0]}"
    if source.get("type") == "git":
        return f"git+{source['url']}@{source.get('resolved_reference', 'HEAD')}"
    if source.get("type") == "url" or set(source) == {"url"}:
        return str(source["url"])
    return ""


def _reachable(
    entries: list[Mapping[str, Any]], own: list[Mapping[str, Any]], markers: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """What the project needs here, with all its groups and extras."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for one in entries:
        by_name.setdefault(one["name"], []).append(one)
    seen: set[tuple[str, str]] = set()
    left = list(own)
    while left:
        one = left.pop()
        key = (one["name"], str(one.get("version", "")))
        if key in seen:
            continue
        seen.add(key)
        yield one
        lists = [one.get("dependencies", [])]
        for more in ("optional-dependencies", "dev-dependencies"):
            lists += one.get(more, {}).values()
        for need in (need for needs in lists for need in needs):
            if _holds(need.get("marker"), markers):
                wanted = need.get("version")
                left += [
                    other
                    for other in by_name.get(need["name"], ())
                    if wanted is None or other.get("version") == wanted
                ]


def _holds(text: str | None, markers: Mapping[str, str]) -> bool:
    if not text:
        return True
    try:
        return Marker(text).evaluate({"extra": "", **markers})
    except InvalidMarker:
        return True

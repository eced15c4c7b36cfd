"""What is installed in a folder, read from what installers leave there: no pip, no imports."""

from __future__ import annotations

import csv
import functools
import json
import os

from zeroin.named import NamedTuple
from zeroin.run.uv import normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INFO = (".dist-info", ".egg-info")
# Names at the top of many distributions, which say nothing about whose they are.
_COMMON = frozenset(("benchmarks", "bin", "docs", "examples", "scripts", "test", "tests"))


class Dist(NamedTuple):
    """One installed distribution."""

    name: str  # in its one spelling
    version: str
    site: str  # the folder that it is in
    info: str  # the name of its own one in there

    def read(self, name: str) -> str:
        """A file of its own folder; "" if there is none."""
        path = os.path.join(self.site, self.info, name)
        if os.path.isfile(os.path.join(self.site, self.info)) and name in ("METADATA", "PKG-INFO"):
            path = os.path.join(self.site, self.info)  # as Debian has some
        try:
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                return file.read()
        except OSError:
            return ""

    def files(self) -> tuple[str, ...]:
        """All of them, as paths from the folder that it is in."""
        return _files(self)

    def modules(self) -> list[str]:
        """The names by which it is imported."""
        names = set()
        for path in self.files():
            top, _, rest = path.partition("/")
            if not rest and top.endswith((".py", ".so")):
                names.add(top.partition(".")[0])
            elif top.isidentifier() and rest.endswith((".py", ".so")):
                names.add(top)
        return sorted(names - _COMMON)

    def headers(self, wanted: str) -> list[str]:
        """What its metadata say under a name, such as `Requires-Dist`."""
        found = []
        for line in (self.read("METADATA") or self.read("PKG-INFO")).splitlines():
            if not line.strip():
                break  # the description follows
            name, _, value = line.partition(":")
            if name.lower() == wanted.lower():
                found.append(value.strip())
        return found

    @property
    def is_local(self) -> bool:
        """Whether it came from a folder, a file or a repository, and not from an index."""
        try:
            told = json.loads(self.read("direct_url.json") or "{}")
        except ValueError:
            return True
        return bool(told) or any(path.endswith(".egg-link") for path in self.files())


def installed(folders: Sequence[str]) -> dict[str, Dist]:
    """By name; the first folder wins, as it does for imports."""
    found: dict[str, Dist] = {}
    for folder in folders:
        for one in _in(folder):
            found.setdefault(one.name, one)
    return found


@functools.cache
def installed_once(folder: str) -> dict[str, Dist]:
    """Of a folder that nobody changes while we are at it."""
    return installed([folder])


def _in(folder: str) -> Iterator[Dist]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for info in names:
        stem, end = os.path.splitext(info)
        name, _, version = stem.partition("-")
        if end not in INFO or name.startswith("~") or not name:
            continue
        dist = Dist(normal(name), version.partition("-py")[0], folder, info)
        if not version or "_" in version:  # the name of the folder does not tell it exactly
            told = dist.headers("Version")
            if not told:
                continue
            dist = dist._replace(version=told[0])
        yield dist


@functools.lru_cache(4096)
def _files(dist: Dist) -> tuple[str, ...]:
    record = dist.read("RECORD")
    if record:
        return tuple(row[0] for row in csv.reader(record.splitlines()) if row)
    lines = dist.read("installed-files.txt").splitlines()  # from its own folder
    found = [os.path.normpath(os.path.join(dist.info, line.strip())) for line in lines]
    if not found:
        tops = dist.read("top_level.txt").split() or _called_like(dist)  # as Debian has many
        found = [path for top in tops for path in _walked(dist.site, top)]
    own = os.path.join(dist.site, dist.info)
    if os.path.isdir(own):
        found += [f"{dist.info}/{name}" for name in os.listdir(own)]
    return tuple(found)


def _called_like(dist: Dist) -> list[str]:
    """What is beside it under its own name."""
    stems = {name.removesuffix(".py") for name in os.listdir(dist.site)}
    return [stem for stem in stems if stem.isidentifier() and normal(stem) == dist.name]


def _walked(site: str, top: str) -> Iterator[str]:
    """A module or a package of which there is no list."""
    if os.path.isfile(os.path.join(site, f"{top}.py")):
        yield f"{top}.py"
    for folder, _, names in os.walk(os.path.join(site, top)):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), site)

"""Which distribution a file belongs to, and whether it is installed as editable.

Only the metadata beside the file are read, the likeliest first: asking for the packages of all
distributions takes a fifth of a second.
"""

from __future__ import annotations

import json
import os
import re
from urllib.parse import unquote, urlsplit

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SITES = ("site-packages", "dist-packages")


class Dist(NamedTuple):
    """An installed distribution."""

    name: str
    version: str
    editable: bool = False
    source: str = ""  # the folder it was installed from, if it is on this machine
    by: str = ""  # what makes it editable: direct_url.json, a .pth, an egg-link


def is_site(folder: str) -> bool:
    """Whether packages are installed there."""
    return os.path.basename(folder) in SITES


def site_of(file: str) -> str:
    """The folder of packages that a file lies in, or ""."""
    for name in SITES:
        head, found, _ = file.rpartition(f"{os.sep}{name}{os.sep}")
        if found:
            return f"{head}{os.sep}{name}"
    return ""


def owner(file: str, sites: Iterable[str]) -> Dist | None:
    """The distribution that a file is of; `sites` are the folders of packages on the path."""
    site = site_of(file)
    if site:
        return _installed(site, os.path.relpath(file, site))
    for one in sites:
        found = _editable(one, file)
        if found is not None:
            return found
    return None


def named(name: str, sites: Iterable[str]) -> tuple[Dist, list[str]] | None:
    """A distribution by its own name, and the modules it brings: `scikit-learn`, `sklearn`."""
    wanted = _normal(name)
    for site in sites:
        for folder in _metadata(site):
            if _normal(os.path.basename(folder).split("-")[0]) == wanted:
                return _read(folder), sorted(_tops(folder))
    return None


# --- installed ---------------------------------------------------------------------------------


def _installed(site: str, below: str) -> Dist | None:
    top = _normal(below.split(os.sep, maxsplit=1)[0].split(".", maxsplit=1)[0])
    folders = list(_metadata(site))
    likely = [one for one in folders if _normal(os.path.basename(one).split("-")[0]) == top]
    for folder in [*likely, *folders]:
        if _has(folder, below):
            return _read(folder)
    return None


def _has(folder: str, below: str) -> bool:
    record = _text(os.path.join(folder, "RECORD"))
    if record:
        return f"\n{below}," in "\n" + record or f'\n"{below}",' in "\n" + record
    listed = _text(os.path.join(folder, "installed-files.txt"))
    top = below.split(os.sep, maxsplit=1)[0].removesuffix(".py")
    return below in listed or top in _text(os.path.join(folder, "top_level.txt")).split()


def _tops(folder: str) -> set[str]:
    tops = set(_text(os.path.join(folder, "top_level.txt")).split())
    if tops:
        return tops
    rows = _text(os.path.join(folder, "RECORD")).splitlines()
    files = [row.split(",")[0] for row in rows]
    modules = [one.split("/")[0].removesuffix(".py") for one in files if one.endswith(".py")]
    return {one for one in modules if one.isidentifier()}


def _metadata(site: str) -> Iterator[str]:
    for name in sorted(_names(site)):
        if name.endswith((".dist-info", ".egg-info")):
            yield os.path.join(site, name)


def _read(folder: str) -> Dist:
    """Name and version; what was installed from a folder says so in direct_url.json."""
    text = ""
    for path in ("METADATA", "PKG-INFO", "."):
        text = text or _text(os.path.normpath(os.path.join(folder, path)))
    name = _field(text, "Name") or os.path.basename(folder).split("-")[0]
    source, editable = _direct(folder)
    by = "direct_url.json" if editable else ""
    return Dist(name, _field(text, "Version"), editable, source, by)


def _field(text: str, name: str) -> str:
    found = re.search(rf"^{name}: *(.+)$", text.partition("\n\n")[0], re.MULTILINE)
    return found[1].strip() if found else ""


def _direct(folder: str) -> tuple[str, bool]:
    try:
        told = json.loads(_text(os.path.join(folder, "direct_url.json")) or "{}")
        url, about = urlsplit(told.get("url", "")), told.get("dir_info")
    except (ValueError, AttributeError):
        return "", False
    if url.scheme != "file" or about is None:
        return "", False
    return unquote(url.path), bool(about.get("editable"))


# --- editable ----------------------------------------------------------------------------------


def _editable(site: str, file: str) -> Dist | None:
    for folder in _metadata(site):
        source, editable = _direct(folder)
        if editable and _below(file, source):
            return _read(folder)
    for name in sorted(_names(site)):
        path = os.path.join(site, name)
        if name.endswith(".egg-link"):
            source = (_text(path).splitlines() or [""])[0].strip()
            if source and _below(file, source):
                return _of_link(name.removesuffix(".egg-link"), source)
        elif name.endswith(".pth"):
            lines = [line.strip() for line in _text(path).splitlines()]
            if any(os.path.isabs(line) and _below(file, line) for line in lines):
                return _of_pth(site, name)
    return None


def _of_link(name: str, source: str) -> Dist:
    """As `setup.py develop` left it: the metadata lie in the sources."""
    for one in _names(source):
        if one.endswith(".egg-info"):
            found = _read(os.path.join(source, one))
            return found._replace(editable=True, source=source, by="egg-link")
    return Dist(name, "", editable=True, source=source, by="egg-link")


def _of_pth(site: str, pth: str) -> Dist:
    """A path file's name has the distribution's in it, for most builders."""
    name = pth.removesuffix(".pth").removeprefix("__editable__").lstrip("._").split("-")[0]
    found = named(name, [site])
    if found is None:
        return Dist("", "", editable=True, by=pth)
    return found[0]._replace(editable=True, by=pth)


def maps(top: str, sites: Iterable[str]) -> bool:
    """Whether a finder of an editable install leads to a module of that name."""
    for site in sites:
        for name in _names(site):
            if name.endswith(".py") and "editable" in name:
                text = _text(os.path.join(site, name))
                if f"'{top}'" in text or f'"{top}"' in text:
                    return True
    return False


def _below(file: str, folder: str) -> bool:
    real = os.path.join(os.path.realpath(folder), "")
    return os.path.realpath(file).startswith(real)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # not there, or closed to us
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""

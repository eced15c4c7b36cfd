"""Releases in the order of their versions: old branches get patches late, so dates don't tell."""

from __future__ import annotations

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zeroin.axes.versions.pages import File

_NEAR = 3  # versions that are named where one does not exist


class Release(NamedTuple):
    """One version, of which there is something to install."""

    version: Version
    date: str = ""
    yanked: bool = False
    why_yanked: str = ""
    requires_python: tuple[str, ...] = ()  # of its files; "" where one does not say

    @property
    def name(self) -> str:
        """The version in its one spelling."""
        return str(self.version)

    def unfit(self, python: str) -> str:
        """Why this Python can't have it; "" if it can.

        What is said about newer Pythons is only a guess, and uv does not care for it either.
        """
        for wanted in self.requires_python:
            if not wanted or _lowest(wanted).contains(python, prereleases=True):
                return ""
        return f"needs Python {self.requires_python[0]}" if self.requires_python else ""


def _lowest(wanted: str) -> SpecifierSet:
    try:
        every = SpecifierSet(wanted)
    except InvalidSpecifier:
        return SpecifierSet()
    return SpecifierSet(",".join(str(one) for one in every if one.operator not in ("<", "<=")))


def releases(name: str, files: Iterable[File]) -> list[Release]:
    """Of the files of a package, oldest version first."""
    wanted = canonicalize_name(name)
    by_version: dict[Version, list[File]] = {}
    for file in files:
        version = _version(wanted, file.name)
        if version is not None:
            by_version.setdefault(version, []).append(file)
    found = []
    for version, own in sorted(by_version.items()):
        yanked = all(one.yanked for one in own)
        why = next((one.why_yanked for one in own if one.why_yanked), "") if yanked else ""
        dates = [one.date for one in own if one.date]
        pythons = tuple(dict.fromkeys(one.requires_python for one in own))
        found.append(Release(version, min(dates, default=""), yanked, why, pythons))
    return found


def _version(wanted: str, file: str) -> Version | None:
    """What a file's name says; None for what nobody installs from any more."""
    try:
        if file.endswith(".whl"):
            name, version, _, _ = parse_wheel_filename(file)
        else:
            name, version = parse_sdist_filename(file)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return version if name == wanted else None


def find(known: Sequence[Release], text: str, package: str) -> Release:
    """The one that the user means."""
    try:
        wanted = Version(text.removeprefix("==").removeprefix(f"{package}=="))
    except InvalidVersion:
        raise UsageError(f"{text}: no version", hint="a version is what pip shows: 2.1.0") from None
    found = next((one for one in known if one.version == wanted), None)
    if found is not None:
        return found
    before = [one.name for one in known if one.version < wanted][-_NEAR:]
    behind = [one.name for one in known if one.version > wanted][:_NEAR]
    names = ", ".join([*before, *behind])
    raise UsageError(f"there is no release {text} of {package}", hint=f"near it: {names}")


def between(known: Sequence[Release], good: Release, bad: Release) -> list[Release]:
    """From one to the other, both included; between them no pre-releases."""
    if good.version == bad.version:
        raise UsageError("good and bad are the same release")
    if bad.version < good.version:
        raise UsageError(
            f"the bad release {bad.name} is older than the good one, {good.name}",
            hint="swap them; to find what repaired it, give the older one as --good, with --fixed",
        )
    inner = [
        one
        for one in known
        if good.version < one.version < bad.version and not one.version.is_prerelease
    ]
    return [good, *inner, bad]


def early(known: Sequence[Release], good: str, bad: str) -> list[Release]:
    """Pre-releases between two releases."""
    first, last = Version(good), Version(bad)
    return [one for one in known if first < one.version < last and one.version.is_prerelease]


def older(known: Sequence[Release], bad: Release) -> list[Release]:
    """Those before the bad one, the newest first."""
    return [
        one
        for one in reversed(known)
        if one.version < bad.version and not one.version.is_prerelease
    ]

"""Which changes between two environments can be put back only together, by what packages ask for.

Putting a package back needs another one put back if its old version and the other's new version
don't go together, whichever of the two says so.
"""

from __future__ import annotations

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.specifiers import SpecifierSet


class Change(NamedTuple):
    """One package in two environments."""

    name: str
    old: str  # "" if it was not there
    new: str  # "" if it is not there any more

    def __str__(self) -> str:
        return f"{self.name} {self.old or '(none)'} → {self.new or '(none)'}"


Asked = list[tuple[str, "SpecifierSet"]]


def asked(lines: Sequence[str], markers: Mapping[str, str]) -> Asked:
    """What `Requires-Dist` lines ask for here, without extras."""
    found: Asked = []
    for line in lines:
        try:
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": "", **markers}):
                found.append((canonicalize_name(wanted.name), wanted.specifier))
        except (InvalidRequirement, UndefinedEnvironmentName, InvalidVersion):
            continue  # who can't be read asks for nothing
    return found


def implied(
    changes: Sequence[Change], old: Mapping[str, Asked], new: Mapping[str, Asked]
) -> Iterator[tuple[int, int]]:
    """Pairs of changes: the first one is put back only with the second."""
    at = {change.name: number for number, change in enumerate(changes)}
    for number, change in enumerate(changes):
        for name, wanted in old.get(change.name, ()) if change.old else ():
            other = at.get(name)
            if other is not None and _only(wanted, changes[other].old, changes[other].new):
                yield number, other
        for name, wanted in new.get(change.name, ()) if change.new else ():
            other = at.get(name)
            if other is not None and _only(wanted, changes[other].new, changes[other].old):
                yield other, number


def ranks(changes: Sequence[Change], *asking: Mapping[str, Asked]) -> list[int]:
    """How deep below each one its needs go: what needs nothing is put back first."""
    needs: dict[str, set[str]] = {}
    for one in asking:
        for name, wanted in one.items():
            needs.setdefault(name, set()).update(other for other, _ in wanted)
    deep: dict[str, int] = {}

    def depth(name: str, above: frozenset[str]) -> int:
        if name not in deep:
            inner = [depth(one, above | {name}) for one in needs.get(name, ()) if one not in above]
            deep[name] = 1 + max(inner, default=0)
        return deep[name]

    return [depth(change.name, frozenset([change.name])) for change in changes]


def _only(wanted: SpecifierSet, one: str, other: str) -> bool:
    """Whether it takes the one and not the other."""
    return _fits(wanted, one) and not _fits(wanted, other)


def _fits(wanted: SpecifierSet, version: str) -> bool:
    if not version:
        return False
    try:
        return wanted.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True

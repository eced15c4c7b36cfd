"""Several payloads as one: the files of a folder or of an archive, or all that a command is given.

First whole folders go, then files; then what is in the files gets smaller, in all of them at once:
a round of the group is a round of each of its members, side by side.
"""

from __future__ import annotations

import dataclasses
import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zeroin.axes.payload.kinds import Payload, Ranges, Round


SMALL = 4 << 20  # bytes that are looked through for words


@dataclasses.dataclass(frozen=True)
class Member:
    """One of them."""

    name: str  # a path, with / between its parts
    payload: Payload
    goes: bool = True  # can be left out


@dataclasses.dataclass(frozen=True)
class Group:
    """All of them, in order."""

    members: tuple[Member, ...]
    noun: str = "file"

    def is_valid(self) -> bool:
        """Whether all of them are."""
        return all(one.payload.is_valid() for one in self.members)

    @property
    def size(self) -> int:
        """How many bytes all of them have."""
        return sum(one.payload.size for one in self.members)

    def pieces(self) -> Iterator[bytes]:
        """All contents, one after the other."""
        for one in self.members:
            yield from one.payload.pieces()

    def identity(self) -> Iterator[bytes]:
        """Names and contents."""
        for one in self.members:
            yield f"\0{one.name}\0".encode(errors="surrogateescape")
            yield from one.payload.identity()

    def rounds(self) -> Iterator[Round[Group]]:
        """Folders, the outer ones first, then files, then what is in them."""
        deepest = max((one.name.count("/") for one in self.members), default=0)
        for depth in range(1, deepest + 1):
            yield Some(self, _below(self.members, depth))
        yield Some(self, [[number] for number, one in enumerate(self.members) if one.goes])
        inside = [one.payload.rounds() for one in self.members]
        for rounds in itertools.zip_longest(*inside):
            yield Beside(self, rounds)

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(self.members)

    def with_contents(
        self, contents: Sequence[bytes], read: Callable[[bytes, str], Payload]
    ) -> Group:
        """The same names with other contents."""
        members = tuple(
            dataclasses.replace(one, payload=read(content, one.name))
            for one, content in zip(self.members, contents, strict=True)
        )
        return dataclasses.replace(self, members=members)

    def only(self, numbers: set[int]) -> Group:
        """Without the others."""
        kept = tuple(one for number, one in enumerate(self.members) if number in numbers)
        return dataclasses.replace(self, members=kept)


def _below(members: Sequence[Member], depth: int) -> list[list[int]]:
    """What is in each folder that is so deep, if all of it can go."""
    found: dict[str, list[int]] = {}
    for number, one in enumerate(members):
        folders = one.name.split("/")[:-1]
        if len(folders) >= depth:
            found.setdefault("/".join(folders[:depth]), []).append(number)
    return [numbers for numbers in found.values() if all(members[n].goes for n in numbers)]


class Some:
    """Sets of members that go together."""

    def __init__(self, group: Group, sets: Sequence[Sequence[int]]) -> None:
        self._group = group
        self._sets = sets
        self.count = len(sets)

    def texts(self) -> list[str]:
        """The names in each, and what is in them if that is little."""
        members = self._group.members
        text = _text if self._group.size <= SMALL else _name
        return ["\n".join(text(members[one]) for one in own) for own in self._sets]

    def keep(self, parts: Ranges) -> Group:
        """The group without the members of the other sets."""
        kept = {number for start, stop in parts for number in range(start, stop)}
        gone = {one for at, numbers in enumerate(self._sets) if at not in kept for one in numbers}
        return self._group.only(set(range(len(self._group.members))) - gone)


class Beside:
    """A round of each member."""

    def __init__(self, group: Group, rounds: Sequence[Round[Payload] | None]) -> None:
        self._group = group
        self._rounds = rounds
        counts = (one.count if one is not None else 0 for one in rounds)
        self._starts = list(itertools.accumulate(counts, initial=0))
        self.count = self._starts[-1]

    def texts(self) -> list[str]:
        """Of all members; none where some can't tell."""
        found: list[str] = []
        for inner in self._rounds:
            if inner is None or not inner.count:
                continue
            texts = getattr(inner, "texts", None)
            if texts is None:
                return []
            found += texts()
        return found

    def keep(self, parts: Ranges) -> Group:
        """Each member with its own of these."""
        members = []
        for number, (one, inner) in enumerate(zip(self._group.members, self._rounds, strict=True)):
            start, stop = self._starts[number : number + 2]
            own = _within(parts, start, stop)
            is_less = inner is not None and own != ((0, stop - start),) and start < stop
            payload = inner.keep(own) if inner is not None and is_less else one.payload
            members.append(dataclasses.replace(one, payload=payload))
        return dataclasses.replace(self._group, members=tuple(members))


def _name(member: Member) -> str:
    return member.name


def _text(member: Member) -> str:
    return f"{member.name}\n{b''.join(member.payload.pieces()).decode(errors='replace')}"


def _within(parts: Ranges, start: int, stop: int) -> Ranges:
    cut = ((max(a, start) - start, min(b, stop) - start) for a, b in parts)
    return tuple((a, b) for a, b in cut if a < b)

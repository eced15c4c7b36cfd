"""Some of the changes between two states; and in which order to leave them out, coarse to fine."""

from __future__ import annotations

import dataclasses

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Ranges = tuple[tuple[int, int], ...]
    Level = Sequence[Sequence[int]]  # groups of changes, each of which goes or stays as a whole

NOTHING = "-"


class Change(NamedTuple):
    """One difference, for people; None where there is nothing on that side."""

    name: str
    old: str | None
    new: str | None
    kind: str = ""
    about: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True)
class Choice:
    """Those of so many that are made. It never changes."""

    kept: Ranges
    levels: tuple[Level, ...] = dataclasses.field(default=(), compare=False, repr=False)

    @classmethod
    def whole(cls, count: int, levels: Sequence[Level] = ()) -> Choice:
        """All of them."""
        return cls(((0, count),) if count else (), tuple(levels))

    @property
    def name(self) -> str:
        """What `read` reads: `0-3,7`."""
        if not self.kept:
            return NOTHING
        return ",".join(f"{a}-{b - 1}" if b - a > 1 else str(a) for a, b in self.kept)

    @property
    def size(self) -> int:
        """How many they are."""
        return sum(stop - start for start, stop in self.kept)

    def numbers(self) -> list[int]:
        """Each of them."""
        return [one for start, stop in self.kept for one in range(start, stop)]

    def of(self, numbers: Sequence[int]) -> Choice:
        """These instead."""
        return Choice(ranges(numbers), self.levels)

    def without(self, others: Choice) -> Choice:
        """Without some."""
        gone = set(others.numbers())
        return self.of([one for one in self.numbers() if one not in gone])

    def rounds(self) -> Iterator[Grouped | Each]:
        """Each level, then change by change."""
        for level in self.levels:
            yield Grouped.of(self, level)
        yield Each(self)


class Grouped:
    """The groups of one level, as far as they are still there."""

    def __init__(self, choice: Choice, groups: Sequence[Sequence[int]]) -> None:
        self._choice = choice
        self._groups = groups
        self.count = len(groups)

    @classmethod
    def of(cls, choice: Choice, level: Level) -> Grouped:
        """Whatever is in no group is one by itself, behind the others."""
        left = dict.fromkeys(choice.numbers())
        groups = [[one for one in group if one in left] for group in level]
        for group in groups:
            for one in group:
                left.pop(one, None)
        return cls(choice, [*filter(None, groups), *([one] for one in left)])

    def keep(self, parts: Ranges) -> Choice:
        """Only these groups."""
        chosen = [self._groups[at] for start, stop in parts for at in range(start, stop)]
        return self._choice.of(sorted(one for group in chosen for one in group))


class Each:
    """One by one; however many there are, this takes no longer than there are ranges."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self.count = choice.size

    def keep(self, parts: Ranges) -> Choice:
        """Only those at these places."""
        found: list[tuple[int, int]] = []
        before = 0
        for start, stop in self._choice.kept:
            for first, behind in parts:
                a, b = max(start, start + first - before), min(stop, start + behind - before)
                if a < b:
                    found.append((a, b))
            before += stop - start
        return Choice(tuple(found), self._choice.levels)


def read(name: str) -> Ranges:
    """The ranges of a `Choice.name`."""
    if name == NOTHING:
        return ()
    pairs = [part.partition("-") for part in name.split(",")]
    return tuple((int(first), int(last or first) + 1) for first, _, last in pairs)


def ranges(numbers: Sequence[int]) -> Ranges:
    """Numbers in order, as ranges."""
    found: list[tuple[int, int]] = []
    for one in numbers:
        if found and found[-1][1] == one:
            found[-1] = (found[-1][0], one + 1)
        else:
            found.append((one, one + 1))
    return tuple(found)


def is_part(some: Ranges, of: Ranges) -> bool:
    """Whether all of these are among those."""
    at = 0
    for start, stop in some:
        while at < len(of) and of[at][1] < stop:
            at += 1
        if at == len(of) or of[at][0] > start:
            return False
    return True

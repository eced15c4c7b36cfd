"""Where two versions of a list of rows differ, quickly also for a hundred thousand rows.

Rows that are there once in both anchor the rest (patience); between them, few rows are compared
with one another, and of many the n-th of a kind is taken for the n-th of that kind.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from difflib import SequenceMatcher

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    Pair = tuple[int, int]

FEW = 200_000  # pairs of rows that may be compared one by one


class Block(NamedTuple):
    """Old rows, and the new ones in their place; one of both may be empty."""

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int


def differences(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Block]:
    """The blocks that differ, in order."""
    pairs = _matched(old, new)
    found = []
    a = b = 0
    for i, j in [*pairs, (len(old), len(new))]:
        if (a, b) != (i, j):
            found.append(Block(a, i, b, j))
        a, b = i + 1, j + 1
    return found


def _matched(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Places of equal rows, in order on both sides."""
    pairs: list[Pair] = []
    todo = [(0, len(old), 0, len(new))]
    while todo:
        a, b, c, d = todo.pop()
        while a < b and c < d and old[a] == new[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            pairs.append((b, d))
        if a == b or c == d:
            continue
        anchors = _anchors(old, new, (a, b, c, d), once=True)
        if anchors:
            edges = [(a - 1, c - 1), *anchors, (b, d)]
            pairs += anchors
            todo += [
                (i + 1, k, j + 1, m)
                for (i, j), (k, m) in itertools.pairwise(edges)
                if k > i + 1 and m > j + 1
            ]
        elif (b - a) * (d - c) <= FEW:
            matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
            for i, j, size in matcher.get_matching_blocks():
                pairs += [(a + i + n, c + j + n) for n in range(size)]
        else:
            pairs += _anchors(old, new, (a, b, c, d), once=False)
    return sorted(pairs)


def _anchors(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    where: tuple[int, int, int, int],
    *,
    once: bool,
) -> list[Pair]:
    """Rows of one kind taken for one another, as many as keep their order."""
    a, b, c, d = where
    before: dict[Hashable, list[int]] = {}
    for i in range(a, b):
        before.setdefault(old[i], []).append(i)
    after: dict[Hashable, list[int]] = {}
    for j in range(c, d):
        if new[j] in before:
            after.setdefault(new[j], []).append(j)
    pairs = [
        pair
        for row, places in after.items()
        if not once or len(places) == len(before[row]) == 1
        for pair in zip(before[row], places, strict=False)
    ]
    return _longest_rising(sorted(pairs))


def _longest_rising(pairs: list[Pair]) -> list[Pair]:
    """The most of them whose second numbers rise as the first do."""
    tops: list[int] = []  # the smallest last second number, by length
    at: list[int] = []  # of which pair that is
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        tops[length : length + 1] = [j]
        at[length : length + 1] = [number]
        before.append(at[length - 1] if length else -1)
    found = []
    number = at[-1] if at else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]

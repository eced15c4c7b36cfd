"""The fewest of n parts that are needed for a thing to happen.

First from the end: how many of the last parts can go at once? A bisection finds the last part
that is needed, and then the last before that one. This takes about log₂ n questions for each needed
part if parts don't depend on one another, and fewer where needed ones stand close together: the
first guess is as wide as the last gap. Then one pass after the other over what is left,
until a whole pass has removed nothing: the result is 1-minimal, whatever depends on what.
"""

from __future__ import annotations

import dataclasses

from zeroin.search.ranges import Ranges, cut, every, size

# How probable a yes is. Only what is tried ahead depends on it, never the result.
_ALL, _HALF, _STEP, _SINGLE = 0.25, 0.5, 0.3, 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class Fewest:
    """What is known so far. `kept` is the best there is."""

    kept: Ranges
    undecided: int  # so many of the first parts; those behind them are needed
    too_many: int | None = None  # so many of the last undecided ones can't go together
    found: int = 0  # parts that are needed
    gone: int = 0  # since the last of them was found
    step: int = 1  # how many to try next: about as many as went the last time
    is_all: bool = True  # or all the undecided ones
    sweep: int | None = None  # in the second phase: parts that this pass has not come to
    progress: bool = False  # of this pass

    @classmethod
    def of(cls, count: int) -> Fewest:
        """All are there, and it happens."""
        return cls.among(every(count))

    @classmethod
    def among(cls, kept: Ranges) -> Fewest:
        """It happens with these of them."""
        count = size(kept)
        return _settled(cls(kept, count, step=max(1, count // 2)))

    @property
    def question(self) -> Ranges | None:
        """The parts that are to be tried, or None at the end."""
        removal = _removal(self)
        return None if removal is None else cut(self.kept, *removal)

    @property
    def likely(self) -> float:
        """Of removing all, of halving, of steps that grow."""
        if self.sweep is not None:
            return _STEP if self.step > 1 else _SINGLE
        return _ALL if self.is_all else _HALF

    def told(self, yes: bool) -> Fewest:
        """The question's parts are enough, or not."""
        removal = _removal(self)
        if removal is None:
            raise ValueError("the search is over")
        first, behind = removal
        after = _swept if self.sweep is not None else _from_the_end
        return _settled(after(self, first, behind, yes))


def _removal(one: Fewest) -> tuple[int, int] | None:
    """What the question leaves out: places among the kept ones."""
    if one.sweep is not None:
        return (max(0, one.sweep - one.step), one.sweep) if one.sweep else None
    most = one.undecided if one.too_many is None else max(1, one.too_many // 2)
    count = most if one.is_all else min(one.step, most)
    return one.undecided - count, one.undecided


def _from_the_end(one: Fewest, first: int, behind: int, yes: bool) -> Fewest:
    count = behind - first
    if not yes:
        return dataclasses.replace(one, too_many=count, is_all=False)
    return dataclasses.replace(
        one,
        kept=cut(one.kept, first, behind),
        undecided=first,
        too_many=None if one.too_many is None else one.too_many - count,
        gone=one.gone + count,
        step=one.step * 2,
        is_all=False,
    )


def _swept(one: Fewest, first: int, behind: int, yes: bool) -> Fewest:
    if yes:
        kept = cut(one.kept, first, behind)
        return dataclasses.replace(one, kept=kept, sweep=first, step=one.step * 2, progress=True)
    if behind - first > 1:
        return dataclasses.replace(one, step=(behind - first) // 2)
    return dataclasses.replace(one, sweep=first, step=1)


def _settled(one: Fewest) -> Fewest:
    """Go on to where there is a question, or to the end."""
    while one.too_many == 1:  # the last undecided part is needed
        found, left = one.found + 1, one.undecided - 1
        one = dataclasses.replace(
            one,
            undecided=left,
            too_many=None,
            found=found,
            gone=0,
            step=max(1, 2 * one.gone if found > 1 else left // 2),
            # Whether nothing else is needed is asked less and less often.
            is_all=found & (found - 1) == 0 or one.gone > left,
        )
    begins = one.sweep is None and not one.undecided
    again = one.sweep == 0 and one.progress
    if begins or again:
        return dataclasses.replace(one, sweep=size(one.kept), step=1, progress=False)
    return one

"""Two command lines, as the words that came, went, or became others."""

from __future__ import annotations

import shlex
from difflib import SequenceMatcher

from zeroin.axes.changes.choice import Change
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Swap(NamedTuple):
    """Old words, from one place to another, and what is there instead."""

    start: int
    stop: int
    new: tuple[str, ...]


def swaps(old: Sequence[str], new: Sequence[str]) -> list[Swap]:
    """What differs; an option goes with its value."""
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if b - a == d - c:
            found += [Swap(a + n, a + n + 1, (new[c + n],)) for n in range(b - a)]
        elif a == b:
            found += [Swap(a, a, tuple(new[c + n : c + m])) for n, m in _options(new[c:d])]
        elif c == d:
            found += [Swap(a + n, a + m, ()) for n, m in _options(old[a:b])]
        elif d - c > b - a and new[c + b - a].startswith("-"):
            found += [Swap(a + n, a + n + 1, (new[c + n],)) for n in range(b - a)]
            rest = new[c + b - a : d]
            found += [Swap(b, b, tuple(rest[n:m])) for n, m in _options(rest)]
        else:
            found.append(Swap(a, b, tuple(new[c:d])))
    return found


def swapped(old: Sequence[str], swaps: Sequence[Swap], made: Collection[int]) -> tuple[str, ...]:
    """The command with some of them."""
    found = list(old)
    for number in reversed(range(len(swaps))):  # the last first: places stay right
        if number in made:
            found[swaps[number].start : swaps[number].stop] = swaps[number].new
    return tuple(found)


def change(old: Sequence[str], swap: Swap) -> Change:
    """One of them, for people; a value is told by its option."""
    before = shlex.join(old[swap.start : swap.stop]) or None
    after = shlex.join(swap.new) or None
    ahead = old[swap.start - 1] if swap.start else ""
    word = (before or after or "").partition("=")[0]
    if swap.start == 0 and before is not None:
        name = "program"
    elif word.startswith("-"):
        name = word.split()[0]
    elif ahead.startswith("-") and "=" not in ahead:
        name = ahead
    else:
        name = f"argument {swap.start}"
    return Change(name, before, after, "argument")


def _options(words: Sequence[str]) -> list[tuple[int, int]]:
    """Pieces, each of which begins with an option."""
    starts = [n for n, word in enumerate(words) if n == 0 or word.startswith("-")]
    return list(zip(starts, [*starts[1:], len(words)], strict=True))

"""Words of a failure, by which the parts that it is about can be guessed.

What a message quotes, what the failing lines name, which values were at hand: a part that has such
a word, and few others have it, is likely to be needed. A guess costs one question; a kind of word
that has misled twice in a row is not asked about any more.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from zeroin.search.ranges import Ranges, packed, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WORD = re.compile(r"\w+")
FEWEST = 8  # parts; with less there is nothing to guess
RARE = 8  # a word tells something if only one of so many parts has it,
ALWAYS = 2  # or so few
MANY = 4  # words: then those parts that have most of them come first
MISSES = 2  # in a row
MOST = 16 << 20  # characters that are looked through


@runtime_checkable
class Readable(Protocol):
    """A round whose parts have words in them."""

    count: int

    def texts(self) -> Sequence[str]:
        """Of each part."""


@dataclasses.dataclass(frozen=True, slots=True)
class Clues:
    """Sets of words, the most telling first, and how often each has misled since it last led."""

    words: tuple[frozenset[str], ...] = ()
    misses: tuple[int, ...] = ()

    @classmethod
    def of(cls, texts: Sequence[Iterable[str]]) -> Clues:
        """By what was said in each way."""
        words = tuple(frozenset(words_in(own)) for own in texts)
        return cls(words, (0,) * len(words))

    def guesses(self, parts: object) -> tuple[tuple[int, Ranges], ...]:
        """Choices of a round's parts that may be enough, each with the number of its words."""
        wanted = [at for at, misses in enumerate(self.misses) if misses < MISSES and self.words[at]]
        if not wanted or not isinstance(parts, Readable):
            return ()
        texts = parts.texts()
        if not FEWEST <= len(texts) == parts.count or sum(map(len, texts)) > MOST:
            return ()
        every = frozenset().union(*(self.words[at] for at in wanted))
        held = [every.intersection(WORD.findall(text)) for text in texts]
        told: dict[Ranges, int] = {}
        for at in wanted:
            for choice in _holding(held, self.words[at]):
                if 0 < size(choice) <= len(texts) // 2:
                    told.setdefault(choice, at)
        return tuple((at, choice) for choice, at in told.items())

    def told(self, number: int, yes: bool) -> Clues:
        """The guess by these words was right, or not."""
        misses = tuple(
            0 if yes and at == number else count + (not yes and at == number)
            for at, count in enumerate(self.misses)
        )
        return dataclasses.replace(self, misses=misses)


def words_in(texts: Iterable[str]) -> list[str]:
    """All of them."""
    return [word for text in texts for word in WORD.findall(text)]


def _holding(held: Sequence[frozenset[str]], words: frozenset[str]) -> tuple[Ranges, Ranges]:
    """The parts that hold many of those words that few parts hold; those that hold any."""
    counts = Counter(word for own in held for word in own & words)
    most = max(ALWAYS, len(held) // RARE)
    rare = {word for word, count in counts.items() if count <= most}
    scores = [len(rare & own) for own in held]
    best = max(scores)
    many = packed(at for at, one in enumerate(scores) if one > best // 2) if best >= MANY else ()
    return many, packed(at for at, one in enumerate(scores) if one)


NONE = Clues()

"""Words of a command line, or variables: what is no file, but can be left out as well."""

from __future__ import annotations

import dataclasses

from zeroin.axes.payload.kinds import flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from zeroin.axes.payload.kinds import Ranges, Round


@dataclasses.dataclass(frozen=True)
class Words:
    """Some words in order."""

    words: tuple[str, ...]
    noun: str = "argument"

    @property
    def parts(self) -> int:
        """How many."""
        return len(self.words)

    def is_valid(self) -> bool:
        """Any words will do."""
        return True

    def pieces(self) -> Iterator[bytes]:
        """For a name of the whole."""
        for word in self.words:
            yield word.encode(errors="surrogateescape") + b"\0"

    @property
    def size(self) -> int:
        """How many bytes."""
        return sum(map(len, self.pieces()))

    identity = pieces

    def rounds(self) -> Iterator[Round[Words]]:
        """An option with its value, as far as that can be seen, then single words."""
        pairs = _pairs(self.words)
        if any(len(one) > 1 for one in pairs):
            yield Together(self, pairs)
        yield Together(self, [[number] for number in range(len(self.words))])


def _pairs(words: tuple[str, ...]) -> list[list[int]]:
    found: list[list[int]] = []
    for number, word in enumerate(words):
        follows = not word.startswith("-") and found and words[found[-1][-1]].startswith("-")
        if follows:
            found[-1].append(number)
        else:
            found.append([number])
    return found


class Together:
    """Sets of words."""

    def __init__(self, words: Words, sets: list[list[int]]) -> None:
        self._words = words
        self._sets = sets
        self.count = len(sets)

    def keep(self, parts: Ranges) -> Words:
        """Without the others."""
        kept = flags(parts, self.count)
        left: set[int] = set()
        for numbers, is_kept in zip(self._sets, kept, strict=True):
            left.update(numbers if is_kept else ())
        words = tuple(word for number, word in enumerate(self._words.words) if number in left)
        return dataclasses.replace(self._words, words=words)

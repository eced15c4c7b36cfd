"""Two files of settings, and mixtures of them."""

from __future__ import annotations

from zeroin.axes.changes import formats
from zeroin.axes.changes.pieces import mixed
from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from zeroin.axes.changes.choice import Change


class Settings:
    """The keys that differ, numbered."""

    def __init__(self, old: bytes, new: bytes, names: tuple[str, str]) -> None:
        self._contents = (old, new)
        texts = [_decoded(one, name) for one, name in zip(self._contents, names, strict=True)]
        kinds = [formats.kind_of(text, name) for text, name in zip(texts, names, strict=True)]
        if kinds[0] != kinds[1]:
            raise UsageError(f"{names[0]} is {kinds[0]} and {names[1]} is {kinds[1]}")
        self.kind = kinds[0]
        self._old, self._new = (
            formats.parsed(text, self.kind, name) for text, name in zip(texts, names, strict=True)
        )
        self.changes: list[Change] = []
        mixed(self._old, self._new, self._collect)

    def _collect(self, change: Change) -> bool:
        self.changes.append(change)
        return False

    def content(self, made: Collection[int]) -> bytes:
        """The old file with some of the changes; with all of them it is the new one."""
        if not made or len(made) == len(self.changes):
            return self._contents[bool(made)]
        numbers = iter(range(len(self.changes)))
        return mixed(self._old, self._new, lambda _: next(numbers) in made).text.encode(
            errors="surrogateescape"
        )

    def is_valid(self, made: Collection[int]) -> bool:
        """Whether the mixture can be read at all."""
        return formats.is_valid(self.content(made).decode(errors="surrogateescape"), self.kind)


def _decoded(content: bytes, name: str) -> str:
    if b"\0" in content:
        raise UsageError(f"{name} is no text")
    return content.decode("utf-8", "surrogateescape")

"""Files that only their own library reads: the user's interpreter, which has it, tells the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from zeroin.tiny.rows import Row, Rows, put

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KINDS = {"parquet": "Parquet", "arrow": "Arrow", "torch": "torch"}


class Library(Protocol):
    """Who can read one file."""

    @property
    def noun(self) -> str:
        """What its rows are."""

    def rows(self) -> Iterator[Any]:
        """What each says, in order."""

    def make(self, numbers: Sequence[int], target: str) -> int:
        """Write these; how many bytes that are."""

    def close(self) -> None:
        """It is not needed any more."""


def foreign(kind: str, library: Library) -> Rows:
    """Rows by their numbers."""
    rows = (Row(number, value) for number, value in enumerate(library.rows()))

    def write(chosen: Sequence[Row], target: str) -> int:
        put(target, b"")  # whether it can be written is said in our own words
        return library.make([row.kept for row in chosen], target)

    return Rows(KINDS[kind], library.noun, rows, write)

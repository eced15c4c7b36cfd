"""What the guard does for a part. Apart from the other words: it is never loaded, only meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.emulate.part import Eyes


class Watch(Protocol):
    """In a process of its own."""

    def look(self, eyes: Eyes, now: float) -> float:
        """Look once; how many seconds until the next time."""
        ...

    def told(self) -> Mapping[str, Any]:
        """What the part is to know at the end."""
        ...

"""Does it grow from one repetition to the next, and who holds what it grows by?

`ticks` finds what repeats in the user's own code and takes a sample now and then; `measure`
is what a sample holds. In a second run `who` looks at one place closely: which allocations
stay, which containers and types grow, and `holders` says by which names they are held.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(wanted: dict[str, Any], folder: str) -> None:
    """Begin with what is wanted; called at the start of each process."""
    from . import ticks

    ticks.begin(wanted, folder)

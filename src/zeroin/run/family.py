"""Which of the processes below us are the program's: its snapshots hang there as well."""

from __future__ import annotations

import os

from zeroin.run import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.run.aside import Aside

CLOCK = 44  # the signal that says "look at the clock"; it would end a program without a handler


class Family:
    """The program, its children, and those of them that lost their parent and became ours."""

    def __init__(self, aside: Aside | None) -> None:
        self.aside = aside
        self.others = set(tree.descendants(os.getpid()))  # before the program was started

    def members(self, pid: int) -> list[int]:
        """All below `pid` that belong to the program."""
        found = tree.descendants(pid)
        kept = self.others if self.aside is None else self.others | self.aside.keep
        not_ours = kept.intersection(found)
        for other in list(not_ours):
            not_ours.update(tree.descendants(other))
        return [process for process in found if process not in not_ours]

    def sampler(self, pid: int) -> tree.Sampler:
        """Follows the program's memory, without its snapshots."""
        return tree.Sampler(pid, self.members)

    def end(self, grace: float) -> None:
        """End all of them: ask, wait a little, then make them."""
        tree.end_all(self._alive, grace)

    def tell(self, number: int) -> int:
        """Send a signal to each; how many got it."""
        return tree.tell(self._alive(), number)

    def _alive(self) -> list[int]:
        return [p for p in self.members(os.getpid()) if not tree.is_zombie(p)]


def wants_the_clock(pid: int) -> bool:
    """Whether its main thread is computing, and it has a handler for our signal.

    A program that put another in its place (exec) has none any more.
    """
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            status = file.read()
    except OSError:
        return False
    caught = status.partition(b"\nSigCgt:\t")[2][:16]
    return b"\nState:\tR" in status and bool(int(caught or b"0", 16) >> (CLOCK - 1) & 1)

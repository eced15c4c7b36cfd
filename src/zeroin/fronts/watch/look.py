"""What a rendering needs to know: colours or not, which characters the terminal can show."""

from __future__ import annotations

from zeroin.fronts.watch import cells
from zeroin.fronts.words import Paint, can_show
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

FINE = cells.BLOCKS + "─│…–·░"


class Look(NamedTuple):
    """How to draw."""

    paint: Paint
    fine: bool  # whether there is more than ASCII
    marks: bool  # whether new text can be shown reversed

    @property
    def signs(self) -> str:
        """For curves."""
        return cells.BLOCKS if self.fine else cells.SIGNS

    @property
    def bars(self) -> tuple[str, str]:
        """For shares: the used and the free part."""
        return ("█", "░") if self.fine else ("#", ".")

    @property
    def between(self) -> str:
        """What stands between two panels."""
        return " │ " if self.fine else " | "

    def rule(self, title: str, rest: str, width: int) -> str:
        """The first line of a panel: its name on a line."""
        dash = "─" if self.fine else "-"
        title = cells.head(cells.clean(title), max(1, width - 4))
        room = width - 4 - cells.wide(title)
        rest = cells.fit(rest, room - 1) if cells.wide(rest) >= room else rest
        left = room - (cells.wide(rest) + 1 if rest else 0)
        return (
            self.paint(dash * 2, "dim")
            + f" {self.paint(title, 'bold', 'cyan')}"
            + (f" {rest}" if rest else "")
            + self.paint(" " + dash * left, "dim")
        )

    def plain(self, text: str) -> str:
        """In what the terminal can show."""
        if self.fine or text.isascii():
            return text
        for fine, simple in (("…", "~"), ("–", "-"), ("·", "-"), ("°", " "), ("─", "-")):
            text = text.replace(fine, simple)
        return "".join(c if c.isascii() else "?" * cells.wide(c) for c in text)


def look_of(stream: TextIO, *, terminal: bool) -> Look:
    """For a stream."""
    return Look(Paint(stream), can_show(FINE, stream), terminal)

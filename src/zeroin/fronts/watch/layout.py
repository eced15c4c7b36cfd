"""Where panels stand: side by side where they fit, below one another where not."""

from __future__ import annotations

from zeroin.fronts.watch import cells, panels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.fronts.watch.look import Look
    from zeroin.tools.watch.things import Panel

LEAST = 3  # lines of a row of panels


def rows(shown: Sequence[Panel], width: int, between: int) -> list[list[tuple[Panel, int]]]:
    """Panels with their widths, in the order they were asked for."""
    found: list[list[Panel]] = []
    left = -1
    for panel in shown:
        need = panels.least(panel) + between
        if need <= left:
            found[-1].append(panel)
            left -= need
        else:
            found.append([panel])
            left = width - panels.least(panel)
    return [_widths(row, width, between) for row in found]


def _widths(row: Sequence[Panel], width: int, between: int) -> list[tuple[Panel, int]]:
    """What is left over goes to all, by what they need."""
    least = [panels.least(panel) for panel in row]
    whole = width - between * (len(row) - 1)
    sizes = [max(1, need * whole // sum(least)) for need in least]
    sizes[-1] += whole - sum(sizes)
    return list(zip(row, sizes, strict=True))


def heights(wanted: Sequence[int], room: int) -> list[int]:
    """What each row of panels wants, cut from the tallest where there is not enough."""
    found = list(wanted)
    while sum(found) > room and max(found, default=0) > LEAST:
        tallest = found.index(max(found))
        second = max((h for h in found if h < found[tallest]), default=LEAST)
        over = sum(found) - room
        found[tallest] = max(found[tallest] - over, min(second, found[tallest] - 1), LEAST)
    return found


def drawn(shown: Sequence[Panel], width: int, height: int | None, look: Look) -> list[str]:
    """All panels as lines; without a height, as many as they want."""
    found = rows(shown, width, len(look.between))
    wanted = [max(panels.wanted(panel) for panel, _ in row) for row in found]
    gaps = len(found) - 1
    tall = wanted if height is None else heights(wanted, max(1, height - gaps))
    out: list[str] = []
    for number, (row, size) in enumerate(zip(found, tall, strict=True)):
        if number:
            out.append("")
        room = size if height is None else max(1, min(size, height - len(out)))
        columns = [panels.lines(panel, w, room, look) for panel, w in row]
        most = max(map(len, columns))
        for column, (_, w) in zip(columns, row, strict=True):
            column.extend([" " * w] * (most - len(column)))
        gap = look.paint(look.between, "dim")
        out += [gap.join(parts) for parts in zip(*columns, strict=True)]
    return out if height is None else out[:height]


def head(text: str, keys: Sequence[str], width: int, look: Look) -> str:
    """The first line of the screen: what is going on, and as many keys as fit."""
    text = cells.head(look.plain(text), width)
    room = width - cells.wide(text)
    shown = cells.joined(keys, room - 2, "  ")
    return look.paint(text, "bold") + look.paint(shown.rjust(room), "dim")

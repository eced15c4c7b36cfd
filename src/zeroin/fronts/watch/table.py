"""The table of processes: which columns fit, and what stands in them."""

from __future__ import annotations

from zeroin.fronts.watch import cells
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zeroin.fronts.watch.look import Look
    from zeroin.tools.watch.things import Thing

COMMAND = 30  # cells that the command line has at least, where there are that many
ODD = ("zombie", "disk wait", "stopped", "traced", "dead")


class Column(NamedTuple):
    """One measure."""

    title: str
    width: int
    text: Callable[[Thing, Look], str]
    right: bool = True
    only_if: Callable[[Sequence[Thing]], bool] | None = None  # else it has nothing to say


def _curve(thing: Thing, look: Look) -> str:
    return cells.spark(thing.curve, 10, look.signs)


def _cpu_curve(thing: Thing, look: Look) -> str:
    return cells.spark(thing.cpu_curve, 10, look.signs, least=100.0)


def _count(value: int | None) -> str:
    return cells.NOTHING if value is None else str(value)


def _several_users(things: Sequence[Thing]) -> bool:
    return len({thing.user for thing in things}) > 1


def _has_a_past(things: Sequence[Thing]) -> bool:
    return any(len(thing.curve) > 2 for thing in things)


# As they stand from left to right.
COLUMNS = {
    "pid": Column("pid", 7, lambda t, _: str(t.pid)),
    "rank": Column(
        "rank",
        4,
        lambda t, _: "" if t.rank is None else str(t.rank),
        only_if=lambda things: any(t.rank is not None for t in things),
    ),
    "user": Column("user", 8, lambda t, _: t.user or "", right=False, only_if=_several_users),
    "memory": Column("memory", 8, lambda t, _: cells.amount(t.memory)),
    "curve": Column("", 10, _curve, only_if=_has_a_past),
    "pss": Column(
        "pss",
        8,
        lambda t, _: cells.amount(t.pss),
        only_if=lambda things: any(t.pss is not None for t in things),
    ),
    "peak": Column("peak", 8, lambda t, _: cells.amount(t.peak)),
    "gpu": Column(
        "gpu",
        8,
        lambda t, _: "" if t.gpu is None else cells.amount(t.gpu),
        only_if=lambda things: any(t.gpu for t in things),
    ),
    "cpu": Column("cpu", 6, lambda t, _: cells.percent(t.cpu)),
    "cpu curve": Column("", 10, _cpu_curve, only_if=_has_a_past),
    "threads": Column("threads", 7, lambda t, _: _count(t.threads)),
    "files": Column("files", 6, lambda t, _: _count(t.files)),
    "read": Column("read", 10, lambda t, _: cells.rate(t.read)),
    "write": Column("write", 10, lambda t, _: cells.rate(t.write)),
    "state": Column("state", 9, lambda t, _: t.state or "", right=False),
    "age": Column("age", 9, lambda t, _: cells.span(t.age)),
}
# Which are left out last when it gets narrow.
WORTH = (
    *("pid", "memory", "cpu", "rank", "gpu", "pss", "peak", "curve", "state"),
    *("write", "read", "threads", "files", "age", "cpu curve", "user"),
)


def columns(things: Sequence[Thing], width: int) -> list[str]:
    """Those that have something to say, and fit beside the command line."""
    left = width - min(COMMAND, width // 3)
    chosen = set()
    for name in WORTH:
        column = COLUMNS[name]
        if column.only_if is not None and not column.only_if(things):
            continue
        if left < column.width + 1:
            break
        left -= column.width + 1
        chosen.add(name)
    return [name for name in COLUMNS if name in chosen]


def titles(names: Sequence[str], width: int, look: Look) -> str:
    """The first line."""
    parts = [
        cells.fit(COLUMNS[name].title, COLUMNS[name].width, right=COLUMNS[name].right)
        for name in names
    ]
    return look.paint(cells.fit(" ".join([*parts, "command"]), width), "dim")


def row(thing: Thing, names: Sequence[str], width: int, look: Look) -> str:
    """One process."""
    parts = []
    left = width
    for name in names:
        column = COLUMNS[name]
        text = cells.fit(column.text(thing, look), column.width, right=column.right)
        left -= column.width + 1
        parts.append(_painted(name, text, thing, look))
    indent = "  " * min(thing.depth, 8)
    parts.append(indent + cells.command(thing.name, max(0, left - len(indent))))
    return " ".join(parts)


def _painted(name: str, text: str, thing: Thing, look: Look) -> str:
    if name == "memory":
        return look.paint(text, "bold")
    if name in ("curve", "cpu curve"):
        return look.paint(text, "green")
    if name == "cpu" and (thing.cpu or 0) >= 90:
        return look.paint(text, "yellow")
    if name == "state" and thing.state in ODD:
        return look.paint(text, "red")
    return text

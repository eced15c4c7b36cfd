"""What a measurement says, as data; and the table made of it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Goal(NamedTuple):
    """A target, and whether the figure of this run keeps it."""

    target: str
    holds: bool


class Row(NamedTuple):
    """One line: what was measured, its figures, what they are compared with, the targets."""

    what: str
    figures: str = ""
    compared: str = ""
    goals: tuple[Goal, ...] = ()
    values: dict[str, Any] | None = None


def at_most(value: float, limit: float, unit: str, word: str = "target") -> Goal:
    """`target ≤ 150 ms`."""
    return Goal(f"{word} ≤ {limit:g} {unit}", value <= limit)


def at_least(value: float, limit: float, unit: str, word: str = "target") -> Goal:
    """`target ≥ 70 %`."""
    return Goal(f"{word} ≥ {limit:g} {unit}", value >= limit)


def as_data(row: Row) -> dict[str, Any]:
    """For `--json`."""
    return {
        "what": row.what,
        "values": row.values or {},
        "compared": row.compared,
        "goals": [goal._asdict() for goal in row.goals],
    }


def as_lines(rows: list[Row]) -> list[str]:
    """Aligned, a row a line."""
    whole = [row for row in rows if row.figures or row.compared]
    wide = [max((len(row[n]) for row in whole), default=0) for n in range(3)]
    lines = []
    for row in rows:
        shown = "  ".join(str(row[n]).ljust(wide[n]) for n in range(3))
        said = "; ".join(f"{goal.target}: {_verdict(goal)}" for goal in row.goals)
        lines.append(f"  {shown}  {said}".rstrip())
    return lines


def _verdict(goal: Goal) -> str:
    return "holds" if goal.holds else "does not hold"


def ms(seconds: float) -> str:
    """`12.3 ms`."""
    return f"{seconds * 1000:.1f} ms"


def more(seconds: float) -> str:
    """`+12.3 ms`."""
    return f"{seconds * 1000:+.1f} ms"


def mb(size: float) -> str:
    """`12.3 MB`."""
    return f"{size / 1e6:.1f} MB"

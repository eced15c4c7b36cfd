"""What has become of probes, and what they kept, as text and as JSON."""

from __future__ import annotations

from zeroin.fronts import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.fronts.words import Paint


def lines(probes: Sequence[Mapping[str, Any]], paint: Paint) -> list[str]:
    """`--at train.py:41 peek=x: reached 3 times`; when never, why."""
    out = []
    for one in probes:
        name = paint(f"--at {one['at']}", "bold")
        if one["reached"]:
            out.append(f"  {name}: {_reached(one)}")
        else:
            out.append(f"  {name}: {paint('never reached', 'yellow')}: {words.clean(one['why'])}")
        out += [paint(f"      {words.clean(note)}", "dim") for note in one["notes"]]
    return out


def in_short(one: Mapping[str, Any]) -> str:
    """One probe in a few words."""
    return f"{one['at']}: {_reached(one) if one['reached'] else 'never reached'}"


def _reached(one: Mapping[str, Any]) -> str:
    least = "at least " if one.get("at_least") else ""
    text = f"reached {least}{_times(one['reached'])}"
    if one["processes"] > 1:
        text += f" in {one['processes']} processes"
    if not one["acted"]:
        text += ", its condition was never met"
    elif one["acted"] != one["reached"]:
        text += f", acted {_times(one['acted'])}"
    if one["raised"]:
        text += f", its expressions raised {_times(one['raised'])}"
    return text


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count:,} times")


def as_data(one: Mapping[str, Any]) -> dict[str, Any]:
    """One probe for `--json`."""
    return {
        "at": one["at"],
        "reached": one["reached"],
        "at_least": bool(one.get("at_least")),
        "acted": one["acted"],
        "raised": one["raised"],
        "processes": one["processes"],
        "file": one["file"] or None,
        "line": one["line"] or None,
        "function": one["function"] or None,
        "why": one["why"] or None,
        "notes": list(one["notes"]),
    }

"""A failing test in words: the values in the user's frames, one line of what failed."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INLINED = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>")
LINE = 160  # characters of a message in one line
BETWEEN = {"cause": "was the direct cause of", "context": "and during its handling came"}
SAME = "… the same line again and again"  # of a recursion
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")


def values(crash: dict[str, Any], folder: str) -> str:
    """The user's frames with their values, as the section below pytest's own traceback."""
    lines: list[str] = []
    for number, link in enumerate(crash["chain"]):
        if number:
            lines.append(BETWEEN.get(crash["chain"][number - 1].get("leads_by", ""), "then"))
        lines += _link(link, folder, named=len(crash["chain"]) > 1)
    return "\n".join(lines)


def _link(link: dict[str, Any], folder: str, named: bool) -> list[str]:
    lines: list[str] = []
    frames = [one for one in link["frames"] if one["owner"] == "user" and "locals" in one]
    for number, frame in enumerate(frames):
        before, after = frames[max(0, number - 1)], frames[min(number + 1, len(frames) - 1)]
        if 0 < number < len(frames) - 1 and _place(before) == _place(frame) == _place(after):
            if lines[-1] != SAME:
                lines.append(SAME)
            continue
        lines += _frame(frame, folder)
    worker = link.get("worker")
    if worker:
        lines.append(f"in {worker['item'] or worker['name'] or 'a worker'}")
        for inner in worker["chain"]:
            lines += ["   " + line for line in _link(inner, folder, named=True)]
    if named and (lines or not link.get("group")):
        lines.append(one_line(link))
    for number, chain in enumerate(link.get("group", ()), 1):
        lines.append(f"{number}. {one_line(chain[-1])}")
        for inner in chain:
            lines += ["   " + line for line in _link(inner, folder, named=len(chain) > 1)]
    return lines


def _place(frame: dict[str, Any]) -> tuple[str, int]:
    return frame["file"], frame["line"]


def _frame(frame: dict[str, Any], folder: str) -> list[str]:
    shown = frame["file"].removeprefix(os.path.join(folder, ""))
    lines = [f"{shown}:{frame['line']} in {frame['qualname']}"]
    return lines + [f"    {name} = {text}" for name, text in frame["locals"].items()]


def one_line(link: dict[str, Any]) -> str:
    """`KeyError at data.py collate(): 'label'`."""
    frame = _telling(link["frames"])
    text = str(link["type"])
    if frame is not None:
        file = frame["file"].rpartition("/")[2]
        name = frame["name"]
        text += f" at {file}" + ("" if name.startswith("<") else f" {name}()")
    first = next((line.strip() for line in link["message"].splitlines() if line.strip()), "")
    return _cut(f"{text}: {first}" if first else text)


def kind(crash: dict[str, Any]) -> str:
    """What tells one failure from another where the record's signatures can't be had."""
    link = crash["chain"][-1]
    frame = _telling(link["frames"])
    at = frame["qualname"] if frame is not None else ""
    numbers = link["message"] if link["type"] == "KeyError" else _masked(link["message"])
    return f"{link['type']} at {at}: {numbers[:500]}"


def _masked(text: str) -> str:
    return _NUMBERS.sub("#", text)


def _telling(frames: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The innermost frame of the user's, else of a package's."""
    for owner in ("user", "package"):
        mine = [frame for frame in frames if frame["owner"] == owner]
        named = [frame for frame in mine if frame["name"] not in INLINED]
        if named or mine:
            return (named or mine)[-1]
    return None


def _cut(text: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LINE else text[: LINE - 1] + "…"

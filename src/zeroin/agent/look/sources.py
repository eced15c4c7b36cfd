"""Where the source of running code is: a file, a cell, a doctest, `python -c`, the prompt."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TYPED = 30  # lines at the prompt that are gone back


def lines_of(frame: Any) -> list[str]:
    """Give the source in which a frame's code stands; nothing where Python keeps none."""
    import linecache

    file = frame.f_code.co_filename
    lines = linecache.getlines(file, frame.f_globals)
    if not lines and file == "<string>" and frame.f_globals.get("__name__") == "__main__":
        return _command().splitlines(keepends=True)
    if not lines and file == "<stdin>":
        return _typed(frame.f_code)
    return lines


def _typed(code: Any) -> list[str]:
    """Give what was typed at the prompt before 3.13: the last lines that make this code."""
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return []
    last = readline.get_current_history_length()
    text = ""
    for at in range(last, max(0, last - TYPED), -1):
        text = f"{readline.get_history_item(at)}\n{text}"
        try:
            made = compile(text, code.co_filename, "single", 0, dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        if way_to(code, made) is not None:
            return text.splitlines(keepends=True)
    return []


def _command() -> str:
    """Give the program of `python -c`."""
    if not sys.argv or sys.argv[0] != "-c":
        return ""
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().decode("utf-8", "surrogateescape").split("\0")
    words = words[1:]
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word.startswith("--"):
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter == "c":
                return letters or words[0]
            if letter in "XW":  # takes what follows
                if not letters:
                    words.pop(0)
                break
    return ""


def way_to(wanted: Any, code: Any) -> list[int] | None:
    """Give the way from a code object to an equal of another, through its constants."""
    if code == wanted:
        return []
    for at, inner in enumerate(code.co_consts):
        if type(inner) is type(code):
            way = way_to(wanted, inner)
            if way is not None:
                return [at, *way]
    return None

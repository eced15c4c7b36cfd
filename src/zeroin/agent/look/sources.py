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


def are_of(frame: Any, lines: list[str]) -> bool:
    """Whether these lines are what the frame's code was made from.

    A file that nobody has touched since this process began is. Of another, the code says it: an
    equal one, with its lines at the same places, must come out of the file.
    """
    import linecache
    import os

    code = frame.f_code
    known: Any = linecache.cache.get(code.co_filename, ())
    try:
        touched = os.stat(known[3] if len(known) > 3 else code.co_filename).st_ctime
    except (OSError, ValueError):
        return True  # a cell, or what was typed: kept under a name of its own
    loop = sys.modules.get(__name__.partition(".look")[0] + ".warm.runner")
    if touched < max(_SINCE, getattr(loop, "woken", 0.0)):
        return True
    made = compiled("".join(lines), "exec", code)
    way = None if made is None else way_to(code, made)
    for at in way or ():
        made = made.co_consts[at]
    return way is not None and _lines_in(made) == _lines_in(code)


def _lines_in(code: Any) -> Any:
    return code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab


def _begun() -> float:
    """Give when this process began, by the clock of its files; the kernel counts in ticks."""
    import os
    import time

    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19]) + 1
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0  # then each text is compared
    return time.time() - age


_SINCE = _begun()


def compiled(whole: Any, mode: str, code: Any) -> Any:
    """Compile as the code was: its flags tell which `from __future__` imports were in force."""
    import __future__

    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag & code.co_flags
    try:
        return compile(whole, code.co_filename, mode, flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


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

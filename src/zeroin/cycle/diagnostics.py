"""The first error that a compiler, linter, formatter or parser reports.

These tools print one diagnostic after the other, each with its place, and a summary at the end.
What failed is the first of them: the rest often follows from it, and a smaller payload that makes
another one come first fails in another way.
"""

from __future__ import annotations

import re

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# `t.c:3:8: fatal error: no such file`, `A.java:3: error: ';' expected`, `x.xml:3: parser error : …`
_PLACED = re.compile(
    r"^\s*(?:\w+: )?(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?:[:.]\d+)*(?:-\d+)?:\s*"
    r"(?P<kind>(?:[a-z]+ )*error)\s?(?P<code>[A-Z]+\d+)?\s?:\s*(?P<message>.+)$",
    re.IGNORECASE,
)
# `a.ts(3,5): error TS2304: Cannot find name`
_BRACKETED = re.compile(
    r"^\s*(?P<file>[^\s(]+)\(\d+(?:,\d+)?\):\s*(?P<kind>(?:[a-z]+ )*error)\s*(?P<code>\w+)?:\s*"
    r"(?P<message>.+)$",
    re.IGNORECASE,
)
# `a.py:1:8: F401 'os' imported but unused`, `a.py:1:0: C0114: Missing module docstring`
_CODED = re.compile(
    r"^\s*(?P<file>[^\s:][^:\n]*):\d+(?::\d+)?:\s+(?P<code>[A-Z]{1,5}\d{1,5})\b:?\s+(?P<message>.+)$"
)
# `./main.go:5:2: undefined: x`: a source file, a line and a column, and no word for what it is
_BARE = re.compile(r"^\s*(?:vet: )?(?P<file>[^\s:]+\.\w+):\d+:\d+:\s+(?P<message>\S.*)$")
# `error[E0425]: cannot find value`, `[error] a.js: SyntaxError: Unexpected token (3:5)`
_NUMBERED = re.compile(r"^(?P<kind>error)\[(?P<code>\w+)\]:\s+(?P<message>\S.*)$")
_LABELLED = re.compile(r"^\[(?P<kind>error)\] \S+: (?P<message>\w*Error: \S.*)$")
# `  3:5  error  'x' is not defined  no-undef`
_TABLE = re.compile(r"^\s*\d+:\d+\s+(?P<kind>error)\s+(?P<message>\S.*)$", re.IGNORECASE)
# `F401 [*] 'os' imported but unused`, `error: expected ';'`, with the place on the line below
_ABOVE = re.compile(
    r"^(?P<code>[A-Z]{1,5}\d{1,5}|error|[a-z-]+)(?:: | )\s*(?:\[\*\]\s+)?(?P<message>\S.*)$"
)
# `TypeError: x is not a function`, `Exception in thread "main" java.lang.RuntimeException: no`,
# with the calls on the lines below
_THROWN = re.compile(
    r"^(?:Exception in thread \S+ |Uncaught )?(?P<kind>[\w.$]*(?:Error|Exception))(?: \[\w+\])?"
    r"(?:: (?P<message>\S.*))?$"
)
_CALL = re.compile(r"^\s+at \S")
_ARROW = re.compile(r"^\s*-->\s+\S+:\d+")
# `CMake Error at CMakeLists.txt:3 (message):`, with its message on the lines below
_CMAKE = re.compile(r"^CMake Error at \S+:\d+ \((?P<code>\w+)\):\s*$")
_SHAPES = (_PLACED, _BRACKETED, _CODED, _NUMBERED, _LABELLED, _TABLE, _BARE)
# What only counts or ends others.
_SUMMARY = re.compile(
    r"aborting due to|could not compile|previous errors?\b|too many errors|^\d+ errors?\b|"
    r"errors? generated|no errors? found",
    re.IGNORECASE,
)


_MILD = ("warning", "note", "help", "info", "hint", "remark")


class Diagnostic(NamedTuple):
    """One error as a tool has reported it."""

    line: str  # as it was printed
    message: str  # its kind, its code and its words, without the place


def find_first(text: str) -> Diagnostic | None:
    """Give the first error of a tool's output, from which colours were taken; None without one."""
    lines = text.split("\n")
    return next((found for found in _each(lines)), None)


def _each(lines: list[str]) -> Iterator[Diagnostic]:
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if _CMAKE.match(line):
            words = next((one.strip() for one in lines[number + 1 :] if one.strip()), "")
            yield Diagnostic(f"{line.strip()} {words}", f"CMake Error: {words}")
        elif (match := _THROWN.match(line)) and _CALL.match(following):
            kind, message = match["kind"].rpartition(".")[2], match["message"] or ""
            yield Diagnostic(line.strip(), f"{kind}: {message}".removesuffix(": "))
        elif (match := _ABOVE.match(line)) and _ARROW.match(following):
            if match["code"] not in _MILD:
                yield Diagnostic(line.strip(), f"{match['code']}: {match['message']}")
        else:
            match = next((found for shape in _SHAPES if (found := shape.match(line))), None)
            if match is not None and not _is_mild(match["message"]):
                yield Diagnostic(line.strip(), _worded(match))


def _is_mild(message: str) -> bool:
    """Tell what is no error by itself: a warning, or what only counts others."""
    return message.lower().startswith(_MILD) or _SUMMARY.search(message) is not None


def _worded(match: re.Match[str]) -> str:
    found = match.groupdict()
    kind = " ".join((found.get("kind") or "").lower().split())
    head = " ".join(filter(None, (kind, found.get("code"))))
    message = match["message"].strip()
    return f"{head}: {message}" if head else message

"""Tracebacks and error lines as they stand in a program's output.

Used where the agent can't be (`python -I`, a logged exception, another machine's log), and
for the traceback text that workers send to their parent.
"""

from __future__ import annotations

import re

from zeroin.cycle.crash import Crash, Frame, Link, module_of

COMPILED = (".pyx", ".pxd", ".pxi")  # Cython's frames name the source they were built from
START = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s*File "(?P<file>.+?)", line (?P<line>\d+)(?:,? in (?P<name>.+?))?\s*$')
_ERROR = re.compile(
    r"^(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Group|Fault|[A-Z]\w*))"
    r"(?:: (?P<message>.*))?$"
)
_GROUP = "  + Exception Group Traceback (most recent call last):"
_LINKS = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_MARGIN = re.compile(r"^\s*[|+] ?(?:-+ ?\d* ?-*)?")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_STDLIB = re.compile(r"/lib(?:64)?/python\d|^<frozen")


def plain(text: str) -> str:
    """Without colours, and with progress bars' overwritten lines gone."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines)


def owner_of(file: str) -> str:
    """Whose file is it, by its path alone."""
    if "/site-packages/" in file or "/dist-packages/" in file or file.endswith(COMPILED):
        return "package"
    return "stdlib" if _STDLIB.search(file) else "user"


def frames_of(text: str) -> tuple[Frame, ...]:
    """All frames of one printed traceback, outermost first."""
    found: list[Frame] = []
    for line in text.split("\n"):
        match = _FRAME.match(_MARGIN.sub("", line, count=1) if line[:4].strip(" ") else line)
        match = match or _FRAME.match(line)
        if match:
            file = match["file"]
            name = match["name"] or f"<{module_of(file)}>"
            main = not found or found[0].file == file
            found.append(Frame(file, int(match["line"]), name, owner_of(file), main))
    return tuple(found)


def faulthandler_frames(text: str) -> tuple[Frame, ...]:
    """The thread that crashed, from a faulthandler dump, turned to outermost first."""
    block = text.rpartition("Current thread ")[2].split("\n\n")[0].split("\nThread ")[0]
    frames = list(frames_of(block))
    frames.reverse()
    main_file = frames[0].file if frames else ""
    return tuple(f._replace(main=f.file == main_file) for f in frames)


_FATAL = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
    "Bus error": "SIGBUS",
    "Floating": "SIGFPE",
    "Illegal instruction": "SIGILL",
}


def fault(text: str) -> tuple[str, tuple[Frame, ...]] | None:
    """The signal that a Python died of, and its stack, from what faulthandler wrote."""
    _, found, rest = text.rpartition("Fatal Python error: ")
    if not found:
        return None
    name = next((name for words, name in _FATAL.items() if rest.startswith(words)), "a fault")
    return name, faulthandler_frames(text)


def last_crash(text: str) -> Crash | None:
    """The last traceback of an output, with the chain that leads to it."""
    text = plain(text)
    starts = _starts(text)
    if not starts:
        return _syntax_error(text)
    if text.startswith(_GROUP, starts[-1]):
        return _group(text[starts[-1] :])
    blocks = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    chain = tuple(link for link in map(_link, blocks) if link is not None)
    return Crash(chain) if chain else None


def before_last_crash(text: str) -> str:
    """What was printed before the last traceback and the chain that leads to it."""
    starts = _starts(text)
    return text[: starts[0]] if starts else text


def _starts(text: str) -> list[int]:
    """Where the links of the last chain begin."""
    group = text.rfind(_GROUP)
    if group >= 0 and "\n" + START not in text[group:]:
        return [group]
    at = _last_start(text)
    found = [at] if at >= 0 else []
    while found and text[: found[0]].rstrip().endswith(_LINKS):
        at = _last_start(text[: found[0]])
        if at < 0:
            break
        found.insert(0, at)
    return found


def _last_start(text: str) -> int:
    """The last traceback that begins a line: others stand inside of messages."""
    at = text.rfind("\n" + START)
    if at >= 0:
        return at + 1
    return 0 if text.startswith(START) else text.rfind(START)


def _link(block: str) -> Link | None:
    """Read one traceback: its frames, then the first line that names an exception."""
    lines = block.split("\n")
    margin = re.match(r"^\s*\| ?", lines[1]) if len(lines) > 1 else None
    if margin:
        lines = [line[margin.end() :] if line.startswith(margin[0]) else line for line in lines]
    for number, line in enumerate(lines[1:], 1):
        match = None if line.startswith(" ") else _ERROR.match(line)
        if match:
            frames = frames_of("\n".join(lines[:number]))
            return Link(match["type"].rpartition(".")[2], match["message"] or "", frames)
    return None


def _group(block: str) -> Crash | None:
    """An exception group: the members stand in boxes drawn with | and +."""
    lines = block.split("\n")
    errors = [(n, m) for n, line in enumerate(lines) if (m := _ERROR.match(line.lstrip(" |")))]
    if not errors:
        return None
    number, first = errors[0]
    frames = frames_of("\n".join(lines[:number]))
    members = tuple((_plain_link(match),) for _, match in errors[1:])
    return Crash((_plain_link(first)._replace(frames=frames, group=members),))


def _plain_link(match: re.Match[str]) -> Link:
    return Link(match["type"].rpartition(".")[2], match["message"] or "")


def _syntax_error(text: str) -> Crash | None:
    """A script that can't be compiled has a frame and an error, but no "Traceback"."""
    lines = text.rstrip().split("\n")
    match = _ERROR.match(lines[-1])
    if match and match["type"].endswith(("SyntaxError", "IndentationError", "TabError")):
        frames = frames_of("\n".join(lines[-6:]))
        return Crash((Link(match["type"], match["message"] or "", frames[-1:]),))
    return None


_SAYS_ERROR = re.compile(
    r"\b(error|fatal|failed|failure|cannot|can't|could not|couldn't|no such|not found|denied|"
    r"refused|invalid|unknown|missing|abort(ed)?|panic(ked)?|exception|killed|undefined|does not"
    r")\b",
    re.IGNORECASE,
)


_TELLS = re.compile(r"\w")  # more than `^`, which points at something above
# `jq: 2 compile errors`: how many there were says nothing about them.
_COUNT = re.compile(r"^(?:\S+: )?\d+ (?:\w+ )?(?:errors?|problems?)\b", re.IGNORECASE)


def says_error(line: str) -> bool:
    """Tell whether a line speaks of a failure in one word or another."""
    return _SAYS_ERROR.search(line) is not None


def last_error_line(text: str) -> str:
    """The lines that tell most about a failure without a traceback.

    The very last line is often a summary, a hint or an address to look at, so the last one
    that says "error" in some word goes first; and where another such line stands right before
    it ("undefined reference ..., ld returned 1 exit status"), that one tells more.
    """
    lines = [line.strip() for line in plain(text).split("\n")[-60:]]
    lines = [line[:500] for line in lines if line and not _is_only_a_link(line)]
    lines = [line for line in lines if _TELLS.search(line) and not _COUNT.match(line)] or lines
    errors = [number for number, line in enumerate(lines) if says_error(line)]
    if not errors:
        return lines[-1] if lines else ""
    last = errors[-1]
    before = errors[-2] if len(errors) > 1 and last - errors[-2] <= 2 else None
    return lines[last] if before is None else f"{lines[before]}; {lines[last]}"


def last_words(text: str) -> str:
    """The last line of what a program has printed, with the type of a C++ exception before it."""
    lines = [line.strip()[:500] for line in plain(text).split("\n")[-60:] if line.strip()]
    if len(lines) > 1 and lines[-1].startswith("what():"):
        return f"{lines[-2]} {lines[-1]}"
    return lines[-1] if lines else ""


def _is_only_a_link(line: str) -> bool:
    return line.startswith(("http://", "https://")) and " " not in line

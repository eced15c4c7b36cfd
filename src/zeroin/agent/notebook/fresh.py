"""`%zeroin fresh`: all cells in order, in an interpreter that knows nothing of this session."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

from .. import summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .session import Session

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")
LISTED = 20  # differences
LONGEST = 60  # characters of a value


def compare(session: Session, limit: float, say: Callable[[str], None]) -> None:
    """Run in a child, and tell what differs here."""
    cells = cells_of(session)
    if not cells:
        say("no cell has been run since %load_ext zeroin")
        return
    started = time.monotonic()
    answers, ending = _run(cells, limit, session)
    lines = differences(session, cells, answers)
    took = f"{len(answers['cells'])} of {len(cells)} cells in {time.monotonic() - started:.1f} s"
    if ending:
        lines.append(f"{ending}: compared {took}")
    elif lines:
        lines.append(f"fresh run of {took}")
    else:
        lines.append(f"✓ a fresh run gives the same: {took}")
    say("\n".join([*lines, *session.nameless()]))


def cells_of(session: Session) -> list[dict[str, Any]]:
    """In order: those of the notebook's file if it is known, with what was run here last."""
    runs = ordered(session)
    own = [run for run in runs if not is_ours(run.source)]
    cells = [{"key": run.key, "number": run.number, "source": run.source} for run in own]
    if not session.document.read():
        return cells
    places: dict[int, dict[str, Any]] = {}
    loose = []
    for cell in cells:
        at = session.document.place(cell["key"], cell["source"])
        if at is None:
            loose.append(cell)  # not saved yet, or deleted
        else:
            places[at] = cell
    found = []
    for at, (key, source) in enumerate(session.document.cells):
        if at in places:
            found.append(places[at])
        elif source.strip() and not is_ours(source):
            found.append({"key": key, "number": None, "source": source})
    known = session.document.seen
    return found + [cell for cell in loose if cell["key"] not in known]


def ordered(session: Session) -> list[Any]:
    """The last run of each cell: as the notebook has them, else as they were run first."""
    history = session.history
    first = {key: at for at, key in enumerate(history.order)}
    runs = [*history.last.values(), *history.left.values()]
    has_file = session.document.read()

    def place(run: Any) -> tuple[float, int]:
        at = session.document.place(run.key, run.source) if has_file else None
        return (float("inf") if at is None else at, first[run.key])

    return sorted(runs, key=place)


def is_ours(source: str) -> bool:
    """`%load_ext zeroin` and `%zeroin …` are no part of the work."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return bool(lines) and all(
        line.startswith(("%zeroin", "%load_ext zeroin", "%reload_ext zeroin", "#"))
        for line in lines
    )


# --- the child --------------------------------------------------------------------------------


def _run(cells: list[dict[str, Any]], limit: float, session: Session) -> tuple[dict[str, Any], str]:
    """What the child told, and how it ended if that was not by itself."""
    answers: dict[str, Any] = {"cells": {}, "names": None}
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, CHILD, str(writing)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[writing],
        start_new_session=True,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    os.close(writing)
    ending = ""
    try:
        job = {
            "cells": cells,
            "path": sys.path,
            "names": sorted(_variables(session)),
            "has_loop": not session.is_terminal,
            "shell": type(session.shell).__name__,
            "sections": sorted(session.shell.config),
        }
        if process.stdin is not None:
            process.stdin.write(json.dumps(job).encode())
            process.stdin.close()
        ending = _listen(reading, answers, limit)
    except KeyboardInterrupt:
        ending = "interrupted"
    except OSError:
        ending = "the fresh process ended at once"
    finally:
        os.close(reading)
        if process.poll() is None and ending:
            _kill(process.pid)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            _kill(process.pid)
            process.wait()
    if not ending and answers["names"] is None:
        ending = f"the fresh process died with code {process.returncode}"
    return answers, ending


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def _listen(fd: int, answers: dict[str, Any], limit: float) -> str:
    import select

    until = time.monotonic() + limit
    data = b""
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return f"ended after {limit:g} s"
        part = os.read(fd, 1 << 20)
        if not part:
            return ""
        data += part
        *lines, data = data.split(b"\n")
        for line in lines:
            told = json.loads(line)
            if "names" in told:
                answers["names"] = told["names"]
            else:
                answers["cells"][told["at"]] = told


# --- what differs -------------------------------------------------------------------------------


def differences(
    session: Session, cells: list[dict[str, Any]], answers: dict[str, Any]
) -> list[str]:
    """A line for each cell and each variable that is not what a fresh run gives."""
    lines: list[str] = []
    for at, cell in enumerate(cells):
        told = answers["cells"].get(at)
        run = session.history.last.get(cell["key"])
        if told is not None and run is not None and cell["number"] is not None:
            lines += _of_cell(run, told)
        elif told is not None and told["error"]:
            lines.append(f"a cell that was not run here raised {told['error']}")
    if answers["names"] is not None:
        lines += _of_names(_variables(session), answers["names"])
    more = len(lines) - LISTED
    return lines[:LISTED] + ([f"and {more} more"] if more > 0 else [])


def _of_cell(run: Any, told: dict[str, Any]) -> list[str]:
    cell = f"cell [{run.number}]"
    if told["error"] and not run.failed:
        return [f"{cell} worked here and raises {told['error']} fresh"]
    if run.failed and not told["error"]:
        return [f"{cell} raised {run.error} here and works fresh"]
    if run.failed:  # what it printed may hold the traceback, which is never the same
        same = run.error == told["error"]
        return [] if same else [f"{cell} raised {run.error} here, {told['error']} fresh"]
    printed, printed_fresh = _without_times(run.printed), _without_times(told["printed"])
    if printed != printed_fresh:
        here, fresh = _first_difference(printed, printed_fresh)
        return [f"{cell} printed {here} here, {fresh} fresh"]
    if run.result != told["result"]:
        return [f"{cell} gave {_cut(run.result)} here, {_cut(told['result'])} fresh"]
    return []


def _of_names(here: dict[str, str], fresh: dict[str, str]) -> list[str]:
    lines = []
    for name in sorted(here):
        if name not in fresh:
            lines.append(f"{name} is here, and not in a fresh run")
        elif here[name] != fresh[name]:
            lines.append(f"{name} is {_cut(here[name])} here, {_cut(fresh[name])} fresh")
    return lines


def _variables(session: Session) -> dict[str, str]:
    """The session's own values, in one line each; functions, classes and modules are left out."""
    pairs = [
        (name, value)
        for name, value in session._own_names()
        if name[:1] != "_" and is_compared(value)
    ]
    texts = summary.summarise_all(pairs, 1.0)
    return {name: text for (name, _), text in zip(pairs, texts) if is_telling(text)}


def is_compared(value: Any) -> bool:
    """Whether a value says something by its summary."""
    return not isinstance(value, (type, type(sys))) and not callable(value)


def is_telling(text: str) -> bool:
    """Whether a summary is about the value, and not about why there is none."""
    return not text.startswith("<")


def _without_times(text: str) -> str:
    """What `%time` and `%timeit` print is another each time."""
    return "".join(
        line
        for line in text.splitlines(keepends=True)
        if not line.startswith(("CPU times:", "Wall time:", "The slowest run took"))
        and " per loop (mean ± std. dev. of " not in line
    )


def _first_difference(one: str, other: str) -> tuple[str, str]:
    """The first lines that differ."""
    here, fresh = one.splitlines(), other.splitlines()
    for a, b in zip(here, fresh):
        if a != b:
            return _cut(a), _cut(b)
    longer = here if len(here) > len(fresh) else fresh
    at = min(len(here), len(fresh))
    rest = _cut(longer[at]) if at < len(longer) else "other line ends"
    return (rest, "nothing more") if longer is here else ("nothing more", rest)


def _cut(text: Any) -> str:
    if text is None:
        return "nothing"
    text = str(text)
    return (text if len(text) <= LONGEST else text[: LONGEST - 1] + "…") or "an empty line"

"""`files` as text and as JSON."""

from __future__ import annotations

import os

from zeroin.fronts import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.observe.calls.report import Failure, Used
    from zeroin.tools.files import Found
    from zeroin.tools.run import RunReport

OPERATIONS = 17  # columns


def lines(found: Found, paint: Paint, *, opened: bool, written: bool, most: int) -> list[str]:
    """What failed, then what was asked for."""
    out: list[str] = []
    if found.failures:
        out.append(paint("failed, the likeliest first", "bold"))
        for failure in found.failures[:most]:
            out += _failure(failure, paint)
    else:
        out.append(found.remark or "no file, socket or permission failed")
    more = len(found.failures) - most
    about = [f"{more} more: -n {len(found.failures)}"] if more > 0 else []
    if found.hidden:
        about.append(f"{found.hidden} at the start of programs, or found elsewhere: --all")
    if found.lost:
        about.append(f"{found.lost} were too many to keep")
    if about:
        out.append(paint("  " + " · ".join(about), "dim"))
    for asked, title, used in (
        (opened, "opened", found.opened),
        (written, "written", found.written),
    ):
        if asked:
            out += ["", paint(f"{title}, the last first", "bold"), *_used(used)]
    if found.source == "agent":
        out += _without_strace(paint)
    return out


def _failure(failure: Failure, paint: Paint) -> list[str]:
    path = paint(_shown(failure.path) or "(no name)", "bold")
    times = f" × {failure.times}" if failure.times > 1 else ""
    head = f"  {path}: {failure.operation}: {failure.words} ({failure.error}){times}"
    who = f"{_one_line(failure.program)} (pid {failure.pid})"
    where = f"{_shown(failure.place)} · " if failure.place else ""
    when = f"{words.seconds(failure.before_end)} before the end"
    out = [head, f"      {paint(where, 'cyan')}{paint(f'{who} · {when}', 'dim')}"]
    if failure.reason:
        out.append(f"      {_one_line(failure.reason)}")
    return out


def _used(used: list[Used]) -> list[str]:
    return [
        f"  {one.operation:<{OPERATIONS}} {_shown(one.path)}"
        + (f" × {one.times}" if one.times > 1 else "")
        for one in used
    ] or ["  nothing"]


def _without_strace(paint: Paint) -> list[str]:
    from zeroin.observe.machine import fixes

    install = fixes.system_package("strace")
    return [
        paint("  strace is not installed: only what Python programs tell themselves", "yellow"),
        f"  for all processes and the errors of all calls: {install}",
    ]


def _shown(path: str) -> str:
    return _one_line(short(path))


def _one_line(text: str) -> str:
    return words.clean(text).replace("\n", "\\n").replace("\t", "\\t")


def short(path: str) -> str:
    """Below the folder we are in without it, below home with a tilde."""
    try:
        here = os.path.join(os.getcwd(), "")
    except OSError:
        here = ""
    if here and path.startswith(here) and len(path) > len(here):
        return path[len(here) :]
    return words.tilde(path)


def as_json(found: Found, run: RunReport | None) -> dict[str, Any]:
    """One object, with the run's own where there was one."""
    from zeroin.fronts import report_json

    return {
        "schema": report_json.SCHEMA,
        "source": found.source,
        "failures": [
            {**failure._asdict(), "before_end": round(failure.before_end, 6)}
            for failure in found.failures
        ],
        "hidden": found.hidden,
        "opened": [one._asdict() for one in found.opened],
        "written": [one._asdict() for one in found.written],
        "run": report_json.run(run) if run is not None else None,
    }

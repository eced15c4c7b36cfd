"""`%zeroin`: on, off, quiet, status, fresh."""

from __future__ import annotations

import shlex

from .. import amounts
from . import fresh, reset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .session import Session

PATIENCE = 600.0  # seconds
USAGE = """\
%zeroin on              time and memory after each cell that takes some, and warnings
%zeroin quiet           warnings only
%zeroin off             nothing
%zeroin status          all cells: what each used, and which are out of date
%zeroin fresh           run all cells in order in a fresh process, and compare with this session
%zeroin fresh --reset   empty this session and run all cells in it, in order
    --timeout SECONDS   for a fresh run (600)"""


def register(shell: Any, session: Session) -> None:
    """Make the magic known."""

    def zeroin(line: str) -> None:
        run(session, line)

    zeroin.__doc__ = USAGE
    shell.register_magic_function(zeroin, "line", "zeroin")


def run(session: Session, line: str) -> None:
    """Do as told."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = [line]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb in ("on", "off", "quiet") and not rest:
        session.mode = verb
        _say(f"zeroin is {verb}")
    elif verb == "status" and not rest:
        _say("\n".join(status(session)))
    elif verb == "fresh":
        _fresh(session, rest)
    elif not words or verb in ("help", "-h", "--help", "?"):
        _say(f"zeroin is {session.mode}\n{USAGE}")
    else:
        _say(f"%zeroin {line}: there is no such word\n{USAGE}")


def _say(text: str) -> None:
    print(text)


def _fresh(session: Session, rest: list[str]) -> None:
    limit: float | None = None
    here = False
    words = iter(rest)
    for word in words:
        if word == "--reset":
            here = True
        elif word == "--timeout":
            try:
                limit = float(next(words, ""))
            except ValueError:
                _say("%zeroin fresh --timeout: how many seconds?")
                return
        else:
            _say(f"%zeroin fresh {word}: there is no such option\n{USAGE}")
            return
    if here and limit is not None:
        _say("%zeroin fresh --timeout is not for --reset: interrupt the cell instead")
    elif here:
        reset.at_once(session, _say)
    else:
        fresh.compare(session, PATIENCE if limit is None else limit, _say)


def status(session: Session) -> list[str]:
    """A line a cell, in the order of the notebook where that is known."""
    runs = fresh.ordered(session)
    if not runs:
        return ["no cell has been run since %load_ext zeroin"]
    stale = {one.run.key: one for one in session.history.stale()}
    overdue = session.history.overdue()
    lines = ["cell    time    memory     used                      gave"]
    for run in runs:
        cost = session.costs.get(run.number)
        spent = amounts.seconds(cost.seconds) if cost else ""
        grown = amounts.signed_size(cost.grown) if cost else ""
        used = ", ".join(
            f"{name}[{value.run.number}]" for name, value in sorted(run.inputs.items())
        )
        gave = ", ".join(sorted(run.outputs))
        notes = _notes(session, run, stale.get(run.key), overdue.get(run.key, []))
        note = f"  ⚠ {', '.join(notes)}" if notes else ""
        lines.append(
            f"{f'[{run.number}]':<6}{spent:>8}{grown:>10}     {_cut(used, 24):<24}  "
            f"{_cut(gave, 24)}{note}".rstrip()
        )
    return [*lines, *session.nameless()]


def _notes(session: Session, run: Any, stale: Any, overdue: list[Any]) -> list[str]:
    if run.key in session.history.left:
        return ["not run since the session was emptied"]
    notes = []
    if run.failed:
        notes.append("failed")
    if stale is not None:
        now = f"[{stale.now.number}]" if stale.now else ""
        notes.append(f"out of date: {stale.name} was made anew in {now}")
    elif overdue:
        notes.append(f"hangs on [{overdue[-2].number}], which is out of date")
    if run.runs_on_itself & set(run.inputs):
        notes.append("ran on its own result")
    return notes + session.warner.notes(run)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"

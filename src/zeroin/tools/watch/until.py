"""`--until`: when to stop watching."""

from __future__ import annotations

import re

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.sizes import parse_size
from zeroin.tools.watch.outputs import Command
from zeroin.tools.watch.processes import Processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.tools.watch.asked import Source
    from zeroin.tools.watch.things import Panel, Thing

OF_COMMANDS = ("changes", "fails", "passes")
MEASURED = ("memory", "pss", "cpu", "gpu", "used", "free", "threads", "files")
HINT = (
    "'train.py gone', 'train.py there', 'train.py memory > 8G', 'disk:/tmp free < 1G'; "
    "of the command after --: changes, fails, passes"
)
_STATE = re.compile(r"(.+?)\s+(gone|there)")
_MEASURE = re.compile(rf"(.+?)\s+({'|'.join(MEASURED)})\s*([<>])\s*(\S+)")


class Until(NamedTuple):
    """One condition; `what` is "" for the command."""

    text: str
    what: str
    word: str  # gone, there, changes, fails, passes or a measure
    sign: str = ""
    value: float = 0.0


def parse(text: str) -> Until:
    """From how it was written."""
    text = text.strip()
    if text in OF_COMMANDS:
        return Until(text, "", text)
    if match := _STATE.fullmatch(text):
        return Until(text, match[1], match[2])
    if match := _MEASURE.fullmatch(text):
        plain = match[2] in ("cpu", "threads", "files")
        try:
            value = float(match[4].rstrip("%")) if plain else float(parse_size(match[4]))
        except ValueError:
            raise UsageError(f"--until: {match[4]!r} is no number", hint=f"write: {HINT}") from None
        return Until(text, match[1], match[2], match[3], value)
    raise UsageError(f"--until: {text!r} is no condition", hint=f"write: {HINT}")


def check(until: Until, sources: Sequence[Source]) -> None:
    """Whether there can be an answer at all."""
    if not until.what:
        if not any(isinstance(one, Command) for one in sources):
            raise UsageError(
                f"--until {until.text} is about a command, and none is given",
                hint=f"zeroin watch --until {until.text} -- COMMAND",
            )
    elif until.word in ("gone", "there"):
        about = [one for one in sources if one.what == until.what]
        if not all(isinstance(one, Processes) for one in about):
            raise UsageError(f"--until: only processes can be {until.word}", hint=f"write: {HINT}")


def holds(until: Until, sources: Sequence[Source], panels: Sequence[Panel]) -> bool:
    """Whether it is so now."""
    for one, panel in zip(sources, panels, strict=True):
        if isinstance(one, Command) and not until.what and _command(until.word, one):
            return True
        if one.what != until.what:
            continue
        if until.word == "there":
            if panel.number:
                return True
        elif until.word == "gone":
            if isinstance(one, Processes) and one.was_there and not panel.number:
                return True
        elif any(_measure(until, thing) for thing in _asked_of(panel)):
            return True
    return False


def _command(word: str, command: Command) -> bool:
    last = command.repeated.last
    if last is None:
        return False
    if word == "changes":
        return command.changes > 0
    return (last.exit_code == 0) == (word == "passes")


def _asked_of(panel: Panel) -> list[Thing]:
    if panel.total is not None:
        return [panel.total]
    things = [thing for thing in panel.things if not thing.depth]
    return things[:1] if panel.kind in ("disk", "cpu", "memory") else things


def _measure(until: Until, thing: Thing) -> bool:
    value = getattr(thing, until.word)
    if value is None:
        return False
    return bool(value > until.value if until.sign == ">" else value < until.value)

"""One spelling for each option; and what all of them are if none is given, without a parser."""

from __future__ import annotations

from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, Protocol

    from zeroin.tools.reading import Reading

    class Takes(Protocol):
        """What options are told to."""

        def add_argument(self, *names: str, **about: Any) -> Any:
            """As of `argparse`."""


ATTEMPT = "attempt: a number, last, last-failed or last-passed"


class Plain:
    """Takes options as a parser does, and tells what they are if nobody gives any.

    Argparse takes longer to load and to be told of all options than the rest of a short run.
    """

    def __init__(self) -> None:
        self._given: dict[str, Any] = {}

    def add_argument(self, *names: str, **about: Any) -> None:
        """As of a parser."""
        name = next((one for one in names if one.startswith("--")), names[0])
        dest = about.get("dest") or name.lstrip("-").replace("-", "_")
        switches: dict[str, Any] = {"store_true": False, "store_false": True}
        usual = switches.get(about.get("action", ""))
        if not names[0].startswith("-") and about.get("nargs") == "*":
            usual = []
        self._given[dest] = about.get("default", usual)

    def given(self) -> argparse.Namespace:
        """As a parser of nothing gives it."""
        made: argparse.Namespace = _Given()  # type: ignore[assignment]
        vars(made).update(self._given)
        return made


class _Given:
    """Stands in for what argparse would give."""


def begin_shared(parser: Takes) -> int:
    """Remember where options begin that several verbs have; see `end_shared`."""
    return len(getattr(parser, "_actions", ()))


def end_shared(parser: Takes, begun: int, about: str) -> None:
    """Note what the options from there on are `about`: `-h` only names them."""
    shared = getattr(parser, "shared", None)  # those without a parser have none
    if shared is not None:
        known = {id(one) for found in shared.values() for one in found}
        actions = parser._actions[begun:]  # type: ignore[attr-defined]  # noqa: SLF001
        shared[about] = [one for one in actions if id(one) not in known]


def split_command(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and the command after `--`."""
    if "--" in args:
        at = list(args).index("--")
        return list(args[:at]), list(args[at + 1 :])
    return list(args), []


def here() -> str:
    """The current folder, if it still exists."""
    import os

    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UsageError(
            "the folder you are in has been removed", hint="cd to another one"
        ) from None


def open_here() -> Reading:
    """The record of the current folder; one line says so if it does not lie in the project."""
    import os
    import sys

    from zeroin.fronts.words import put, warn
    from zeroin.tools.reading import open_record

    reading = open_record(here(), os.environ, warn)
    place = reading.place
    if place.note:
        hint = f" ({place.hint})" if place.hint else ""
        put(f"zeroin: {place.note}: this is the record in {place.folder}{hint}", sys.stderr)
    return reading


def add_json(parser: Takes, what: str = "one JSON object on stdout") -> None:
    """Give a parser `--json`."""
    parser.add_argument("--json", action="store_true", help=what)

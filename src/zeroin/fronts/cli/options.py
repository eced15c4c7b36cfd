"""One spelling for each option; and what all of them are if none is given, without a parser."""

from __future__ import annotations

from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, Protocol

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


def add_json(parser: Takes, what: str = "one JSON object on stdout") -> None:
    """Give a parser `--json`."""
    parser.add_argument("--json", action="store_true", help=what)

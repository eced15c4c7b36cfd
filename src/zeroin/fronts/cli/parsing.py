"""Parsers: argparse with our errors, and help with examples."""

from __future__ import annotations

import argparse

from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

WIDTH = 100


# No translations: looking for them costs milliseconds at each start.
vars(argparse)["_"] = str


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Argparse asks for one with every option, and measures the terminal each time."""
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH)


class Parser(argparse.ArgumentParser):
    """Argparse with our errors, and the examples as they were written."""

    def __init__(self, verb: str, what: str, usage: str, examples: str) -> None:
        super().__init__(
            prog=f"zeroin {verb}",
            usage=f"zeroin {verb} {usage}",
            description=what,
            epilog="examples:\n" + examples.rstrip("\n"),
            formatter_class=_formatter,
            allow_abbrev=False,
        )
        self.verb = verb

    def error(self, message: str) -> NoReturn:
        """Argparse prints and exits; we have one place for both."""
        if message.startswith("unrecognized arguments: --at"):
            raise UsageError(
                f"zeroin {self.verb} has no --at: probes go with a plain run",
                hint="zeroin run --at train.py:41 peek=x -- python train.py",
            )
        raise UsageError(message, hint=f"see: zeroin {self.verb} --help")


def regex(text: str) -> str:
    """For `type=`: a regular expression, as it was given."""
    import re

    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {error}") from None
    return text

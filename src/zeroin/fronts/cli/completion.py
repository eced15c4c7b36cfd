"""`zeroin completion`."""

from __future__ import annotations

import sys
from importlib import import_module

from zeroin.fronts.cli import VERBS
from zeroin.fronts.cli.options import Parser
from zeroin.fronts.completion import script, verbs_of

EXAMPLES = """\
  zeroin completion bash      the first lines of what it prints say where to put it
  zeroin completion zsh
  zeroin completion fish
"""


def parser() -> Parser:
    """All options of `completion`."""
    p = Parser(
        "completion",
        "Print completions. They are static: no Python runs when your shell starts or completes.",
        "bash|zsh|fish",
        EXAMPLES,
    )
    p.add_argument("shell", choices=("bash", "zsh", "fish"))
    return p


def main(args: list[str]) -> int:
    """Print."""
    given = parser().parse_args(args)
    parsers = {name: import_module(f"zeroin.fronts.cli.{name}").parser() for name in VERBS}
    sys.stdout.write(script(given.shell, verbs_of(parsers)))
    return 0

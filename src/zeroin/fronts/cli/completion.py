"""`zeroin completion`."""

from __future__ import annotations

import sys
from importlib import import_module

from zeroin.fronts.cli import VERBS
from zeroin.fronts.cli.parsing import Parser
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
    modules = {name: import_module(f"zeroin.fronts.cli.{name}") for name in VERBS}
    verbs = verbs_of({name: module.parser() for name, module in modules.items()})
    for name, module in modules.items():
        axes = {one: module.axis(one).parser() for one in getattr(module, "AXES", ())}
        for axis in verbs_of(axes).values():
            known = {option.flags for option in verbs[name].options}
            verbs[name].options.extend(one for one in axis.options if one.flags not in known)
    sys.stdout.write(script(given.shell, verbs))
    return 0

"""`zeroin which`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import NO, OK, UsageError
from zeroin.fronts import which_text
from zeroin.fronts.cli.options import add_json, here, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.words import Paint, put, put_json
from zeroin.tools.sizes import parse_seconds

NEEDS_COMMAND = False
EXAMPLES = """\
  zeroin which transformers                which file, which version, which other copies
  zeroin which src/shop/cart.py            is the file that I edit the one that runs?
  zeroin which shop.cart.Cart              the classes behind it, who overrides whom
  zeroin which torch.nn.Linear.forward     which definition is called
  zeroin which pytest                      which Python that command is of
  zeroin which shop.cart.Cart.total -- pytest -x      does the command get there, and how?
"""


def parser() -> Parser:
    """All options of `which`."""
    p = Parser(
        "which",
        "Am I editing the right file and the right class? Names the file that a Python, or a\n"
        "command, really loads, and every other copy of it. NAME is a module, class, method,\n"
        "function, file (with :LINE or without) or console command. Exit code 1 when the file\n"
        "that you would edit is not the one that is loaded, or is never reached.",
        "[options] NAME [-- COMMAND ...]",
        EXAMPLES,
    )
    p.add_argument("name", metavar="NAME", help="pkg, pkg.mod.Class, pkg.mod:f, src/pkg/mod.py:41")
    p.add_argument("--python", metavar="PY", help="ask this interpreter, or environment folder")
    p.add_argument("--no-stop", action="store_true", help="with a command: let it run to its end")
    p.add_argument("--timeout", metavar="TIME", help="for the import (1m), or for the command")
    p.add_argument("--all", action="store_true", help="all copies, classes and frames")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Ask, or run; then say."""
    own, command = split_command(args)
    given = parser().parse_args(own)
    if given.no_stop and not command:
        raise UsageError("--no-stop goes with a command", hint="zeroin which NAME --no-stop -- CMD")
    seconds = parse_seconds(given.timeout) if given.timeout else None
    cwd = here()
    if command:
        from zeroin.tools.which.proven import Running, proven

        running = Running(tuple(command), stop=not given.no_stop, timeout=seconds)
        found = proven(given.name, cwd, os.environ, running, python=given.python)
    else:
        from zeroin.tools.which import SECONDS, which

        found = which(given.name, cwd, os.environ, python=given.python, seconds=seconds or SECONDS)
    if given.json:
        put_json(which_text.as_json(found))
    else:
        for line in which_text.lines(found, Paint(sys.stdout), everything=given.all):
            put(line)
    return NO if found.verdict == "no" else OK

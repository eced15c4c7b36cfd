"""`zeroin again`."""

from __future__ import annotations

import os

from zeroin.fronts.cli.options import ATTEMPT, open_here
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.cli.run import add_run_options, end_like, options_of, tell
from zeroin.tools.again import again

EXAMPLES = """\
  zeroin again 13              same command, environment and folder; the code as it is now
  zeroin again 13 --code       with that attempt's code, checked out beside; your files stay
  zeroin again last --pdb      once more, with the debugger at the failing frame
"""


def parser() -> Parser:
    """All options of `again`."""
    p = Parser("again", "Run an earlier attempt once more.", "[ATTEMPT] [options]", EXAMPLES)
    p.add_argument("attempt", nargs="?", default="last", help=ATTEMPT)
    p.add_argument("--code", action="store_true", help="with the code of that attempt as well")
    add_run_options(p)
    return p


def main(args: list[str]) -> int:
    """Run it again."""
    given = parser().parse_args(args)
    with open_here() as reading:
        report = again(reading, given.attempt, options_of(given), os.environ, code=given.code)
    tell(report, given)
    return end_like(report)

"""`zeroin limit`: the short form of `run --limit`."""

from __future__ import annotations

from zeroin.errors import UsageError
from zeroin.fronts.cli import at
from zeroin.fronts.cli import run as cli_run
from zeroin.fronts.cli.options import split_command
from zeroin.fronts.cli.parsing import Parser

EXAMPLES = """\
  zeroin limit memory=2G -- python train.py
  zeroin limit memory=90% -- python train.py             of the peak of the last passing attempt
  zeroin limit disk=/data:50M -- python export.py
  zeroin limit disk=out:5M inodes=out:100 --keep /tmp/written -- python export.py
  zeroin limit files=64 processes=20 -- python serve.py
  zeroin limit network=off -- pytest -x tests/test_api.py
"""


def parser() -> Parser:
    """All options of `limit`."""
    p = Parser(
        "limit",
        "Run one command with a lack of something, as `run --limit` does. Nothing is really\n"
        "filled or taken from others, no root is needed, and nothing is left afterwards.",
        "NAME=VALUE ... [options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("limits", nargs="*", metavar="NAME=VALUE", help=cli_run.usages())
    cli_run.add_cycle_options(p)
    cli_run.add_repeat_options(p)
    cli_run.add_pause_option(p)
    at.add_option(p)
    cli_run.add_run_options(p)
    return p


def main(args: list[str]) -> int:
    """Read the limits, then do as `run` does."""
    own, command = split_command(args)
    given = parser().parse_args(own)
    if not command:
        raise UsageError("which command?", hint="zeroin limit memory=2G -- python train.py")
    given.limit += given.limits
    if not given.limit:
        raise UsageError("which limit?", hint="zeroin limit memory=2G -- python train.py")
    return cli_run.run_as_given(given, command)

"""`zeroin bisect attempts`."""

from __future__ import annotations

import os

from zeroin.errors import UsageError
from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.options import ATTEMPT
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.attempts import bisect_attempts
from zeroin.tools.reading import open_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "change"
NEEDS_COMMAND = False
EXAMPLES = """\
  zeroin bisect attempts                  what broke it since it last worked?
  zeroin bisect attempts 12 13            one of them worked, the other failed
  zeroin bisect attempts 12 13 --patch broke.diff && git apply -R broke.diff
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect attempts",
        "Of all that differed between an attempt that worked and one that failed, name what broke\n"
        "it: lines of code, variables, arguments, settings, packages. Both are run again first,\n"
        "with the code and the packages that they had; then with some of the changes, several\n"
        "tries at once. Data that git ignores is as it is now.",
        "[A B] [options]",
        EXAMPLES,
    )
    add = p.add_argument
    add("old", nargs="?", default="last-passed", metavar="A", help=ATTEMPT)
    add("new", nargs="?", default="last-failed", metavar="B", help=ATTEMPT)
    add("--patch", metavar="FILE", default="", help="write the code that broke it as a patch")
    add_options(p)
    return p


def search(
    given: argparse.Namespace,
    cycle: Cycle,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it."""
    if cycle.command:
        raise UsageError("attempts have their own command", hint="leave out what is after --")
    with open_record(cycle.cwd, environ) as reading:
        names = (given.old, given.new)
        report = bisect_attempts(reading, names, cycle, options, environ, teller)
    if given.patch and report.verdict == "found":
        try:
            with open(given.patch, "w", encoding="utf-8") as file:
                file.write(report.about["patch"])
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise UsageError(f"--patch {given.patch}: {why}") from None
    return report

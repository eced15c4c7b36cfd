"""`zeroin bisect commits`."""

from __future__ import annotations

import os

from zeroin.errors import UsageError
from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.commits import CommitOptions, bisect_commits

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "commit"
EXAMPLES = """\
  zeroin bisect commits v4.33.0 HEAD -- python repro.py
  zeroin bisect commits -- pytest -x tests/test_api.py       look for a good one first
  zeroin bisect commits 2026-01-31 --path src -- ./check.sh  the good one is of that date
  zeroin bisect commits ==2.1.0 --fixed -- python repro.py   which commit repaired it?
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect commits",
        "Name the commit that broke it. Each try sees the commit in the place of your repository,\n"
        "with what is not committed (scripts, data, environments) as it is. A commit is what git\n"
        "calls one, a date, or ==VERSION for the tag of a release. Without GOOD, one is searched,\n"
        "further and further back.",
        "[GOOD [BAD]] [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add("good", nargs="?", default="", metavar="GOOD", help="where it worked")
    add("bad", nargs="?", default="HEAD", metavar="BAD", help="where it fails (HEAD)")
    add("--fixed", action="store_true", help="look for what repaired it: GOOD fails, BAD works")
    add("--repo", metavar="PATH", default="", help="the repository, if it is not the one here")
    add("--path", action="append", default=[], help="only commits that touch this")
    add("--first-parent", action="store_true", help="don't look into what a merge brought in")
    add("--build", metavar="CMD", default="", help="shell line that builds a commit")
    add("--editable", action="store_true", help="install what each commit requires, and itself")
    add(
        "--with",
        action="append",
        default=[],
        dest="also",
        metavar="REQUIREMENT",
        help="install this as well, with --editable",
    )
    add("--log", metavar="FILE", default="", help="write what `git bisect replay` takes")
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
    wanted = CommitOptions(
        given.good,
        given.bad,
        given.repo,
        tuple(given.path),
        given.first_parent,
        given.build,
        given.editable or bool(given.also),
        tuple(given.also),
    )
    report = bisect_commits(cycle, wanted, options, environ, teller)
    if given.log:
        try:
            with open(given.log, "w", encoding="utf-8") as file:
                file.write(report.about["log"])
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise UsageError(f"--log {given.log}: {why}") from None
    return report

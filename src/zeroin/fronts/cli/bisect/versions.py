"""`zeroin bisect versions`."""

from __future__ import annotations

from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.versions import VersionOptions, bisect_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "release"
EXAMPLES = """\
  zeroin bisect versions pandas -- python report.py
  zeroin bisect versions urllib3 --good 1.26.9 --bad 2.2.3 -- pytest -x tests/test_http.py
  zeroin bisect versions numpy --with 'pandas<3' -- python report.py
  zeroin bisect versions click --good 8.1.7 --fixed -- python repro.py   which one repaired it?
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect versions",
        "Name the release of a package that broke it. Each try has an environment like the one\n"
        "that the command would use, with all its packages but for PACKAGE, and what has to move\n"
        "with it; yours stays as it is. Releases are those of the index that uv or pip is set to,\n"
        "yanked ones as well. Without --good, one is searched, further and further back.",
        "PACKAGE [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add("package", metavar="PACKAGE", help="as pip install takes it")
    add("--good", metavar="VERSION", default="", help="where it worked")
    add("--bad", metavar="VERSION", default="", help="where it fails (what is installed)")
    add("--fixed", action="store_true", help="look for what repaired it: the old one fails")
    add(
        "--with",
        dest="also",
        metavar="REQUIREMENT",
        action="append",
        default=[],
        help="what every try has as well, such as 'numpy<2'",
    )
    add("--python", metavar="PATH", default="", help="a Python or an environment to go out from")
    add("--to-commit", action="store_true", help="go on to the commit in its repository")
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
    wanted = VersionOptions(
        given.package, given.good, given.bad, tuple(given.also), given.python, given.to_commit
    )
    return bisect_versions(cycle, wanted, options, environ, teller)

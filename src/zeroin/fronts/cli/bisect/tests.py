"""`zeroin bisect tests`."""

from __future__ import annotations

from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.tests import bisect_tests

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "test"
NEEDS_COMMAND = False
EXAMPLES = """\
  zeroin bisect tests tests/test_api.py::test_login
  zeroin bisect tests 'tests/test_a.py::test_b[x-1]' -- python -m pytest tests -m 'not slow'
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect tests",
        "Name the tests that make another one fail when they run before it; or, if it fails\n"
        "alone and works behind others, the ones that it needs. pytest says which tests there are\n"
        "and in which order; nothing has to be installed. What they write here vanishes.",
        "TEST [options] [-- pytest ...]",
        EXAMPLES,
    )
    p.add_argument("test", metavar="TEST", help="as pytest calls it: file.py::test_name")
    add_options(p)
    return p


def search(
    given: argparse.Namespace,
    cycle: Cycle,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find them."""
    if not cycle.command:
        cycle = cycle._replace(command=("pytest",))
    return bisect_tests(cycle, given.test, options, environ, teller)

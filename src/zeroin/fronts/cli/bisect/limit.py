"""`zeroin bisect limit`."""

from __future__ import annotations

from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.limit import bisect_limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "value"
EXAMPLES = """\
  zeroin bisect limit memory 100M 4G -- python train.py
  zeroin bisect limit disk=/data 1M 2G -- python export.py
  zeroin bisect limit files 8 1024 -- pytest -x tests/test_api.py
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect limit",
        "Name the smallest value of a limit with which it still works. With HIGH it has to work,\n"
        "with LOW to fail, in whatever way. What a try changes in your project is thrown away.",
        "NAME LOW HIGH [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add("name", metavar="NAME", help="memory, disk=PATH, inodes=PATH, files, processes, shm, ...")
    add("low", metavar="LOW", help="with this it fails")
    add("high", metavar="HIGH", help="with this it works")
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
    return bisect_limit(cycle, given.name, (given.low, given.high), options, environ, teller)

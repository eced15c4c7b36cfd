"""`zeroin bisect data`."""

from __future__ import annotations

from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.data import bisect_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "row"
EXAMPLES = """\
  zeroin bisect data monday.csv tuesday.csv -- python load.py tuesday.csv
  zeroin bisect data old.jsonl new.jsonl --at data/train.jsonl -- python train.py
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect data",
        "Name the rows that break it: of two versions of a file (CSV, TSV, JSON Lines, a list in\n"
        "JSON, lines of text) GOOD works and BAD fails. In each try the file that the command\n"
        "names, or both if it names none, holds GOOD with some of the rows that came, went or\n"
        "changed. Your files stay as they are.",
        "GOOD BAD [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add("good", metavar="GOOD", help="with this it works")
    add("bad", metavar="BAD", help="with this it fails")
    add("--at", metavar="PATH", default="", help="the file that the command reads, if another")
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
    return bisect_data(cycle, (given.good, given.bad), given.at, options, environ, teller)

"""`zeroin gc`."""

from __future__ import annotations

import json
import os

from zeroin.fronts import words
from zeroin.fronts.cli.options import add_json, here
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools import config
from zeroin.tools.gc import collect
from zeroin.tools.reading import open_record
from zeroin.tools.sizes import parse_size

EXAMPLES = """\
  zeroin gc                  down to the bound of the settings (store_max, 1 GiB by default)
  zeroin gc --to 100M        the oldest attempts go first; the last 20 always stay
"""


def parser() -> Parser:
    """All options of `gc`."""
    p = Parser("gc", "Keep the record below a size.", "[options]", EXAMPLES)
    p.add_argument("--to", metavar="SIZE", help="how large it may be: 100M, 2GiB")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Collect."""
    given = parser().parse_args(args)
    with open_record(here(), os.environ) as reading:
        bound = config.load(reading.place.root, os.environ).store_max
        report = collect(
            reading.store, reading.shadow(), parse_size(given.to) if given.to else bound
        )
    if given.json:
        words.put(json.dumps({"schema": 1, **report._asdict()}))
    elif report.removed:
        words.put(
            f"took {len(report.removed)} attempts ({words.numbers(report.removed)}): "
            f"{words.size(report.before)} → {words.size(report.after)}"
        )
    else:
        words.put(f"nothing to take: the record holds {words.size(report.after)}")
    return 0

"""`zeroin tiny`."""

from __future__ import annotations

import json

from zeroin.fronts.cli.options import Parser, add_json
from zeroin.fronts.shrink_text import counted
from zeroin.fronts.words import put, size
from zeroin.tools.tiny import data

EXAMPLES = """\
  zeroin tiny data train.jsonl -n 100              rows that show every kind of value
  zeroin tiny data train.csv -n 100 --random --seed 1
  zeroin tiny data train.csv.gz -n 10 --first -o ten.csv
"""


def parser() -> Parser:
    """All options of `tiny`."""
    p = Parser(
        "tiny",
        "Make a small file of a large one, to debug with. The rows are chosen so that every kind\n"
        "of value is seen: types, nulls, empty and longest texts, extremes, each category. The\n"
        "file is read once, and never held.",
        "data FILE [options]",
        EXAMPLES,
    )
    p.add_argument("what", choices=["data"], help="what to make small")
    p.add_argument("file", help="JSON Lines, CSV, a JSON list, or lines; also with .gz")
    p.add_argument("-n", type=int, default=100, metavar="N", dest="count", help="rows (100)")
    how = p.add_mutually_exclusive_group()
    how.add_argument("--first", action="store_true", help="the first ones")
    how.add_argument("--random", action="store_true", help="random ones")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="for --random (0)")
    p.add_argument("--out", "-o", metavar="PATH", default="", help="where it goes")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Choose, write, say so."""
    given = parser().parse_args(args)
    how = "first" if given.first else "random" if given.random else "covering"
    report = data(given.file, given.count, how, given.seed, given.out)
    if given.json:
        put(json.dumps({"schema": 1, **report._asdict()}))
        return 0
    kinds = f" · {report.shown:,} of {report.kinds:,} kinds of values" if report.kinds else ""
    put(
        f"{report.result}  {counted(report.rows, 'row')} of {report.seen:,}  "
        f"{size(report.size)}{kinds}"
    )
    return 0

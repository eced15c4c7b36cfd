"""`zeroin tiny`."""

from __future__ import annotations

from zeroin.fronts.cli.options import add_json
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.shrink_text import counted
from zeroin.fronts.words import put, put_json, size
from zeroin.tools.folders import own_temporaries
from zeroin.tools.tiny import Ask, data

EXAMPLES = """\
  zeroin tiny data train.jsonl -n 100              rows that show every kind of value
  zeroin tiny data train.csv -n 100 --random --seed 1
  zeroin tiny data train.csv.gz -n 10 --first -o ten.csv
  zeroin tiny data images/ -n 20                   files of every kind, to images.tiny/
  zeroin tiny data train.parquet --python .venv/bin/python
"""


def parser() -> Parser:
    """All options of `tiny`."""
    p = Parser(
        "tiny",
        "Make a small file of a large one, to debug with. The rows are chosen so that every kind\n"
        "of value is seen: types, nulls, empty and longest texts, extremes, each category. The\n"
        "file is read once, and rows that are not needed are not held.",
        "data FILE [options]",
        EXAMPLES,
    )
    p.add_argument("what", choices=["data"], help="what to make small")
    p.add_argument(
        "file",
        help="lines, CSV, JSON Lines, JSON, YAML, TOML, XML, HTML, .npy, .npz, safetensors, "
        "Parquet, Arrow, .pt, zip, tar, a folder; text and arrays also with .gz, .bz2, .xz or .zst",
    )
    p.add_argument("-n", type=int, default=100, metavar="N", dest="count", help="rows (100)")
    how = p.add_mutually_exclusive_group()
    how.add_argument("--first", action="store_true", help="the first ones")
    how.add_argument("--random", action="store_true", help="random ones")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="for --random (0)")
    p.add_argument("--out", "-o", metavar="PATH", default="", help="where it goes")
    p.add_argument(
        "--python",
        metavar="PATH",
        default="",
        help="the interpreter that reads Parquet, Arrow and .pt (of the active environment)",
    )
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Choose, write, say so."""
    given = parser().parse_args(args)
    how = "first" if given.first else "random" if given.random else "covering"
    ask = Ask(given.count, how, given.seed)
    with own_temporaries("zeroin-tiny-"):
        report = data(given.file, ask, given.out, given.python)
    if given.json:
        put_json({"schema": 1, **report._asdict()})
        return 0
    kinds = f" · {report.shown:,} of {report.kinds:,} kinds of values" if report.kinds else ""
    rows = counted(report.rows, report.noun)
    told = f"the first {rows}" if given.first else f"{rows} of {report.seen:,}"
    put(f"{report.result}  {told}  {size(report.size)}{kinds}")
    return 0

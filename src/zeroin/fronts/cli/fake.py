"""`zeroin fake`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import UsageError
from zeroin.fronts.cli.options import Parser
from zeroin.tools.tiny import fake

EXAMPLES = """\
  zeroin fake 'id:int,name:str,tags:[str],at:{x:float}' -n 3
  zeroin fake --like train.csv -n 10 -o fake.csv     the same fields, values that count
  zeroin fake 'float32[2,3]'                         an array: [[1.0, 2.0, 3.0], ...
  zeroin fake 'int64[100,8]' --random --seed 1 -o ids.npy
"""


def parser() -> Parser:
    """All options of `fake`."""
    p = Parser(
        "fake",
        "Make up data of a schema. The values count, so that each says where it stands; or they\n"
        "are random, by a seed.",
        "SPEC | --like FILE [options]",
        EXAMPLES,
    )
    p.add_argument("spec", nargs="?", default="", help="fields, or the kind and shape of an array")
    p.add_argument("--like", metavar="FILE", default="", help="with the fields of this file")
    p.add_argument("-n", type=int, default=10, metavar="N", dest="count", help="rows (10)")
    p.add_argument("--random", action="store_true", help="random values")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="for --random (0)")
    p.add_argument(
        "--out", "-o", metavar="PATH", default="", help="where it goes (stdout); .csv, .jsonl, .npy"
    )
    return p


def main(args: list[str]) -> int:
    """Make it up."""
    given = parser().parse_args(args)
    if bool(given.spec) == bool(given.like):
        raise UsageError("a schema or --like FILE", hint="zeroin fake 'id:int,name:str'")
    end = os.path.splitext(given.out or given.like)[1]
    kind = {".csv": "csv", ".npy": "npy"}.get(end, "jsonl")
    seed = given.seed if given.random else None
    made = fake(given.spec, given.like, given.count, seed, kind)
    if not given.out:
        sys.stdout.buffer.write(made)
        return 0
    try:
        with open(given.out, "wb") as file:
            file.write(made)
    except OSError as error:
        raise UsageError(f"{given.out}: {os.strerror(error.errno or 0).lower()}") from None
    return 0

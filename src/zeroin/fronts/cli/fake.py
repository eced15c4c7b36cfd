"""`zeroin fake`."""

from __future__ import annotations

import os

from zeroin.errors import UsageError
from zeroin.fronts import words
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.fake import Fake, fake
from zeroin.tools.folders import own_temporaries

EXAMPLES = """\
  zeroin fake 'id:int,name:str,tags:[str],at:{x:float}' -n 3
  zeroin fake --like train.csv -n 10 -o fake.csv     the same fields, values that count
  zeroin fake 'float32[2,3]'                         an array: [[1.0, 2.0, 3.0], ...
  zeroin fake 'int64[100,8]' --random --seed 1 -o ids.npy
  zeroin fake 'x:float32[8,3],y:int64[8]' -o batch.npz
  zeroin fake --like model.safetensors -n 4 -o fake.safetensors
  zeroin fake --like train.parquet -o fake.parquet --python .venv/bin/python
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
    p.add_argument(
        "spec", nargs="?", default="", help="fields, or the kind and shape of one or more arrays"
    )
    p.add_argument(
        "--like", metavar="FILE", default="", help="with the fields or arrays of this file"
    )
    p.add_argument("-n", type=int, default=10, metavar="N", dest="count", help="rows (10)")
    p.add_argument("--random", action="store_true", help="random values")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="for --random (0)")
    p.add_argument(
        "--out",
        "-o",
        metavar="PATH",
        default="",
        help="where it goes (stdout); .jsonl, .json, .csv, .tsv, .npy, .npz, .safetensors, "
        ".parquet, .arrow, .pt; text and arrays also with .gz, .bz2, .xz or .zst",
    )
    p.add_argument(
        "--python",
        metavar="PATH",
        default="",
        help="the interpreter for Parquet, Arrow and .pt (of the active environment)",
    )
    return p


def main(args: list[str]) -> int:
    """Make it up."""
    given = parser().parse_args(args)
    if bool(given.spec) == bool(given.like):
        raise UsageError("a schema or --like FILE", hint="zeroin fake 'id:int,name:str'")
    if given.spec and os.path.isfile(given.spec):
        raise UsageError(
            f"{given.spec} is a file, and no schema", hint=f"zeroin fake --like {given.spec}"
        )
    seed = given.seed if given.random else None
    out = "" if given.out == "-" else given.out  # that is where it goes anyway
    asked = Fake(given.spec, given.like, given.count, seed, out, given.python)
    with own_temporaries("zeroin-fake-"):
        made = fake(asked, os.environ)
    if made is not None:
        words.put_bytes(made)
    return 0

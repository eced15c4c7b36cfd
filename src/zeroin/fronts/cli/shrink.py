"""`zeroin shrink`."""

from __future__ import annotations

import itertools
import os
import sys

from zeroin.cycle.signature import Strength
from zeroin.errors import INTERRUPTED, NO, OK, UsageError
from zeroin.fronts import shrink_text
from zeroin.fronts.cli import run as cli_run
from zeroin.fronts.cli.options import add_json, split_command
from zeroin.fronts.cli.parsing import Parser, regex
from zeroin.tools.shrink import shrink
from zeroin.tools.shrink.report import ShrinkOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from zeroin.tools.shrink.report import ShrinkReport

EXAMPLES = """\
  zeroin shrink train.jsonl -- python train.py --data train.jsonl
  zeroin shrink config.yaml data.csv -- python train.py --cfg config.yaml
  zeroin shrink script.py -- python script.py          a small script that fails the same way
  zeroin shrink src/ -- pytest -x tests/test_api.py    a folder: files, then what is in them
  zeroin shrink --args -- python train.py --lr 1 --epochs 9    which arguments matter?
  zeroin shrink --interesting ./check.sh input.xml     as other reducers have it
"""


def parser() -> Parser:
    """All options of `shrink`."""
    p = Parser(
        "shrink",
        "Find the smallest payload with which a command still fails the same way. Each try runs\n"
        "in a folder of its own: your files stay as they are, and what is found is written beside\n"
        "them. After Ctrl-C the same command goes on where it was.",
        "PAYLOAD ... [options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("paths", nargs="*", metavar="PAYLOAD", help="files and folders to make smaller")
    p.add_argument(
        "--match", type=regex, metavar="REGEX", default="", help="the failure is what says this"
    )
    p.add_argument("--exit", type=int, metavar="N", help="the failure is this exit code")
    same = p.add_mutually_exclusive_group()
    same.add_argument("--loose", action="store_true", help="any failure of the same kind will do")
    same.add_argument("--strict", action="store_true", help="to the last word of the message")
    p.add_argument(
        "--interesting", metavar="SCRIPT", default="", help="a script that ends with 0 if it fails"
    )
    p.add_argument(
        "--inline", action="store_true", help="fold the script's own modules into it as well"
    )
    p.add_argument("--args", action="store_true", help="leave out arguments of the command as well")
    p.add_argument(
        "--variables",
        action="store_true",
        help="leave out variables as well; --env without K=V means the same",
    )
    p.add_argument(
        "--out",
        "-o",
        metavar="PATH",
        default="",
        help="where the result goes; a folder, if there are several",
    )
    p.add_argument("--jobs", "-j", type=int, metavar="N", help="tries at once (one a processor)")
    p.add_argument("--cold", action="store_true", help="run each try from its beginning")
    p.add_argument("--fresh", action="store_true", help="forget what an earlier search found out")
    cli_run.add_cycle_options(p)
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Shrink, and say what is left."""
    own, command = split_command(args)
    given = parser().parse_args(list(_plain(own)))
    options = _options(given)
    if not command and not options.interesting:
        raise UsageError("which command?", hint="zeroin shrink data.json -- python train.py")
    cycle = cli_run.cycle_of(given, command or [options.interesting])
    teller = shrink_text.Teller(sys.stderr, quiet=given.json)
    report = shrink(cycle, options, os.environ, teller)
    teller.close()
    if given.json:
        shrink_text.put_json(report)
    else:
        shrink_text.put_report(report)
    return _code(report)


def _plain(words: list[str]) -> Iterator[str]:
    """`--env` that sets no variable, beside `--args`: which of them matter?"""
    for word, following in itertools.zip_longest(words, words[1:], fillvalue="-"):
        yield "--variables" if word == "--env" and following.startswith("-") else word


def _options(given: argparse.Namespace) -> ShrinkOptions:
    if not given.paths and not given.args and not given.variables:
        raise UsageError("which payload?", hint="zeroin shrink data.json -- python train.py")
    if given.jobs is not None and given.jobs < 1:
        raise UsageError(f"-j {given.jobs}: at least one try at once")
    strength = Strength.NORMAL
    if given.loose or given.strict:
        strength = Strength.LOOSE if given.loose else Strength.STRICT
    return ShrinkOptions(
        tuple(given.paths),
        strength,
        given.match,
        given.exit,
        os.path.abspath(given.interesting) if given.interesting else "",
        given.inline,
        given.args,
        given.variables,
        given.jobs or os.cpu_count() or 1,
        given.cold,
        given.fresh,
        out=given.out,
    )


def _code(report: ShrinkReport) -> int:
    if report.verdict == "interrupted":
        return INTERRUPTED
    return OK if report.verdict == "found" and report.confirmed else NO

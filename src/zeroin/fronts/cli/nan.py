"""`zeroin nan`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import UNTESTABLE, UsageError
from zeroin.fronts import nan_text
from zeroin.fronts.cli.options import add_json, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.cli.run import add_cycle_options, cycle_of, end_like, without_dashes
from zeroin.fronts.words import Paint, put, put_json
from zeroin.tools.run import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.tools.nan import NanReport

EXAMPLES = """\
  zeroin nan -- python train.py              which line made the loss NaN?
  zeroin nan --seed 1 -- python train.py     the same numbers each time
  zeroin nan --after 900 -- python train.py  full speed for 900 steps, then look
  zeroin nan --go-on -- python train.py      don't end it at the first
  zeroin nan --inf -- python predict.py      also inf that never turns into NaN
  zeroin nan -- torchrun --nproc-per-node 2 train.py
"""


def parser() -> Parser:
    """All options of `nan`."""
    p = Parser(
        "nan",
        "The first operation that made NaN or inf which mattered: in the forward pass, the\n"
        "backward pass or the optimizer, with its inputs, the line, the module and the reason.\n"
        "For torch, with nothing changed in the program; what numpy and jax say themselves is\n"
        "placed, too. The program is ended there. Exit code: 1 if there was one, 0 if all was\n"
        "finite, the command's own if that failed, 125 if nothing could be looked at.",
        "[options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("--inf", action="store_true", help="also inf that leads to nothing")
    p.add_argument("--go-on", action="store_true", help="let the program run to its end")
    p.add_argument(
        "--all", action="store_true", help="list what was made and discarded, too; goes on"
    )
    p.add_argument(
        "--after", type=int, default=0, metavar="N", help="look only after N optimizer steps"
    )
    add_cycle_options(p)
    add_json(p)
    p.add_argument("command", nargs="*", help="what to run, after --")
    return p


def main(args: list[str]) -> int:
    """Run, report."""
    own, command = split_command(args)
    if not command:
        own, command = without_dashes(own, parser())
    given = parser().parse_args(own)
    command = command or given.command
    if not command:
        raise UsageError("which command?", hint="zeroin nan -- python train.py")
    if given.after < 0:
        raise UsageError("--after takes a number from 0 on")
    from zeroin.tools.nan import Wanted, nan

    # To look is no attempt, and what is ended here did not fail by itself; but what --restore
    # puts back is kept in the record.
    options = Options(record=bool(given.restore), targets=(2, 2) if given.json else (1, 2))
    wanted = Wanted(given.inf, given.go_on or given.all, given.after)
    report = nan(cycle_of(given, command), options, os.environ, wanted)
    if given.json:
        put_json(nan_text.as_json(report))
    else:
        again = [*own, "--", *command]
        for line in nan_text.lines(report, Paint(sys.stderr), again, everything=given.all):
            put(line, sys.stderr)
    return _code(report)


def _code(report: NanReport) -> int:
    if report.run.interrupted:
        return end_like(report.run)
    if report.verdict == "found":
        return 1
    if report.run.outcome.failed:
        return end_like(report.run)
    return 0 if report.verdict == "clean" else UNTESTABLE

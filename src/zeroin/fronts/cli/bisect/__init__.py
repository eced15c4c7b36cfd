"""`zeroin bisect`: the second word says what is gone through; each has a file here."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from zeroin.cycle.signature import Strength
from zeroin.errors import INTERRUPTED, NO, OK, UsageError
from zeroin.fronts import bisect_text
from zeroin.fronts.cli import run as cli_run
from zeroin.fronts.cli.options import add_json, begin_shared, end_shared, split_command
from zeroin.fronts.cli.parsing import Parser, did_you_mean, regex
from zeroin.tools.bisect.report import BisectOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

# What can be gone through → what that is for, in the order of the help.
AXES = {
    "commits": "the commit that broke it, or that repaired it",
    "attempts": "what differed between an attempt that worked and one that failed",
    "settings": "the keys of a file of settings, or the variables, that break it",
    "tests": "the tests that make another one fail when they run before it",
    "data": "the rows of a new file that break it",
    "versions": "the release of a package",
    "limit": "the smallest memory, disk, ... with which it still works",
    "envs": "the package, of all that differ between two environments",
}
EXAMPLES = """\
  zeroin bisect commits v4.33.0 HEAD -- python repro.py
  zeroin bisect commits -- pytest -x tests/test_api.py      look for a good one first
  zeroin bisect versions pandas -- python report.py
  zeroin bisect envs old.lock new.lock -- pytest -x tests/test_api.py
  zeroin bisect attempts last-passed last-failed
  zeroin bisect settings good.yaml bad.yaml -- python train.py --config bad.yaml
  zeroin bisect data monday.csv tuesday.csv -- python load.py tuesday.csv
  zeroin bisect tests tests/test_api.py::test_login -- pytest
  zeroin bisect limit memory 100M 4G -- python train.py
"""


def parser() -> Parser:
    """What all have in common."""
    axes = "\n".join(f"  {name:<10} {text}" for name, text in AXES.items())
    p = Parser(
        "bisect",
        "Name the one change that broke it. Both ends are run first; what fails in another way,\n"
        "or can't be tested, never counts as bad; several are tried at once. Your files stay as\n"
        "they are. After Ctrl-C the same command goes on where it was. What can be gone through:\n"
        f"\n{axes}\n\nEach has options of its own: zeroin bisect {next(iter(AXES))} --help",
        "AXIS ... [options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("axis", metavar="AXIS", choices=list(AXES), help="what to go through")
    add_options(p)
    return p


def add_options(p: Parser) -> None:
    """What counts as the same failure, and how to search."""
    begun = begin_shared(p)
    add = p.add_argument
    add("--match", type=regex, metavar="REGEX", default="", help="the failure is what says this")
    add("--exit", type=int, metavar="N", help="the failure is this exit code")
    same = p.add_mutually_exclusive_group()
    same.add_argument("--loose", action="store_true", help="any failure of the same kind will do")
    same.add_argument("--strict", action="store_true", help="to the last word of the message")
    add("--repeat", type=int, metavar="N", help="runs of an end that does not fail")
    add("--confidence", type=float, default=0.95, metavar="P", help="how sure to be (0.95)")
    add("--jobs", "-j", type=int, metavar="N", help="tries at once (as many as pay)")
    add("--max-runs", type=int, metavar="N", help="stop after so many runs, with what is known")
    how = p.add_mutually_exclusive_group()
    how.add_argument("--cold", action="store_true", help="run each try from its beginning")
    how.add_argument(
        "--warm", action="store_true", help="from snapshots, also where the first do not pay"
    )
    add("--fresh", action="store_true", help="forget what an earlier search found out")
    end_shared(p, begun, "how to search")
    cli_run.add_cycle_options(p)
    add_json(p)


def axis(name: str) -> Any:
    """The module of one: `parser()`, `NOUN`, and `search(given, cycle, options, teller)`."""
    return import_module(f"zeroin.fronts.cli.bisect.{name}")


def main(args: list[str]) -> int:
    """Search, and say what it was."""
    word = args[0] if args else ""
    if word in ("-h", "--help"):
        parser().parse_args([word])
    if word not in AXES:
        raise _axis_is_missing(args)
    module = axis(word)
    own, command = split_command(args[1:])
    given = module.parser().parse_args(own)
    if not command and getattr(module, "NEEDS_COMMAND", True):
        raise UsageError("which command?", hint=f"zeroin bisect {word} ... -- python repro.py")
    cycle = cli_run.cycle_of(given, command)
    options = _options(given)
    noun = str(module.NOUN)
    teller = bisect_text.Teller(sys.stderr, noun, quiet=given.json, fixed=options.fixed)
    report = module.search(given, cycle, options, os.environ, teller)
    if given.json:
        bisect_text.put_json(report)
    else:
        bisect_text.put_report(report, noun)
    if report.verdict == "interrupted":
        return INTERRUPTED
    return OK if report.verdict == "found" and report.confirmed else NO


def _axis_is_missing(args: list[str]) -> UsageError:
    """Say that the first word has to be an axis, with a command line that has one."""
    import shlex

    own, command = split_command(args)
    shown = shlex.join(command) or "python repro.py"
    later = next((one for one in own if one in AXES), "")
    word = own[0] if own else ""
    near = "" if later or word.startswith("-") else did_you_mean(word, AXES)
    if later:
        rest = shlex.join(one for one in own if one != later)
        return UsageError(
            f"the axis comes first, before {word}", hint=f"zeroin bisect {later} {rest} -- {shown}"
        )
    if near:
        return UsageError(f"bisect has no axis {word!r}", hint=near)
    *others, last = AXES
    return UsageError(
        f"what to bisect is missing; the first word is {', '.join(others)} or {last}",
        hint=f"for instance: zeroin bisect commits -- {shown}",
    )


def _options(given: argparse.Namespace) -> BisectOptions:
    strength = Strength.NORMAL
    if given.loose or given.strict:
        strength = Strength.LOOSE if given.loose else Strength.STRICT
    if not 0.5 <= given.confidence < 1:
        raise UsageError("--confidence: a number from 0.5 to 0.999")
    counts = {"--repeat": given.repeat, "--jobs": given.jobs, "--max-runs": given.max_runs}
    for name, number in counts.items():
        if number is not None and number < 1:
            raise UsageError(f"{name} takes a number from 1 on")
    return BisectOptions(
        strength,
        given.match,
        given.exit,
        getattr(given, "fixed", False),
        given.repeat or 0,
        given.confidence,
        given.jobs or 0,
        given.cold,
        given.fresh,
        given.max_runs or 0,
        warm=given.warm,
    )

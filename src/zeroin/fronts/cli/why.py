"""`zeroin why`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import UsageError
from zeroin.fronts import why_text, words
from zeroin.fronts.cli.options import add_json, here
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.why import why

EXAMPLES = """\
  zeroin why                 what killed the last attempt, or what it was not
  zeroin why 13              likewise of attempt 13
  zeroin why -p 4711         a process: what it waits for, how it ended, what is left of it
  zeroin why --json | jq -r .verdict
"""


def parser() -> Parser:
    """All options of `why`."""
    p = Parser(
        "why",
        "One post-mortem: signal or exit code in words, out of memory, limits, disks, core dump,\n"
        "last calls and last output; a verdict with its evidence, or what it was not.",
        "[ATTEMPT | PID] [options]",
        EXAMPLES,
    )
    p.add_argument(
        "attempt",
        nargs="?",
        default=None,
        help="attempt: a number, last, last-failed or last-passed; or the number of a process",
    )
    p.add_argument("-p", "--pid", metavar="PID", help="a process, even if there is such an attempt")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Find out."""
    given = parser().parse_args(args)
    if given.pid is not None and given.attempt is not None:
        raise UsageError("either an attempt or -p, not both")
    is_pid = given.pid is not None
    report = why(
        given.pid if is_pid else given.attempt or "last", here(), os.environ, is_pid=is_pid
    )
    if given.json:
        words.put_json(why_text.as_json(report))
    else:
        for line in why_text.lines(report, words.Paint(sys.stdout)):
            words.put(line)
    return 0

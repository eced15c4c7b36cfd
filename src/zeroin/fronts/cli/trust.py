"""`zeroin trust`."""

from __future__ import annotations

import os

from zeroin.fronts import words
from zeroin.fronts.cli.options import here
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools import trusting

EXAMPLES = """\
  zeroin trust               heed the project's own limits of the record, use its .zeroin
  zeroin trust --forget      take that back
"""


def parser() -> Parser:
    """All options of `trust`."""
    about = "Agree to settings and a record that came with a project's files."
    p = Parser("trust", about, "[options]", EXAMPLES)
    p.add_argument("--forget", action="store_true", help="take back what was agreed to here")
    return p


def main(args: list[str]) -> int:
    """Agree, or take it back."""
    given = parser().parse_args(args)
    if given.forget:
        root, was_there = trusting.forget(here(), os.environ)
        told = "taken back what was agreed to" if was_there else "nothing was agreed to"
        words.put(f"{told} in {root}")
        return 0
    report = trusting.agree(here(), os.environ, words.warn)
    for setting in report.settings:
        words.put(words.clean(f"heeded from now on: {setting}"))
    if report.adopted:
        words.put(f"this record is used from now on, as if it was made here: {report.folder}")
    if report.exposed:
        words.put(f"others can change this record: {report.exposed}")
    if report.refused:
        words.put(f"the project's own record is not used: {report.refused}")
        words.put(f"  {report.hint}" if report.hint else "  nobody can agree to that")
    if not (report.settings or report.adopted or report.exposed or report.refused):
        words.put(f"nothing here needs your consent; the record lies in {report.folder}")
    else:
        words.put("take it back: zeroin trust --forget")
    return 0

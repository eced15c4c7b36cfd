"""`zeroin diff`."""

from __future__ import annotations

import json
import os
import sys

from zeroin.fronts import report_json, words
from zeroin.fronts.cli.options import ATTEMPT, add_json, here
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.diff import diff
from zeroin.tools.reading import open_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.fronts.words import Paint
    from zeroin.tools.compare import Changed
    from zeroin.tools.diff import DiffReport

EXAMPLES = """\
  zeroin diff 12 13                    code, environment, packages, outcome, output
  zeroin diff last-passed last-failed  what changed since it worked
  zeroin diff 12 13 --only code        just the patch
  zeroin diff 12 13 --why              which of all that broke it: tries them
"""
PARTS = ("code", "env", "packages", "command", "outcome", "output")
MOST_OUTPUT = 60


def parser() -> Parser:
    """All options of `diff`."""
    p = Parser("diff", "Only what differs between two attempts.", "A B [options]", EXAMPLES)
    p.add_argument("old", help=ATTEMPT)
    p.add_argument("new", nargs="?", default="last", help=ATTEMPT)
    p.add_argument("--why", action="store_true", help="which of it broke it? (bisect attempts)")
    p.add_argument("--only", choices=PARTS, action="append", help="just this part (repeatable)")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Compare."""
    given = parser().parse_args(args)
    if given.why:
        from zeroin.fronts.cli import bisect

        return bisect.main(["attempts", given.old, given.new, *(["--json"] if given.json else [])])
    with open_record(here(), os.environ) as reading:
        report = diff(reading, given.old, given.new)
    if given.json:
        words.put(json.dumps(report_json.diff(report)))
        return 0
    lines = _lines(report, words.Paint(sys.stdout), given.only or PARTS)
    for line in lines or [f"nothing differs between attempts {report.old.id} and {report.new.id}"]:
        words.put(line)
    return 0


def _lines(report: DiffReport, paint: Paint, only: tuple[str, ...] | list[str]) -> list[str]:
    difference = report.difference
    out: list[str] = []
    if "code" in only and (report.patch or difference.code_note):
        out += [paint("code", "bold"), *_coloured(report.patch.splitlines(), paint)]
        out += [f"  {difference.code_note}"] if difference.code_note else []
    for name, changes in (
        ("command", difference.command),
        ("env", difference.env),
        ("packages", difference.packages),
        ("outcome", [c for c in report.outcome if c.name != "signature"]),  # the headline tells
    ):
        if name in only and changes:
            title = "environment" if name == "env" else name
            out += [paint(title, "bold"), *(_row(change, paint) for change in changes)]
    if "output" in only and report.output:
        out += [paint("output", "bold"), *_coloured(report.output[2:][:MOST_OUTPUT], paint)]
        more = len(report.output) - 2 - MOST_OUTPUT
        if more > 0:
            out.append(
                f"  ... {more} more lines: zeroin diff {report.old.id} {report.new.id} --json"
            )
    return out


def _row(change: Changed, paint: Paint) -> str:
    old = words.clean(_said(change.name, change.old))
    new = words.clean(_said(change.name, change.new))
    return f"  {change.name}: {paint(old, 'red')} → {paint(new, 'green')}"


def _said(name: str, value: str | None) -> str:
    if not value:
        return "none"
    if name == "seconds":
        return words.seconds(float(value))
    if name == "peak_bytes":
        return words.size(float(value))
    return value


def _coloured(lines: list[str], paint: Paint) -> list[str]:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    out = []
    for line in lines:
        text = words.clean(line)
        colour = colours.get(text[:1])
        out.append("  " + (paint(text, colour) if colour else text))
    return out

"""`zeroin diff`."""

from __future__ import annotations

import sys

from zeroin.fronts import report_json, words
from zeroin.fronts.cli.options import ATTEMPT, add_json, open_here
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.diff import diff

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
FEW = 5  # packages of another Python that are listed unasked


def parser() -> Parser:
    """All options of `diff`."""
    p = Parser("diff", "Only what differs between two attempts.", "A B [options]", EXAMPLES)
    p.add_argument("old", metavar="A", help=ATTEMPT)
    p.add_argument("new", metavar="B", nargs="?", default="last", help=ATTEMPT)
    p.add_argument("--why", action="store_true", help="which of it broke it? (bisect attempts)")
    p.add_argument(
        "--only",
        metavar="PART",
        choices=PARTS,
        action="append",
        help=f"just this part (repeatable): {', '.join(PARTS)}",
    )
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Compare."""
    given = parser().parse_args(args)
    if given.why:
        from zeroin.fronts.cli import bisect

        return bisect.main(["attempts", given.old, given.new, *(["--json"] if given.json else [])])
    with open_here() as reading:
        report = diff(reading, given.old, given.new)
    if given.json:
        words.put_json(report_json.diff(report))
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
            out.append(paint(title, "bold"))
            if name == "packages" and difference.python and len(changes) > FEW and only == PARTS:
                command = f"zeroin diff {report.old.id} {report.new.id} --only packages"
                out.append(f"  {len(changes)} differ, as another Python ran: {command}")
            else:
                out += [_row(change, paint) for change in changes]
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
    name = "another Python" if change.name == "python" else change.name
    return f"  {name}: {paint(old, 'red')} → {paint(new, 'green')}"


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
    out: list[str] = []
    for line in lines:
        text = words.clean(line)
        colour = colours.get(text[:1])
        out.append(words.AsIs("  " + (paint(text, colour) if colour else text)))
    return out

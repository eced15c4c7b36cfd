"""`zeroin files`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import UsageError
from zeroin.fronts import files_text
from zeroin.fronts.cli.options import add_json, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.cli.run import add_cycle_options, cycle_of, end_like, without_dashes
from zeroin.fronts.words import Paint, put, put_json
from zeroin.tools.run import Options
from zeroin.tools.sizes import parse_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from zeroin.tools.files import Found

EXAMPLES = """\
  zeroin files -- ./convert.sh             which file was "No such file or directory" about?
  zeroin files -- python train.py          with the Python line that tried to open it
  zeroin files --written -- make           what it wrote, made, renamed and removed
  zeroin files --opened --json -- python train.py
  zeroin files -p 1234 --for 10s           what fails in a process that runs already
"""


def parser() -> Parser:
    """All options of `files`."""
    p = Parser(
        "files",
        "Which file, socket or permission failed, over all processes of a command.\n"
        "The last failures before the end come first, those that the output speaks of before all.\n"
        "The exit code is the command's own.",
        "[options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("--all", action="store_true", help="also what fails at each start of a program")
    p.add_argument("--opened", action="store_true", help="list what was opened")
    p.add_argument("--written", action="store_true", help="list what was written, made, removed")
    p.add_argument("-p", "--pid", type=int, metavar="PID", help="a process that runs already")
    p.add_argument("--for", metavar="TIME", help="with -p: only so long; else until Ctrl-C")
    p.add_argument("-n", type=int, default=10, metavar="N", help="how many to show (10)")
    add_cycle_options(p)
    p.add_argument("--no-agent", action="store_true", help="keep out of Python programs")
    p.add_argument("--no-record", action="store_true", help="run and explain, but keep nothing")
    add_json(p)
    p.add_argument("command", nargs="*", help="what to run, after --")
    return p


def main(args: list[str]) -> int:
    """Run, report, end as the command ended."""
    own, command = split_command(args)
    if not command:
        own, command = without_dashes(own, parser())
    given = parser().parse_args(own)
    command = command or given.command
    if given.n < 1:
        raise UsageError("-n takes a number from 1 on")
    if given.pid is not None:
        return _attach(given, command)
    if not command:
        raise UsageError("which command?", hint="zeroin files -- ./convert.sh")
    if vars(given)["for"]:
        raise UsageError("--for goes with -p; to end a command: --timeout")
    from zeroin.tools.files import files

    options = Options(
        agent=not given.no_agent,
        record=not given.no_record,
        targets=(2, 2) if given.json else (1, 2),
    )
    report = files(cycle_of(given, command), options, os.environ, everything=given.all)
    if given.json:
        put_json(files_text.as_json(report.found, report.run))
    else:
        from zeroin.fronts import report_text

        paint = Paint(sys.stderr)
        for line in report_text.run(report.run, paint):
            put(line, sys.stderr)
        for line in _lines(report.found, given, paint):
            put(line, sys.stderr)
    return end_like(report.run)


def _attach(given: argparse.Namespace, command: list[str]) -> int:
    if command:
        raise UsageError("either a command or -p, not both")
    from zeroin.tools.attach import attach

    limit = vars(given)["for"]
    seconds = parse_seconds(limit) if limit else None

    def on_start() -> None:
        until = f"for {limit}" if limit else "until Ctrl-C"
        put(
            f"zeroin: watching process {given.pid} {until}; each of its calls is slower", sys.stderr
        )

    found = attach(given.pid, seconds, on_start, everything=given.all)
    if given.json:
        put_json(files_text.as_json(found, None))
    else:
        for line in _lines(found, given, Paint(sys.stdout)):
            put(line)
    return 0


def _lines(found: Found, given: argparse.Namespace, paint: Paint) -> list[str]:
    return files_text.lines(found, paint, opened=given.opened, written=given.written, most=given.n)

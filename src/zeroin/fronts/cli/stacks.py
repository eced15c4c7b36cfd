"""`zeroin stacks`."""

from __future__ import annotations

import os
import sys
import time

from zeroin.errors import NO, OK, UsageError, ZeroinError
from zeroin.fronts.words import Paint, put, put_json
from zeroin.observe.spies import only_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from zeroin.fronts.cli.parsing import Parser
    from zeroin.tools.stacks import StacksReport, Wanted

NEEDS_COMMAND = False
MOST = 10  # groups
OF_A_COMMAND = {"after": " 30s", "end": "", "timeout": " 5m", "no_agent": "", "no_record": ""}
EXAMPLES = """\
  zeroin stacks                            the newest attempt that runs, or your only Python
  zeroin stacks 1234                       that process, and all below it
  zeroin stacks train.py --locals          all that run it, with the variables of your frames
  zeroin stacks 1234 --every 5s            what moves, until Ctrl-C
  zeroin stacks -- torchrun --nproc-per-node 4 train.py      start it; look when nothing moves
  zeroin stacks --after 30s --end -- python train.py         look after that time, then end it
"""


def parser(*, starts: bool = True) -> Parser:
    """All options of `stacks`; without those of a command that it `starts`, which load more."""
    from zeroin.fronts.cli.options import add_json
    from zeroin.fronts.cli.parsing import Parser

    p = Parser(
        "stacks",
        "Where is it stuck: all processes and threads of a program that runs, identical stacks\n"
        "put together, the odd one out first, and one sentence that says what they wait for.\n"
        "With a command: it is started, looked at when nothing moves any more (or at --after, or\n"
        "at Ctrl-\\), and goes on; the exit code is its own.",
        "[PID | NAME] [options]\n       zeroin stacks [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="a process by number, or a part of its command",
    )
    add("--locals", action="store_true", help="the variables of your own frames")
    add("--native", action="store_true", help="frames in C as well; holds each process a moment")
    add("--every", metavar="TIME", help="look again and again, and say what moved")
    add("--for", metavar="TIME", help="with --every: only so long; else until Ctrl-C")
    add("--all", action="store_true", help="also idle threads, helpers, all frames of libraries")
    add("-n", type=int, default=MOST, metavar="N", help=f"how many groups to show ({MOST})")
    add("--after", metavar="TIME", help="with a command: look then, whether it moves or not")
    add("--end", action="store_true", help="with a command: end it after the look")
    add("--no-agent", action="store_true", help="with a command: keep out of Python programs")
    add("--no-record", action="store_true", help="with a command: keep nothing")
    if starts:
        from zeroin.fronts.cli.run import add_cycle_options

        add_cycle_options(p)
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Look, and say."""
    number = only_number(args)
    if number is not None:  # without a parser, whose making takes a part of the whole time
        return _look(str(number), {"json": "--json" in args, "all": "--all" in args})
    from zeroin.fronts.cli.options import here, split_command

    own, command = split_command(args)
    given = _parse(own, starts=bool(command))
    if given.n < 1:
        raise UsageError("-n takes a number from 1 on")
    if command:
        return _start(given, command)
    for option, example in OF_A_COMMAND.items():
        if getattr(given, option, None):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(
                f"{flag} goes with a command",
                hint=f"zeroin stacks {flag}{example} -- python train.py",
            )
    if vars(given)["for"] and not given.every:
        raise UsageError("--for goes with --every", hint="zeroin stacks --every 5s --for 1m")
    if given.every:
        from zeroin.tools.stacks import find

        return _every(given, find(given.name, "/" if given.name else here(), os.environ))
    return _look(given.name, vars(given), "/" if given.name else here())


def _look(name: str, given: Mapping[str, Any], cwd: str = "/") -> int:
    """Once."""
    from zeroin.tools.stacks import find, stacks

    wanted = find(name, cwd, os.environ)
    values, native = given.get("locals", False), given.get("native", False)
    reports = stacks(wanted, values=values, native=native)
    _say(reports, given)
    return OK if any(one.look.stacks for one in reports) else NO


def _parse(own: list[str], *, starts: bool) -> argparse.Namespace:
    try:
        quick = not starts and not {"-h", "--help"}.intersection(own)
        return parser(starts=not quick).parse_args(own)
    except UsageError:
        pass
    from zeroin.fronts.cli.parsing import UnknownWordsError

    try:
        return parser().parse_args(own)
    except UnknownWordsError as error:
        if not own[0].startswith("-"):
            import shlex

            command = f"zeroin stacks -- {shlex.join(own)}"
            raise UsageError(error.message, hint=f"to start a command: {command}") from None
        raise


def _every(given: argparse.Namespace, wanted: Wanted) -> int:
    from zeroin.tools.sizes import parse_seconds
    from zeroin.tools.stacks import check_seconds, since_all, stacks

    every = check_seconds(parse_seconds(given.every), "--every")
    limit = vars(given)["for"]
    until = time.monotonic() + parse_seconds(limit) if limit else None
    before: list[StacksReport] = []
    try:
        while True:
            due = time.monotonic() + every
            try:
                reports = stacks(wanted, values=given.locals, native=given.native)
            except ZeroinError:
                if not before:
                    raise
                put(f"zeroin: {wanted.said} has ended", sys.stderr)
                return OK
            reports = since_all(before, reports)
            if not given.json:
                put(("\n" if before else "") + time.strftime("%H:%M:%S"))
            _say(reports, vars(given))
            sys.stdout.flush()
            before = reports
            if until is not None and due >= until:
                return OK
            time.sleep(max(0.0, due - time.monotonic()))
    except KeyboardInterrupt:
        return OK


def _say(reports: list[StacksReport], given: Mapping[str, Any]) -> None:
    from zeroin.agent.post import dumps  # `json` takes as long as all else of ours
    from zeroin.fronts import stacks_text

    if given["json"]:
        for report in reports:
            put(dumps(stacks_text.as_json(report)))
        return
    paint = Paint(sys.stdout)
    for number, report in enumerate(reports):
        if len(reports) > 1:
            put(("\n" if number else "") + stacks_text.heading(report, paint))
        most = given.get("n", MOST)
        for line in stacks_text.lines(report, paint, everything=given["all"], most=most):
            put(line)


def _start(given: argparse.Namespace, command: list[str]) -> int:
    """Run a command and look at it; end as it ended."""
    if given.name:
        raise UsageError("either a process or a command, not both")
    if given.every:
        raise UsageError(
            "--every goes with a process that runs",
            hint="with a command, Ctrl-\\ takes a look at any time",
        )

    from zeroin.fronts import report_text, stacks_text
    from zeroin.fronts.cli.run import cycle_of, end_like
    from zeroin.tools.run import Options
    from zeroin.tools.sizes import parse_seconds
    from zeroin.tools.stacks import check_seconds
    from zeroin.tools.stacks_command import How, stacks_of_command

    after = check_seconds(parse_seconds(given.after), "--after") if given.after else None
    how = How(after, given.end, given.locals, given.native)
    options = Options(
        agent=not given.no_agent,
        record=not given.no_record,
        targets=(2, 2) if given.json else (1, 2),
    )
    paint = Paint(sys.stderr)
    looks: list[str] = []

    def tell(report: StacksReport, why: str) -> None:
        looks.append(why)
        if given.json:
            put_json({**stacks_text.as_json(report), "why": why})
            sys.stdout.flush()
            return
        put(f"zeroin: a look, {why}", sys.stderr)
        for line in stacks_text.lines(report, paint, everything=given.all, most=given.n):
            put(line, sys.stderr)
        if not given.end and sys.stdin.isatty():
            next_step = "  it goes on; Ctrl-\\ takes another look, Ctrl-C ends it"
            put(paint(next_step, "dim"), sys.stderr)
        sys.stderr.flush()

    report = stacks_of_command(cycle_of(given, command), options, how, os.environ, tell)
    if not given.json:
        for line in report_text.run(report, paint):
            put(line, sys.stderr)
        if not looks:
            put("  it ended before there was anything to look at", sys.stderr)
    return end_like(report)

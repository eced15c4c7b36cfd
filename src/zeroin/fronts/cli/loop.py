"""`zeroin loop`."""

from __future__ import annotations

import fcntl
import os
import sys

from zeroin.errors import INTERRUPTED, NO, OK, UsageError
from zeroin.fronts import limit_text, loop_text, report_json, words
from zeroin.fronts.cli import run as cli_run
from zeroin.fronts.cli.options import add_json, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.folding import count_cells
from zeroin.fronts.loop_desk import Keys, Words
from zeroin.fronts.words import Paint, put, put_json
from zeroin.tools.loop import LoopOptions, loop
from zeroin.tools.sizes import parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from zeroin.errors import ZeroinError
    from zeroin.tools.loop import Desk, Iteration, LoopEnd

EXAMPLES = """\
  zeroin loop -- python train.py --cfg small.yaml
  zeroin loop --verify -- python train.py            each resumed run is compared with a cold one
  zeroin loop --from-failure -- python train.py      go on at the failure: not a cold run
  zeroin loop --profile -- python train.py           what each statement took, after each run
  zeroin loop --once --json -- python train.py       one run, for scripts
  zeroin loop -- pytest -x tests/test_api.py
  zeroin loop --limit memory=2G -- python train.py   each run with so much memory, cold
"""
VERIFIED = len(" · verified cold in 00.00 s: same")


def parser() -> Parser:
    """All options of `loop`."""
    p = Parser(
        "loop",
        "Run a Python program again at each save of a file that it used, from where the edit\n"
        "makes a difference: the outcome of a cold run, without its wait. The keys are Enter (run\n"
        "again), c (cold), v (verify), d (debugger), ? (help) and q (quit). Without a terminal it\n"
        "reads the words run, cold, verify and quit from stdin, a line each, and ends when stdin\n"
        "does.",
        "[options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("--once", action="store_true", help="run once, cold; exit code of the command")
    p.add_argument(
        "--verify", action="store_true", help="compare each resumed run with a cold one as well"
    )
    p.add_argument(
        "--strict", action="store_true", help="patch no function, only go back to before the edit"
    )
    p.add_argument(
        "--from-failure",
        action="store_true",
        help="resume at the failing statement with the new code: quick, but not a cold run",
    )
    p.add_argument(
        "--profile",
        action="store_true",
        help="tell after each run which statements took how long, and how much memory",
    )
    p.add_argument(
        "--top", metavar="N", type=int, default=20, help="statements that --profile tells (20)"
    )
    p.add_argument(
        "--no-standby",
        action="store_true",
        help="run nothing ahead in the background where there can be no snapshots",
    )
    p.add_argument("--budget", metavar="SIZE", help="memory for snapshots (a quarter of the free)")
    p.add_argument("--stdin", metavar="FILE", help="what the program reads as its stdin")
    cli_run.add_cycle_options(p)
    add_json(p, "one JSON object a line on stdout, one for each run")
    p.add_argument("command", nargs="*", help="what to run, after --")
    return p


def main(args: list[str]) -> int:
    """Loop until the user has enough."""
    own, command = split_command(args)
    if not command:
        own, command = cli_run.without_dashes(own, parser())
    given = parser().parse_args(own)
    command = command or given.command
    if not command:
        raise UsageError("which command?", hint="zeroin loop -- python train.py")
    options = _options(given)
    cycle = cli_run.cycle_of(given, command)
    teller = _JsonTeller() if given.json else _TextTeller()
    desk = _desk(teller, given.stdin, waits=not given.once)
    try:
        end = loop(cycle, options, os.environ, desk, teller)
    finally:
        desk.close()
    return _code(end, options)


def _options(given: argparse.Namespace) -> LoopOptions:
    if given.stdin is not None and not os.path.isfile(given.stdin):
        raise UsageError(f"--stdin {given.stdin}: no such file")
    if given.strict and given.from_failure:
        raise UsageError("--strict and --from-failure are opposites: take one of them")
    return LoopOptions(
        once=given.once,
        verify=given.verify,
        strict=given.strict,
        lenient=given.from_failure,
        standby=not given.no_standby,
        budget=parse_size(given.budget) if given.budget else None,
        stdin=os.path.abspath(given.stdin) if given.stdin else None,
        profile=max(1, given.top) if given.profile else 0,
        targets=(2, 2) if given.json else (1, 2),
    )


def _desk(teller: _Teller, stdin: str | None, *, waits: bool) -> Desk:
    """Our orders come over stdin; then the program's can't, unless it is a terminal."""
    orders = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 10)
    if os.isatty(orders):
        teller.keys = waits
        return Keys(orders, teller.note)
    if stdin is None:
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        os.dup2(nothing, 0)
        os.close(nothing)
    return Words(orders, teller.note)


def _code(end: LoopEnd, options: LoopOptions) -> int:
    import signal

    if end.signal == signal.SIGINT:
        return INTERRUPTED
    if end.signal:
        cli_run.die_by(end.signal)
        return 128 + end.signal
    if options.once and end.last is not None:
        return cli_run.end_as(end.last.outcome, end.last.status)
    return NO if end.differed else OK


class _Teller:
    """Both kinds say the rest on stderr."""

    def __init__(self) -> None:
        self.keys = False
        self.paint = Paint(sys.stderr)

    def note(self, text: str) -> None:
        """A line of its own."""
        _say(self.paint(f"  {words.clean(text)}", "yellow"))

    def error(self, error: ZeroinError) -> None:
        """A run could not be made."""
        _say(f"zeroin: {error.message}")
        if error.hint:
            _say(f"  {error.hint}")

    def waiting(self) -> None:
        """The keys, in short."""
        if self.keys:
            _say(self.paint(f"  {loop_text.HINT}", "dim"))

    def help(self) -> None:
        """The keys."""
        _say(loop_text.HELP)


class _TextTeller(_Teller):
    """For people."""

    def __init__(self) -> None:
        super().__init__()
        self._open = False  # a line that is to be gone on with
        self._hinted = False

    def iteration(self, done: Iteration, *, more: bool) -> None:
        """One line; with `more`, its end comes later."""
        if done.broken is not None:
            _say(words.AsIs(done.broken.text.rstrip("\n")))
        width = words.width(sys.stderr)
        for row in loop_text.profile(done, self.paint, width):
            _say(row)
        line = loop_text.iteration(done, self.paint, width)
        columns = words.width(sys.stderr, 0)
        self._open = more and (not columns or count_cells(line) + VERIFIED <= columns)
        if self._open:
            words.put_part(words.make_safe(line), sys.stderr)
            sys.stderr.flush()
            return
        _say(line)
        if more:
            return
        for row in limit_text.lines(done.limits, self.paint, failed=done.outcome.failed):
            _say(row)
        if not self._hinted and not done.stopped:
            self._hinted = True
            self.waiting()

    def verified(self, done: Iteration) -> None:
        """The end of the line, or a line of its own."""
        lead = " · " if self._open else f"[{done.n}] "
        self._open = False
        _say(lead + "\n".join(loop_text.verified(done, self.paint)))


class _JsonTeller(_Teller):
    """For programs."""

    def iteration(self, done: Iteration, *, more: bool) -> None:
        """One object, once all is known."""
        if done.broken is not None:
            _say(words.AsIs(done.broken.text.rstrip("\n")))
        if not more:
            _print(report_json.loop(done))

    def verified(self, done: Iteration) -> None:
        """The object again, with what the comparison gave."""
        _print(report_json.loop(done))


def _print(value: object) -> None:
    put_json(value)
    sys.stdout.flush()


def _say(text: str) -> None:
    put(text, sys.stderr)
    sys.stderr.flush()

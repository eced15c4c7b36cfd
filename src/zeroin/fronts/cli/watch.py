"""`zeroin watch`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import NO, OK, UsageError
from zeroin.fronts.cli.options import add_json, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.words import put
from zeroin.tools.sizes import parse_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from zeroin.fronts.watch.rows import CsvFile
    from zeroin.tools.watch import Session

NEEDS_COMMAND = False
SORTS = ("memory", "cpu", "age", "pid")
ANSWERS = 5.0  # seconds that --once waits for disks and GPUs
EXAMPLES = """\
  zeroin watch train.py                     whatever has that in its command line, once it runs
  zeroin watch train.py gpu disk:/data      several panels, side by side where they fit
  zeroin watch 4711 --tree                  a process and all below it
  zeroin watch -n 2s -- squeue --me         a command again and again, changes highlighted
  zeroin watch train.py --csv mem.csv --until 'train.py gone'
  zeroin watch train.py | grep 'rank 0'     without a terminal: a line for each process
"""


class _Parser(Parser):
    """Options may stand between what is to be watched."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """See argparse, which takes all positional words at one place only."""
        return self.parse_intermixed_args(args, namespace)


def parser() -> Parser:
    """All options of `watch`."""
    p = _Parser(
        "watch",
        "Live and filtered: processes, GPUs, disks, the machine, a log, the output of a command.\n"
        "WHAT is a word of a command line (it need not run yet), a PID with all below it,\n"
        "attempt, all, gpu, memory, cpu, net, disk:FOLDER or file:LOG;\n"
        "without any: memory, cpu and all.\n"
        "Keys: q quit, s sort, space pause, p forget peaks, ? help. Ctrl-C leaves with the peaks.",
        "[WHAT ...] [options] [-- COMMAND ...]",
        EXAMPLES,
    )
    p.add_argument("what", nargs="*", metavar="WHAT", help="what to watch; several are panels")
    p.add_argument("-n", "--every", metavar="TIME", default="0.5s", help="how often (0.5s)")
    p.add_argument("--for", metavar="TIME", help="only so long")
    p.add_argument(
        "--until",
        metavar="CONDITION",
        help="'train.py gone', 'train.py memory > 8G', 'disk:/tmp free < 1G'; of the command: "
        "changes, fails, passes. Exit code 1 if the time of --for is over before",
    )
    p.add_argument("--once", action="store_true", help="print how it is now, and leave")
    p.add_argument("--sort", choices=SORTS, default="memory", help="order of processes (memory)")
    p.add_argument("--top", type=int, metavar="N", help="how many processes (20, or what fits)")
    p.add_argument("--tree", action="store_true", help="with all processes below, as trees")
    p.add_argument("--pss", action="store_true", help="count shared pages once; costs more")
    p.add_argument("--user", metavar="NAME", help="only processes of that user")
    p.add_argument("--csv", metavar="FILE", help="also append each sample to a file")
    p.add_argument("--plain", action="store_true", help="lines as for a pipe, on a terminal too")
    add_json(p, "one JSON object a sample on stdout")
    return p


def main(args: list[str]) -> int:
    """Watch until something ends it."""
    own, command = split_command(args)
    given = parser().parse_args(own)
    if "--" in args and not command:
        raise UsageError("which command?", hint="zeroin watch -- squeue --me")
    interval = _interval(given.every)
    limit = vars(given)["for"]
    seconds = parse_seconds(limit) if limit else None
    if given.top is not None and given.top < 1:
        raise UsageError("--top takes a number from 1 on")
    from zeroin.fronts.watch.rows import CsvFile
    from zeroin.tools.watch import Session
    from zeroin.tools.watch.until import parse

    until = parse(given.until) if given.until else None
    csv = CsvFile(given.csv) if given.csv else None
    session = Session(
        given.what, command, _choice(given), os.environ, interval=interval, until=until
    )
    try:
        if given.once:
            return _once(session, given, csv)
        return _watch(session, given, csv, seconds)
    finally:
        session.close()
        if csv is not None:
            csv.close()


def _interval(text: str) -> float:
    interval = parse_seconds(text)
    if interval < 0.05:
        raise UsageError(f"-n {text}: at most 20 times a second", hint="write -n 50ms or more")
    return interval


def _choice(given: argparse.Namespace):  # type: ignore[no-untyped-def]  # noqa: ANN202 - imported late
    from zeroin.tools.watch import Choice

    uid = None
    if given.user is not None:
        import pwd

        try:
            uid = int(given.user) if given.user.isdigit() else pwd.getpwnam(given.user).pw_uid
        except KeyError:
            raise UsageError(
                f"there is no user {given.user!r}", hint=f"you are: --user {_me()}"
            ) from None
    return Choice(given.sort, given.top or 20, given.tree, given.pss, uid)


def _me() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _watch(
    session: Session, given: argparse.Namespace, csv: CsvFile | None, seconds: float | None
) -> int:
    from zeroin.fronts.watch import summary
    from zeroin.fronts.watch.look import look_of
    from zeroin.fronts.watch.outputs import Lines, Objects, Output, Painted
    from zeroin.fronts.watch.screen import Screen
    from zeroin.fronts.watch.signals import Signals, die_of
    from zeroin.fronts.watch.watching import Watching

    screen = None
    output: Output = Objects() if given.json else Lines()
    if _has_screen(given):
        screen = Screen(1, 0, sys.stdout.encoding or "ascii")
        output = Painted(screen, session, look_of(sys.stdout, terminal=True), top=given.top)
    with Signals() as signals:
        watching = Watching(session, output, signals, seconds=seconds, csv=csv)
        try:
            watching.run()
        finally:
            if screen is not None:
                screen.close()
            session.close()
        if not given.json:
            stream = sys.stdout if screen is not None else sys.stderr
            for line in summary.lines(session.summary()):
                put(line, stream)
            if csv is not None and csv.trouble:
                put(f"zeroin: {csv.trouble}: rows are missing", sys.stderr)
        sys.stdout.flush()
    if watching.ended_by is not None and watching.ended_by != 2:
        die_of(watching.ended_by)
    return NO if given.until and not watching.reached and not watching.ended_by else OK


def _has_screen(given: argparse.Namespace) -> bool:
    if given.json or given.plain or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    try:
        return os.tcgetpgrp(1) == os.getpgrp()  # in the background the screen is another's
    except OSError:
        return True


def _once(session: Session, given: argparse.Namespace, csv: CsvFile | None) -> int:
    """Two looks, since rates need them; the second is told."""
    import time

    from zeroin.fronts.watch import layout
    from zeroin.fronts.watch.look import look_of
    from zeroin.fronts.watch.outputs import Objects
    from zeroin.fronts.words import width

    session.wait(ANSWERS, whole=True)
    session.look()
    until = time.monotonic() + min(0.25, session.interval)
    while time.monotonic() < until or any(c.repeated.last is None for c in session.commands):
        session.advance()
        time.sleep(0.01)
    frame = session.look()
    if csv is not None:
        csv.add(frame)
    if given.json:
        Objects().put_all(frame)
    else:
        look = look_of(sys.stdout, terminal=False)
        for line in layout.drawn(frame.panels, width(sys.stdout), None, look):
            put(line.rstrip())
    asked = [panel for panel in frame.panels if panel.kind == "processes"]
    return NO if asked and all(panel.waits for panel in asked) else OK

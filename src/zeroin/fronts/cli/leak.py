"""`zeroin leak`."""

from __future__ import annotations

import os
import sys
import time

from zeroin.errors import INTERRUPTED, NO, OK, UNTESTABLE, UsageError
from zeroin.fronts import leak_text
from zeroin.fronts.cli.options import add_json, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.cli.run import add_cycle_options, cycle_of, end_like, without_dashes
from zeroin.fronts.words import Paint, put, put_json
from zeroin.tools.run import Options

EXAMPLES = """\
  zeroin leak -- python train.py                       does its loop grow, by what, held by whom?
  zeroin leak --func shop.api:handle -- python serve.py        each call of it is a repetition
  zeroin leak --repeat 20 -- python report.py          the whole script, 20 times in one process
  zeroin leak --repeat 50 -- pytest tests/test_api.py::test_upload
"""
SAY_EVERY = 5.0  # seconds between two lines of progress


def parser() -> Parser:
    """All options of `leak`."""
    p = Parser(
        "leak",
        "Does it grow from one repetition to the next: memory in use, open files, threads, child\n"
        "processes, GPU memory? If it does, a second and shorter run says what is kept, where it\n"
        "was allocated and by which names it is held. Exit code 1 if it leaks, 0 if not, 125 if\n"
        "too little repeats to tell, the command's own if that failed.",
        "[options] -- COMMAND ...",
        EXAMPLES,
    )
    p.add_argument("--repeat", type=int, metavar="N", help="run the script or the tests N times")
    p.add_argument("--func", metavar="PLACE", help="pkg.mod:function; each call is a repetition")
    p.add_argument("--quick", action="store_true", help="only whether, not who: no second run")
    add_cycle_options(p)
    add_json(p)
    p.add_argument("command", nargs="*", help="what to run, after --")
    return p


def main(args: list[str]) -> int:
    """Run, judge, say."""
    own, command = split_command(args)
    if not command:
        own, command = without_dashes(own, parser())
    given = parser().parse_args(own)
    command = command or given.command
    if not command:
        raise UsageError("which command?", hint="zeroin leak -- python train.py")
    if given.repeat is not None and given.repeat < 8:
        raise UsageError("--repeat takes a number from 8 on: fewer tell nothing")
    if given.repeat and given.func:
        raise UsageError("either --repeat or --func: both say what a repetition is")
    from zeroin.tools.leak import Asked, leak

    options = Options(record=False, brief=True, targets=(2, 2) if given.json else (1, 2))

    said_at = [0.0]

    def look(until: int) -> None:
        said_at[0] = time.monotonic()
        if not given.json:
            put(f"zeroin: it grows; a second run looks at who holds it, {until} times", sys.stderr)
            sys.stderr.flush()

    def progress(done: int, of: int) -> None:
        now = time.monotonic()
        if not given.json and of and now - said_at[0] >= SAY_EVERY:
            said_at[0] = now
            put(f"zeroin: it looks for who holds it: {done} of {of} searches done", sys.stderr)
            sys.stderr.flush()

    asked = Asked(given.repeat, given.func, None if given.quick else look, progress)
    found = leak(cycle_of(given, command), asked, options, os.environ)
    # A time limit is how one looks at a server: then the verdict is the answer.
    timed_out = found.run.outcome.kind.value == "hang"
    if given.json:
        put_json(leak_text.as_json(found))
    else:
        if found.run.outcome.failed and not timed_out:
            from zeroin.fronts import report_text

            for line in report_text.run(found.run, Paint(sys.stderr)):
                put(line, sys.stderr)
        for line in leak_text.lines(found, Paint(sys.stderr)):
            put(line, sys.stderr)
    if found.run.outcome.failed and not timed_out:
        return end_like(found.run)
    if found.run.interrupted and found.verdict == "unknown":
        return INTERRUPTED
    return {"leaks": NO, "unknown": UNTESTABLE}.get(found.verdict, OK)

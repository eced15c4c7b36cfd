"""`zeroin log`."""

from __future__ import annotations

import sys
import time

from zeroin.errors import UsageError
from zeroin.fronts import report_json, words
from zeroin.fronts.cli.options import add_json, open_here
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.report_text import short_command
from zeroin.tools.reading import is_running
from zeroin.tools.show import since_previous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.record.store import Attempt

EXAMPLES = """\
  zeroin log                              the last 20 attempts
  zeroin log --signature KeyError         those that failed with a KeyError
  zeroin log --command train.py --since 2h
  zeroin log --json -n 1000 | jq -r .signature | sort | uniq -c
"""
NARROW = 80  # columns
MARKS = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "hang": ("✗", "red"),
    "killed": ("✗", "red"),
    "limit": ("✗", "red"),
    "unfinished": ("·", "yellow"),
    "running": ("·", "cyan"),
}


def parser() -> Parser:
    """All options of `log`."""
    p = Parser("log", "List attempts, the newest first.", "[options]", EXAMPLES)
    p.add_argument("--signature", default="", metavar="TEXT", help="whose failure contains TEXT")
    p.add_argument("--command", default="", metavar="TEXT", help="whose command contains TEXT")
    p.add_argument("--since", metavar="WHEN", help="30m, 2h, 3d, or a date: 2026-11-15 [14:00]")
    p.add_argument("-n", type=int, default=20, metavar="N", help="how many (20; 0 for all)")
    add_json(p, "one JSON object a line, the newest attempt first")
    return p


def main(args: list[str]) -> int:
    """List."""
    given = parser().parse_args(args)
    with open_here() as reading:
        attempts = reading.store.attempts(
            signature=given.signature,
            command=given.command,
            since=_since(given.since) if given.since else 0.0,
            limit=given.n or -1,
        )
        if given.json:
            for attempt in attempts:
                previous, changed = since_previous(reading, attempt)
                since = report_json.changed_since(previous, changed)
                words.put_json({**report_json.attempt(attempt), "changed_since": since})
            return 0
    if not attempts:
        words.put("no attempt fits", sys.stderr)
        return 1
    for line in _table(attempts):
        words.put(line)
    return 0


def _since(text: str) -> float:
    from zeroin.tools.sizes import parse_seconds

    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"):
        try:
            return time.mktime(time.strptime(text, form))
        except ValueError:
            continue
    try:
        return time.time() - parse_seconds(text)
    except UsageError:
        raise UsageError(
            f"--since {text}: neither a time span nor a date", hint="write 2h, 3d or 2026-11-15"
        ) from None


def _table(attempts: list[Attempt]) -> list[str]:
    paint = words.Paint(sys.stdout)
    now = time.time()
    rows = [
        (
            str(a.id),
            words.when(a.started, now),
            "running" if is_running(a) else a.outcome or "unfinished",
            words.seconds(a.seconds) if a.seconds is not None else "",
            words.size(a.peak_bytes) if a.peak_bytes else "",
            words.clean(short_command(a.command)),
            words.clean(a.headline or ""),
        )
        for a in attempts
    ]
    wide = [max(len(row[n]) for row in rows) for n in range(6)]
    columns = words.width(sys.stdout, 160)
    wide[5] = min(wide[5], 40)
    room = max(30, columns - sum(wide[:6]) - 13)
    if columns < NARROW:  # a row is folded there: it need not be a line
        room = wide[5] = NARROW
    lines = []
    for number, when, outcome, took, memory, command, headline in rows:
        mark, colour = MARKS.get(outcome, ("·", "yellow"))
        lines.append(
            f"{number:>{wide[0]}}  {when:<{wide[1]}}  {paint(mark, colour)} "
            f"{outcome:<{wide[2]}}  {took:>{wide[3]}}  {memory:>{wide[4]}}  "
            f"{words.cut(command, wide[5]):<{wide[5] if columns >= NARROW else 0}}  "
            f"{words.cut(headline, room)}".rstrip()
        )
    return lines

"""`zeroin show`."""

from __future__ import annotations

import sys

from zeroin.errors import ZeroinError
from zeroin.fronts import report_json, words
from zeroin.fronts.cli.options import ATTEMPT, add_json, open_here
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.oneliner import make_oneliner
from zeroin.tools.show import log_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.tools.reading import Reading

EXAMPLES = """\
  zeroin show last-failed             traceback with locals, end of the output, what changed
  zeroin show 13 --output | less      everything it printed
  zeroin show 13 --times              the output with a time stamp on each line
  zeroin show 13 --log                its log records, after zeroin run --log
  zeroin show 13 --env                its whole environment and packages
  zeroin show 13 --oneliner           one shell line that reproduces it in another checkout
"""


def parser() -> Parser:
    """All options of `show`."""
    p = Parser("show", "One attempt, whole.", "[ATTEMPT] [options]", EXAMPLES)
    p.add_argument("attempt", nargs="?", default="last", help=ATTEMPT)
    p.add_argument("--output", action="store_true", help="only what it printed, as it was")
    p.add_argument("--times", action="store_true", help="its output, a time stamp on each line")
    p.add_argument("--peek", action="store_true", help="only what peek and section printed")
    p.add_argument("--log", action="store_true", help="its log records, if it ran with --log")
    p.add_argument("--env", action="store_true", help="the whole environment and all packages")
    p.add_argument("--oneliner", action="store_true", help="a shell line to reproduce it")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Show."""
    given = parser().parse_args(args)
    with open_here() as reading:
        if given.oneliner:
            line, lacks = make_oneliner(reading, given.attempt)
            if lacks:
                words.put(f"the line does without {', '.join(lacks)}", sys.stderr)
            if given.json:
                words.put_json({"schema": 1, "oneliner": line})
            else:
                words.put(words.AsIs(line))
            return 0
        if given.times:
            return _times(reading.output_folder(reading.store.resolve(given.attempt)))
        if given.log:
            return _log(reading, given.attempt)
        report = show(reading, given.attempt)
    if given.json:
        words.put_json(report_json.show(report))
    elif given.peek:
        for line in (report.evidence.get("peeks") or "").splitlines():
            words.put(words.AsIs(words.clean(line)))
    elif given.output:
        words.put_bytes(report.output)
    else:
        from zeroin.fronts import show_text

        for line in show_text.lines(report, words.Paint(sys.stdout), everything=given.env):
            words.put(line)
    return 0


def _log(reading: Reading, name: str) -> int:
    """The file, as it is."""
    attempt = reading.store.resolve(name)
    path = log_of(reading, attempt)
    if path is None:
        raise ZeroinError(
            f"attempt {attempt.id} has no log: it was run without --log, or logged nothing",
            hint="zeroin run --log -- COMMAND",
        )
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            words.put_bytes(part)
    return 0


def _times(folder: str) -> int:
    """`12.345 err  the line`: the moment each line began to be written."""
    from zeroin.run import keep

    begun: dict[str, tuple[float, bytes]] = {}
    for piece in keep.pieces(folder):
        if piece.stream == "gap":
            words.put(f"{'':>10} ...  [{piece.data.decode()} bytes not kept]")
            continue
        first, rest = begun.get(piece.stream, (piece.seconds, b""))
        *whole, rest_now = (rest + piece.data).split(b"\n")
        for number, line in enumerate(whole):
            stamp = first if number == 0 and rest else piece.seconds
            words.put(_stamped(stamp, piece.stream, line))
        begun[piece.stream] = (first if not whole and rest else piece.seconds, rest_now)
    for stream, (stamp, rest) in begun.items():
        if rest:
            words.put(_stamped(stamp, stream, rest))
    return 0


def _stamped(stamp: float, stream: str, line: bytes) -> str:
    text = words.clean(line.decode("utf-8", "replace"))
    return words.AsIs(f"{stamp:>10.3f} {stream:<3}  {text}")

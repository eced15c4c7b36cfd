"""The loop's lines, for people."""

from __future__ import annotations

from zeroin.cycle import Kind
from zeroin.fronts import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.fronts.words import Paint
    from zeroin.tools.loop import Iteration

COLUMN = 40  # where what is said about a run begins, if its outcome leaves room
NARROW = 80  # columns that a run has to have for a line
SMALL = 1 << 16  # bytes of memory that are not worth a number
NONE = "there is no snapshot"
HINT = "waiting for a save    Enter: again   c: cold   v: verify   d: debugger   ?: help   q: quit"
HELP = """\
  Enter   run again, from the newest snapshot that is valid
  c       run again from the beginning
  v       run the last one cold as well, and compare
  d       debugger at the failure, with its state alive
  q       quit (also Ctrl-D)
  Saving a file that the program used runs it again. Ctrl-C ends the program while it runs.
  Each run is an attempt:  zeroin log   zeroin show   zeroin diff"""


def iteration(done: Iteration, paint: Paint, width: int) -> str:
    """`[2] 0.09 s  ✗ KeyError at train.py main()     resumed before train.py:88 · 41.9 s saved`."""
    number = f"[{done.n}]"
    took = f" {clock(done.outcome.seconds)} " if done.mode is not None else ""
    mark, colour, what = _outcome(done)
    about = _about(done)
    used = len(number) + len(took) + len(mark) + 2
    what = words.clean(what)
    if width < NARROW:  # it is folded anyway
        gap = "  " if about else ""
    else:
        what = words.cut(what, max(COLUMN, width - used - len(about) - 3))
        gap = " " * max(2, COLUMN - len(what)) if about else ""
    head = f"{paint(number, 'bold')}{took} {paint(mark, colour, 'bold')} {paint(what, 'bold')}"
    return head + gap + paint(about, "dim")


def _outcome(done: Iteration) -> tuple[str, str, str]:
    outcome = done.outcome
    if done.stopped:
        return "·", "yellow", done.reason
    if outcome.kind is Kind.PASSED:
        return "✓", "green", "passed"
    if not outcome.failed:
        return "·", "yellow", "interrupted"
    return "✗", "red", outcome.headline or outcome.kind.value


def _about(done: Iteration) -> str:
    if done.stopped:
        return ""
    if done.broken is not None:
        return "not started"
    parts = []
    if done.mode == "cold":
        if done.reason and not (done.gate and done.reason == NONE):  # the gate says why
            parts.append(f"cold: {done.reason}")
        if done.snapshots:
            size = f", {words.size(done.snapshot_bytes)}" if done.snapshot_bytes else ""
            parts.append(f"snapshots: {done.snapshots}{size}")
    else:
        parts.append(f"resumed before {done.resumed_at}")
        if done.mode == "standby":
            parts[0] = f"went on from standby before {done.resumed_at}"
        if done.mode == "from-failure":
            parts.append("not a cold run")
        parts.append(f"{words.seconds(done.saved)} saved")
        if done.reason:
            parts.append(f"not later: {done.reason}")
    if done.gate:
        parts.append(
            f"no snapshots: {done.gate}" if done.never else f"no snapshots since {done.gate}"
        )
    return " · ".join(parts)


def verified(done: Iteration, paint: Paint) -> list[str]:
    """What the comparison gave: the end of the line, and more below it if it must be."""
    if done.verify_seconds is None:
        return [paint(done.difference, "yellow")]
    took = f"verified cold in {words.seconds(done.verify_seconds)}"
    if done.verified:
        note = f" {done.difference}" if done.difference else ""
        return [paint(f"{took}: same{note}", "green")]
    if done.verified is None:
        return [paint(f"{took}: can't be told, {done.difference}", "yellow")]
    attempts = ""
    if done.attempt is not None and done.cold_attempts:
        attempts = f"  compare: zeroin diff {done.attempt} {done.cold_attempts[0]}"
    return [
        paint(f"{took}: DIFFERENT", "red", "bold"),
        paint("  This is a bug in zeroin: a resumed run must be what a cold run is.", "red"),
        f"  {words.clean(done.difference)}",
        *([attempts] if attempts else []),
    ]


def profile(done: Iteration, paint: Paint, width: int) -> list[str]:
    """A table: what took longest, at most as wide as the terminal."""
    if not done.profile:
        return []
    lines = [paint("   seconds  share      count      memory  statement", "dim")]
    for one in done.profile:
        last = f"-{one.end_line}" if one.end_line != one.line else ""
        count = f"{one.times:,}{'+' * one.sampled}"
        held = f"{'-' if one.memory < 0 else '+'}{words.size(abs(one.memory))}"
        held = held if abs(one.memory) >= SMALL else ""
        numbers = f"{one.seconds:10.3f} {one.share:5.0%} {count:>11} {held:>11}"
        what = f"{one.file}:{one.line}{last}  {words.clean(one.source)}"
        lines.append(f"{numbers}  {words.cut(what, max(COLUMN, width - len(numbers) - 2))}")
    return lines


def clock(seconds: float) -> str:
    """`0.09 s`, `0:42.1`, `12:05.3`, `1:02:05`."""
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds, 1), 60)
    if minutes < 60:
        return f"{int(minutes)}:{rest:04.1f}"
    return f"{int(minutes // 60)}:{int(minutes % 60):02d}:{int(rest):02d}"

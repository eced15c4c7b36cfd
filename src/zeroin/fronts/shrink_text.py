"""What `shrink` says: a line that moves while it searches, and the answer."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time

from zeroin.fronts import words
from zeroin.fronts.words import Paint, put, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from zeroin.tools.shrink.report import Baseline, Progress, ShrinkReport, Shrunk

MOST_OTHERS = 5  # that are told
EVERY = 0.1  # seconds between two states of the line


class Teller:
    """Tells on the way; the moving line only on a terminal."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._moves = stream.isatty() and not quiet
        self._quiet = quiet
        self._at = 0.0
        self._shown = False

    def baseline(self, baseline: Baseline) -> None:
        """How it fails."""
        if self._quiet:
            return
        runs = len(baseline.outcomes)
        often = (
            "twice out of twice"
            if runs == baseline.times == 2
            else f"{baseline.times} of {runs} times"
        )
        more = f" · {baseline.repeats} runs a try" if baseline.repeats > 1 else ""
        put(f"baseline: {baseline.headline}, {often}{more}{_warmth(baseline)}", self._stream)

    def progress(self, progress: Progress) -> None:
        """The line that moves."""
        now = time.monotonic()
        if not self._moves or now - self._at < EVERY:
            return
        self._at = now
        rate = progress.tries / progress.seconds if progress.seconds else 0
        parts = [
            f"{counted(progress.parts_before, progress.noun)} → {progress.parts_now:,}",
            f"{size(progress.bytes_before)} → {size(progress.bytes_now)}",
            f"{progress.tries:,} tries, {rate:.0f} a second",
        ]
        if progress.others:
            parts.append(counted(progress.others, "other failure"))
        self._show(parts)

    def _show(self, parts: list[str]) -> None:
        """As many of the parts as the terminal has room for; a line that breaks can't be erased."""
        width = shutil.get_terminal_size().columns - 1
        while len(parts) > 1 and len(" · ".join(parts)) > width:
            parts = parts[:-1]
        self._stream.write(f"\r\x1b[K{words.make_safe(' · '.join(parts))[:width]}")
        self._stream.flush()
        self._shown = True

    def note(self, text: str) -> None:
        """Something to know."""
        if self._quiet:
            return
        self.close()
        put(f"zeroin: {text}", self._stream)

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False


def _warmth(baseline: Baseline) -> str:
    if baseline.warm_seconds is not None:
        return f" · warm: {baseline.seconds:.2g} s → {baseline.warm_seconds:.2g} s a try"
    return f" · cold: {baseline.cold_because}" if baseline.cold_because else ""


def counted(count: int, noun: str) -> str:
    """`5,000 rows`."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun}"


def put_report(report: ShrinkReport) -> None:
    """The answer, for people."""
    paint = Paint(sys.stdout)
    if report.verdict in ("not-reproduced", "independent"):
        for line in _nothing(report, paint):
            put(line)
        return
    for one in report.payloads:
        put(_payload(one))
    for other in report.others[:MOST_OTHERS]:
        where = f"  {other.example}" if other.example else ""
        times = "1 try" if other.times == 1 else f"{other.times:,} tries"
        put(f"other failure, {times}: {other.headline}{where}")
    more = len(report.others) - MOST_OTHERS
    if more > 0:
        put(f"and {counted(more, 'other failure')} of other kinds: --json lists them")
    for note in report.notes:
        put(f"note: {note}")
    put(_end(report, paint))
    written = [one.result for one in report.payloads if one.result]
    if written:
        put(f"written: {', '.join(written)}")
    if report.verdict == "found":
        put(f"reproduce: {_elsewhere(report)}{shlex.join(report.command)}")


def _elsewhere(report: ShrinkReport) -> str:
    return "" if report.cwd == os.getcwd() else f"cd {shlex.quote(report.cwd)} && "


def _nothing(report: ShrinkReport, paint: Paint) -> tuple[str, str]:
    """Why there is nothing to shrink, and what to do."""
    baseline, command = report.baseline, shlex.join(report.command)
    runs = f"{counted(len(baseline.outcomes), 'run')} as it is"
    shown, nothing = f"{_elsewhere(report)}zeroin run -- {command}", "so there is nothing to shrink"
    if report.verdict == "independent" and not any(one.failed for one in baseline.outcomes):
        told = f"{paint('nothing at all is interesting', 'yellow')}: with an empty payload"
        next_step = "so it can't tell failures apart: let it look for what this one says"
        return f"{told} {baseline.headline} as well", f"{next_step}, as  2>&1 | grep -q MESSAGE"
    if report.verdict == "independent":
        told = paint("it fails the same way with nothing in the payload", "yellow")
        next_step = f"so it is not about what is in there; is the command right?  {shown}"
        return f"{told}: {baseline.headline}", next_step
    if baseline.wanted.endswith(" ends with 0"):  # a script's word
        told = f"{paint('it is not interesting', 'yellow')}: {runs}, and never {baseline.wanted}"
        return told, f"{nothing}; what does it say?  {_elsewhere(report)}{command}"
    if any(one.failed for one in baseline.outcomes):
        told = f"{paint('it fails, but not that way', 'yellow')}: {runs}, {baseline.headline}"
        return told, f"{nothing} for {baseline.wanted}; how does it fail?  {shown}"
    told = f"{paint('it does not fail', 'yellow')}: {runs}, all passed"
    often = shown.replace("zeroin run", "zeroin run --until-fail", 1)
    return told, f"{nothing}, unless it fails only sometimes; does it?  {often}"


def _payload(one: Shrunk) -> str:
    text = (
        f"{one.path}  {counted(one.parts_before, one.noun)} → {counted(one.parts_after, one.noun)}"
        f"  {size(one.bytes_before)} → {size(one.bytes_after)}"
    )
    return f"{text}: {one.text}" if one.text else text


def _end(report: ShrinkReport, paint: Paint) -> str:
    tries = f"{report.tries:,} tries, {report.seconds:.1f} s"
    if report.resumed:
        tries += f", {report.resumed:,} answers from before"
    if report.verdict == "interrupted":
        return f"{tries}  {paint('interrupted', 'yellow')}: the same command goes on from here"
    if report.confirmed:
        return f"{tries}  {paint('confirmed cold ✓', 'green')}"
    told = paint("not confirmed", "red")
    return f"{tries}  {told}: what was left did not fail the same way once more; nothing is written"


def put_json(report: ShrinkReport) -> None:
    """The answer, for programs."""
    told = {
        "schema": 1,
        "verdict": report.verdict,
        "signature": report.baseline.signature,
        "headline": report.baseline.headline,
        "tries": report.tries,
        "seconds": round(report.seconds, 3),
        "warm": report.warm,
        "confirmed": report.confirmed,
        "resumed": report.resumed,
        "other_failures": [one._asdict() for one in report.others],
        "payloads": [one._asdict() for one in report.payloads],
        "command": list(report.command),
        "cwd": report.cwd,
        "notes": list(report.notes),
        "steps": [one._asdict() for one in report.steps],
    }
    words.put_json(told)

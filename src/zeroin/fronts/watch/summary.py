"""What is left when the screen has gone: the peaks of all that was watched."""

from __future__ import annotations

from zeroin.fronts import words
from zeroin.fronts.watch.cells import amount, clean, command, percent, rate, span
from zeroin.fronts.watch.rows import local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.tools.watch import Peaks, Summary
    from zeroin.tools.watch.things import Thing

MOST = 10  # processes of each panel
NAME = 70


def lines(summary: Summary) -> list[str]:
    """A few."""
    samples = f"{summary.samples:,} sample{'' if summary.samples == 1 else 's'}"
    out = [f"watched for {words.seconds(summary.seconds)}, {samples}"]
    for peaks in summary.peaks:
        out += _of(peaks)
    return out


def _of(peaks: Peaks) -> list[str]:
    what = clean(peaks.what)
    if peaks.kind == "command":
        failed = f", {peaks.failures:,} failed" if peaks.failures else ""
        runs = f"{peaks.runs:,} run{'' if peaks.runs == 1 else 's'}"
        changes = f"{peaks.changes:,} time{'' if peaks.changes == 1 else 's'}"
        return [f"{what}: {runs}, changed {changes}{failed}"]
    if peaks.kind == "processes":
        return _processes(what, peaks)
    if not peaks.at:
        return []
    text = percent(peaks.value) if peaks.kind == "cpu" else amount(peaks.value)
    text = rate(peaks.value) if peaks.kind == "net" else text
    return [f"{what}: at most {text}, at {local(peaks.at)}"]


def _processes(what: str, peaks: Peaks) -> list[str]:
    if not peaks.things:
        return [f"{what}: no process was seen"]
    out = []
    if len(peaks.things) > 1:
        out.append(
            f"{what}: {len(peaks.things):,} processes, "
            f"together at most {amount(peaks.value)} at {local(peaks.at)}"
        )
    else:
        out.append(f"{what}:")
    out += [_process(thing) for thing in peaks.things[:MOST]]
    more = len(peaks.things) - MOST
    if more > 0:
        out.append(f"  and {more:,} more with smaller peaks")
    return out


def _process(thing: Thing) -> str:
    ended = f"ended after {span(thing.age)}" if thing.state == "ended" else "still there"
    rank = f" rank {thing.rank}" if thing.rank is not None else ""
    gpu = f", GPU {amount(thing.gpu)}" if thing.gpu else ""
    name = command(thing.name, NAME).rstrip()
    return f"  {thing.pid!s:>7}{rank}  peak {amount(thing.peak)}{gpu}, {ended}: {name}"

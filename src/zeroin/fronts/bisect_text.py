"""What `bisect` says: each try in a line, and the answer."""

from __future__ import annotations

import sys

from zeroin.cycle import Kind, Verdict
from zeroin.fronts import bisect_culprits, words
from zeroin.fronts.bisect_packages_text import ABSENT, put_packages
from zeroin.fronts.shrink_text import counted
from zeroin.fronts.words import Paint, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from zeroin.tools.bisect.report import BisectReport, Ends, Progress, Tried

MOST_FILES = 8
VALUE = "value"  # of a limit: too little of it fails in many ways
MOST_SKIPPED = 5
MOST_CANDIDATES = 12
_WORDS = {
    Verdict.SAME: ("fails the same way", "red"),
    Verdict.PASSED: ("works", "green"),
    Verdict.OTHER: ("tells nothing", "yellow"),
}


class Teller:
    """Tells on the way."""

    def __init__(self, stream: TextIO, noun: str, *, quiet: bool, fixed: bool = False) -> None:
        self._stream = stream
        self._noun = noun
        self._quiet = quiet
        self._fixed = fixed
        self._paint = Paint(stream)

    def ends(self, ends: Ends) -> None:
        """Both ends are known."""
        self._fixed = self._fixed or ends.fixed
        good = f"fails otherwise: {ends.good_headline}" if ends.good_headline else "works"
        bad = f"fails: {ends.bad_headline}" if ends.bad_headline else "works"
        if self._fixed:
            good = f"fails: {ends.good_headline}"
        often = "" if ends.rate in (0, 1) else f", in {ends.rate:.0%} of the runs"
        between = counted(ends.between, ends.noun or self._noun)
        at_once = f", {ends.at_once} at a time" if ends.at_once > 1 else ""
        self._put(f"{ends.good} {good} · {ends.bad} {bad}{often}      {between} between{at_once}")

    def progress(self, progress: Progress) -> None:
        """A try is over."""
        tried = progress.tried
        text = f"{progress.tries:>3}  {tried.label}  {self._how(tried)}"
        if progress.between > 1 and tried.verdict is not None:
            text += f"      {counted(progress.between, progress.noun or self._noun)} left"
            if progress.tries_left >= 1:
                text += f", about {counted(round(progress.tries_left), 'step')}"
        self._put(text)

    def _how(self, tried: Tried) -> str:
        if tried.outcome is None:
            return self._paint(f"can't be tested: {tried.reason}", "yellow")
        headline = tried.outcome.headline
        if tried.verdict is None:
            passed = tried.outcome.kind is Kind.PASSED
            return self._paint("works", "green") if passed else f"fails: {headline}"
        word, colour = _WORDS[tried.verdict]
        if self._noun == VALUE and tried.verdict is Verdict.SAME:
            word = f"fails: {headline}"
        if tried.fixed and tried.verdict is not Verdict.OTHER:
            word = "works" if tried.verdict is Verdict.SAME else "fails the same way"
        elif tried.outcome.failed and tried.verdict is Verdict.PASSED:
            word = f"as good: {headline}"
        elif tried.verdict is Verdict.OTHER:
            word = f"{word}: {headline}"
        return self._paint(word, colour)

    def note(self, text: str) -> None:
        """Something to know."""
        self._put(f"zeroin: {text}")

    def _put(self, text: str) -> None:
        if not self._quiet:
            put(text, self._stream)


def put_report(report: BisectReport, noun: str = "change") -> None:
    """The answer, for people."""
    paint = Paint(sys.stdout)
    for note in report.notes:
        put(f"note: {note}")
    skipped = list(report.skipped)
    for one in skipped[:MOST_SKIPPED]:
        put(f"skipped: {_named(report, one.name)}: {one.reason}")
    if len(skipped) > MOST_SKIPPED:
        put(f"and {len(skipped) - MOST_SKIPPED} more were skipped: --json lists them")
    if report.verdict == "not-reproduced":
        put(f"{paint('not reproduced', 'yellow')}: {report.why}")
        if report.hint:
            put(f"next: {report.hint}")
    elif report.verdict == "interrupted":
        put(f"{paint('interrupted', 'yellow')}: the same command goes on from here")
    elif report.culprits and report.axis != "envs":
        bisect_culprits.put(report, noun, paint)
    else:
        if report.why:
            put(f"{paint('given up', 'yellow')}: {report.why}")
        _put_answer(report, paint)
        if report.why and report.hint:
            put(f"next: {report.hint}")
    put(_end(report, paint))


def _named(report: BisectReport, name: str) -> str:
    """A commit by its subject as well."""
    if report.axis != "commits":
        return name[:40]
    subject = report.about.get("subjects", {}).get(name)
    return f'{name[:10]} "{subject}"' if subject else name[:10]


def _put_answer(report: BisectReport, paint: Paint) -> None:
    if report.axis in ("versions", "envs"):
        put_packages(report, paint, put_commit)
        return
    word = "first fixed" if report.fixed else "first bad"
    if report.verdict == "range":
        names = [_named(report, one) for one in report.candidates]
        apart = "" if report.why else ", which nothing tells apart"
        put(f"{paint(word, 'bold')}: one of {len(names)}{apart}:")
        for name in names[:MOST_CANDIDATES]:
            put(f"  {name}")
        if len(names) > MOST_CANDIDATES:
            put(f"  and {len(names) - MOST_CANDIDATES} more: --json lists them")
        return
    if report.axis == "limit":
        about = report.about
        put(f"{paint('enough', 'bold')}: {about['limit']} · fails with {about['fails_with']}")
        return
    commit = report.about.get("commit")
    if commit is None:
        date = report.about.get("date")
        put(f"{paint(word, 'bold')}: {report.first_bad}{f' ({date})' if date else ''}")
        return
    put_commit(commit, word, paint)


def put_commit(commit: Mapping[str, Any], word: str, paint: Paint) -> None:
    """One, with what it changed."""
    number = f" · pull request #{commit['pull_request']}" if commit["pull_request"] else ""
    put(f'{paint(word, "bold")}: {commit["short"]} "{commit["subject"]}"{number}')
    put(f"  {commit['author']}, {commit['date'][:10]}")
    for file in commit["files"][:MOST_FILES]:
        put(f"  {file['path']}  +{file['added']} −{file['removed']}")
    if len(commit["files"]) > MOST_FILES:
        put(f"  and {counted(len(commit['files']) - MOST_FILES, 'more file')}")
    if commit["link"]:
        put(f"  {commit['link']}")


def _end(report: BisectReport, paint: Paint) -> str:
    text = f"{counted(report.tries, 'run')}, {report.seconds:.1f} s"
    if report.resumed:
        text += f", {report.resumed:,} answers from before"
    if report.culprits and report.axis != "envs" and report.confirmed:
        text += bisect_culprits.end(report, paint)
    elif report.verdict == "found" and report.confirmed:
        old, new = ("fails", "works") if report.fixed else ("works", "fails the same way")
        old = "fails as before" if report.about.get("before") else old
        good, bad = (
            one[:10] if report.axis == "commits" else one or ABSENT
            for one in (report.last_good, report.first_bad)
        )
        if report.axis == "limit":
            new = "fails"
            good, bad = report.about["limit"], report.about["fails_with"]
        if report.flaky:
            text += f" · {report.confidence:.1%} sure"
        else:
            text += f" · {paint('confirmed', 'green')}: {good} {old}, {bad} {new}"
    return text


def put_json(report: BisectReport) -> None:
    """The answer, for programs."""
    told = {"schema": 1, **report._asdict()}
    told["skipped"] = [one._asdict() for one in report.skipped]
    told["culprits"] = [one._asdict() for one in report.culprits]
    told["seconds"] = round(report.seconds, 3)
    words.put_json(told)

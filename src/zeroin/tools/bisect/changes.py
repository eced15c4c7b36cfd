"""An axis of changes: what it is called, and the report of a search among them."""

from __future__ import annotations

import time

from zeroin.axes.changes.choice import NOTHING, Choice, read
from zeroin.cycle import Verdict
from zeroin.named import NamedTuple
from zeroin.tools.bisect.alike import alike, note
from zeroin.tools.bisect.combined import Combined, Together
from zeroin.tools.bisect.judge import ByPlace
from zeroin.tools.bisect.report import BisectReport, Culprit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from zeroin.axes.changes.choice import Change
    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.tries import Tries
    from zeroin.tools.workers import Servant


class ChangesAxis:
    """Candidates are named as `Choice` names them."""

    def __init__(
        self,
        noun: str,
        key: str,
        whole: Choice,
        ends: tuple[str, str],
        change: Callable[[int], Change],
        make: Callable[[int], Servant],
        one: str = "only",
    ) -> None:
        self.noun = noun
        self._one = one  # the word in front of the name of one
        self.key = key
        self.servant = make
        self._whole = whole
        self.ends = ends
        self._change = change

    def be_about(self, whole: Choice, ends: tuple[str, str]) -> None:
        """Only some of them are looked at."""
        self._whole = whole
        self.ends = ends

    def label(self, name: str) -> str:
        """`attempt 12`, `only train.py:31`, `4 of 9 changes`."""
        if name in (NOTHING, self._whole.name):
            return self.ends[name != NOTHING]
        ranges = read(name)
        size = sum(stop - start for start, stop in ranges)
        if size == 1:
            return f"{self._one} {self._change(ranges[0][0]).name}"
        return f"{size:,} of {self._whole.size:,} {self.noun}s"


class Question(NamedTuple):
    """What is searched, and how it is told."""

    axis: str
    whole: Choice
    ends: tuple[str, str]
    change: Callable[[int], Change]
    merge: Callable[[Sequence[int]], list[list[int]]]  # numbers that are told as one
    why_not: Callable[[str], str] = lambda _: ""  # why a mixture can't be tried


def each(numbers: Sequence[int]) -> list[list[int]]:
    """All told by themselves."""
    return [[one] for one in numbers]


def search(
    question: Question,
    tries: Tries,
    options: BisectOptions,
    notes: Sequence[str],
    began: float,
) -> tuple[BisectReport, Together]:
    """Find the fewest changes; Ctrl-C keeps what is known."""
    combined = Combined(tries, question.whole, options, question.why_not)
    try:
        found = combined.find()
        combined, found = _by_place(question, tries, options, combined, found)
    except KeyboardInterrupt:
        found = Together("interrupted")
    else:
        tries.memory.forget()
    culprits = [
        culprit
        for number, one in enumerate(found.sets)
        for culprit in _culprits(question, combined, one, number)
    ]
    judge = tries.judge
    outcomes = [one for runs in tries.outcomes.values() for one in runs]
    same = (one for one in outcomes if judge and judge.oracle.judge(one) is Verdict.SAME)
    report = BisectReport(
        question.axis,
        found.verdict,
        next(same).headline if judge is not None else "",
        str(judge.oracle.signature or "") if judge is not None else "",
        question.ends[1] if found.verdict == "found" else "",
        question.ends[0] if found.verdict == "found" else "",
        culprits=culprits,
        tries=tries.tries,
        resumed=tries.memory.resumed,
        seconds=time.monotonic() - began,
        confidence=found.confidence,
        confirmed=found.confirmed,
        why=found.why,
        hint=found.hint,
        about={
            "changes": question.whole.size,
            "sets": len(found.sets),
            "cured": found.cured,
            "instead": found.instead,
        },
        notes=[*notes, *([found.note] if found.note else [])],
        flaky=found.flaky,
    )
    return report, found


def _by_place(
    question: Question, tries: Tries, options: BisectOptions, combined: Combined, found: Together
) -> tuple[Combined, Together]:
    """Once more with failures in the same place as the same, if that leaves fewer."""
    judge, count = tries.judge, sum(one.size for one in found.sets)
    told = alike(tries, list(tries.outcomes), options) if count > len(found.sets) else ()
    if judge is None or not told:
        return combined, found
    tries.judge = ByPlace(*judge)
    again = Combined(tries, question.whole, options, question.why_not)
    fewer = again.find()
    if fewer.verdict == "found" and sum(one.size for one in fewer.sets) < count:
        return again, fewer._replace(note=note(tries, told))
    tries.judge = judge
    return combined, found


def _culprits(question: Question, combined: Combined, one: Choice, number: int) -> list[Culprit]:
    """The members of a set; whether each breaks it, or only has to come along."""
    found = []
    for numbers in question.merge(one.numbers()):
        changes = [question.change(at) for at in numbers]
        needs = [combined.need(one, at) for at in numbers]
        comes_along = all(verdict is Verdict.OTHER for verdict, _ in needs)
        about: dict[str, Any] = {
            **changes[0].about,
            "kind": changes[0].kind,
            "set": number,
            "comes_along": comes_along and one.size > len(numbers),
            "otherwise": needs[0][1] if comes_along else "",
        }
        found.append(
            Culprit(changes[0].name, _joined(changes, "old"), _joined(changes, "new"), about)
        )
    return found


def _joined(changes: Sequence[Change], side: str) -> str | None:
    texts = [getattr(one, side) for one in changes]
    present = [text for text in texts if text is not None]
    return "".join(present) if present else None

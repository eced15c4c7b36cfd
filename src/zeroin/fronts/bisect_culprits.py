"""The answer of `bisect` where it is a set of changes: what it takes, as one would read it."""

from __future__ import annotations

import shlex

from zeroin.fronts import words
from zeroin.fronts.shrink_text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.fronts.words import Paint
    from zeroin.tools.bisect.report import BisectReport, Culprit

MOST_LINES = 30  # of one side of a change
WIDEST = 160


def put(report: BisectReport, noun: str, paint: Paint) -> None:
    """All sets, each with its members."""
    if report.headline:
        words.put(words.clean(report.headline))
    sets = _sets(report.culprits)
    for number, members in enumerate(sets):
        title, of = _title(number, members, report, noun)
        words.put(f"{paint(title, 'bold')} {paint(of, 'dim')}")
        for one in members:
            if not one.about.get("comes_along"):
                _put_one(one, paint)
        for one in members:
            if one.about.get("comes_along"):
                other = one.about.get("otherwise")
                words.put(f"  which needs{f' (else {words.clean(other)})' if other else ''}:")
                _put_one(one, paint)
    if report.axis == "tests":
        words.put(f"again: {shlex.join(report.about['again'])}")
    elif not report.about["cured"]:
        instead = report.about.get("instead")
        says = f"fails otherwise: {instead}" if instead else "still fails the same way"
        words.put(f"note: taking this back alone is no cure: {report.first_bad} without it {says}")


def _sets(culprits: Sequence[Culprit]) -> list[list[Culprit]]:
    found: dict[int, list[Culprit]] = {}
    for one in culprits:
        found.setdefault(one.about.get("set", 0), []).append(one)
    return list(found.values())


def _title(
    number: int, members: Sequence[Culprit], report: BisectReport, noun: str
) -> tuple[str, str]:
    own = sum(not one.about.get("comes_along") for one in members)
    title = "what breaks it, too, without that" if number else "what broke it"
    if report.axis == "tests":
        verb = "works only" if report.fixed else "fails"
        title = f"{report.about['test']} {verb} behind"
        title = f"also {title}" if number else title
    of = f"{own} of {counted(report.about['changes'], noun)}"
    if own > 1:
        title += ", together"
        of += ", neither alone" if own == 2 else ", none of them alone"
    return title, f"({of}):"


def _put_one(one: Culprit, paint: Paint) -> None:
    kind = one.about.get("kind", "")
    name = words.clean(one.name)
    if kind in ("code", "file", "row"):
        inside = one.about.get("function")
        words.put(f"  {paint(name, 'cyan')}{f' in {inside}' if inside else _how(one)}")
        _put_lines(one.old, "-", "red", paint)
        _put_lines(one.new, "+", "green", paint)
        return
    if kind == "test":
        words.put(f"  {paint(name, 'cyan')}")
        return
    old, new = (_said(side) for side in (one.old, one.new))
    words.put(f"  {paint(name, 'cyan')}: {paint(old, 'red')} → {paint(new, 'green')}")


def _how(one: Culprit) -> str:
    if one.about.get("kind") != "file":
        return ""
    return " (new)" if one.old is None else " (removed)" if one.new is None else ""


def _put_lines(text: str | None, mark: str, colour: str, paint: Paint) -> None:
    rows = (text or "").splitlines()
    for row in rows[:MOST_LINES]:
        words.put("    " + paint(f"{mark} {_cut(row)}", colour))
    if len(rows) > MOST_LINES:
        words.put(f"    {mark} … {counted(len(rows) - MOST_LINES, 'more line')}")


def _cut(row: str) -> str:
    row = words.clean(row)
    return row if len(row) <= WIDEST else row[: WIDEST - 1] + "…"


def _said(value: str | None) -> str:
    return "not there" if value is None else _cut(value) or "empty"


def end(report: BisectReport, paint: Paint) -> str:
    """What was confirmed."""
    if report.axis == "tests":
        alone, behind = ("fails", "works") if report.fixed else ("works", "fails the same way")
        return f" · {paint('confirmed', 'green')}: {alone} alone, {behind} behind that"
    good = report.last_good
    text = f" · {paint('confirmed', 'green')}: {good} with it fails the same way"
    if report.about["cured"]:
        text += f", {report.first_bad} without it works"
    if report.flaky:
        text = f" · {report.confidence:.1%} sure{text}"
    return text

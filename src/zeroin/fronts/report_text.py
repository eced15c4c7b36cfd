"""Reports as text for people."""

from __future__ import annotations

import os

from zeroin.cycle import Kind
from zeroin.fronts import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle.oracle import Rate
    from zeroin.fronts.words import Paint
    from zeroin.record.code import Change
    from zeroin.tools.compare import Changed, Difference
    from zeroin.tools.recorder import Story
    from zeroin.tools.repeat import RepeatReport
    from zeroin.tools.run import RunReport
    from zeroin.tools.tests import FailingTest

MOST_CHANGES = 4
FEW_PACKAGES = 2  # of another Python, that are named


def run(report: RunReport, paint: Paint) -> list[str]:
    """The lines under a finished run."""
    lines = [one_line(report, paint)]
    if report.stuck:
        lines.append(f"  {words.clean(report.stuck)}")
    if report.worker is not None:
        lines.append(f"  in {words.worker(report.worker)}")
    about = []
    if report.outcome.failed and report.outcome.peak_bytes:
        about.append(f"peak memory {words.size(report.outcome.peak_bytes)}")
    if report.story is not None:
        about += _relation(report.story, report)
    if report.survivors:
        about.append("background processes of it go on")
    if about:
        lines.append("  " + " · ".join(about))
    if report.limits:
        from zeroin.fronts import limit_text

        lines += limit_text.lines(report.limits, paint, failed=report.outcome.failed)
    lines += [f"  {line}" for line in failing_tests(report.tests)]
    if report.log is not None:
        lines.append(f"  its log: zeroin show {report.attempt} --log")
    if report.probes:
        from zeroin.fronts import probes_text

        lines += probes_text.lines([one._asdict() for one in report.probes], paint)
    lines += [paint(f"  warning: {text}", "yellow") for text in report.warnings]
    if report.outcome.failed and report.attempt is not None:
        lines.append(paint("  " + "     ".join(next_steps(report)), "dim"))
    return lines


def failing_tests(tests: Sequence[FailingTest]) -> list[str]:
    """`attempts 14-63: KeyError at data.py collate(): 'label' (50 tests)`: each failure once."""
    groups: dict[str, list[FailingTest]] = {}
    for one in tests:
        groups.setdefault(one.signature, []).append(one)
    lines = []
    for group in groups.values():
        numbers = words.numbers([one.attempt for one in group], 8)
        plural = "s" if len(group) > 1 else ""
        which = f"{len(group)} tests" if plural else words.clean(group[0].test)
        headline = words.cut(words.clean(group[0].headline), 160)
        lines.append(f"attempt{plural} {numbers}: {headline}  ({which})")
    return lines


def one_line(report: RunReport, paint: Paint) -> str:
    """`✗ attempt 13 failed in 41.2 s: ValueError at model.py forward(): ...`."""
    outcome = report.outcome
    name = f"attempt {report.attempt}" if report.attempt is not None else "the command"
    took = words.seconds(outcome.seconds)
    headline = words.clean(words.cut(outcome.headline, 300))
    if outcome.kind is Kind.PASSED:
        # A command of a millisecond is over before anyone could look.
        memory = f" · peak memory {words.size(outcome.peak_bytes)}" if outcome.peak_bytes else ""
        died = f" · {paint(headline, 'yellow')}" if headline else ""
        return f"{paint('✓', 'green', 'bold')} {name} passed in {took}{memory}{died}"
    if not outcome.failed:
        return f"{paint('·', 'yellow')} {name} was interrupted after {took}"
    cross = paint("✗", "red", "bold")
    if outcome.kind is Kind.HANG:
        where = headline.removeprefix("hang").strip()
        return f"{cross} {name} timed out after {took}" + (f"; it was {where}" if where else "")
    if outcome.kind is Kind.KILLED:
        return f"{cross} {name} was ended after {took}: {paint(headline, 'bold')}"
    if outcome.kind is Kind.LIMIT:
        return f"{cross} {name} reached its limit after {took}: {paint(headline, 'bold')}"
    return f"{cross} {name} failed in {took}: {paint(headline, 'bold')}"


def _relation(story: Story, report: RunReport) -> list[str]:
    about = []
    if story.same_as:
        plural = "s" if len(story.same_as) > 1 else ""
        about.append(f"same failure as attempt{plural} {words.numbers(story.same_as)}")
    elif report.outcome.failed and story.previous is not None:
        about.append("a new failure")
    if story.previous is not None and story.changed is not None:
        text = changes(story.changed)
        about.append(
            f"changed since {story.previous}: {text}"
            if text
            else f"nothing changed since {story.previous}"
        )
    return about


def changes(difference: Difference) -> str:
    """`model.py (+3 −1), env LR, numpy 1.26 → 2.0`; of many unused new files the number."""
    unused = [c for c in difference.code if c.kind == "A" and c.path not in difference.loaded]
    texts = [_changed_python(difference)] if difference.python is not None else []
    texts += [_changed_file(change) for change in difference.code if change not in unused]
    texts += [f"env {change.name}" for change in difference.env]
    if difference.python is None:
        texts += [_changed_package(change) for change in difference.packages]
    texts += [
        {"command": "arguments", "at": "--at"}.get(change.name, change.name)
        for change in difference.command
        if change.name != "python" and not (difference.python and _is_other_program(change))
    ]
    if not texts or len(texts) + len(unused) <= MOST_CHANGES:
        texts += map(_changed_file, unused)
        unused = []
    more = len(texts) - MOST_CHANGES
    told = ", ".join(texts[:MOST_CHANGES]) + (f" and {more} more" if more > 0 else "")
    if unused:
        told += f", and {len(unused)} new file{'s' if len(unused) > 1 else ''}"
    return told


def _changed_python(difference: Difference) -> str:
    """`another Python: 3.12.1 → 3.11.7 (43 packages differ)`."""
    change = difference.python
    assert change is not None  # noqa: S101 - who calls it has looked
    text = f"another Python: {words.tilde(change.old or '')} → {words.tilde(change.new or '')}"
    count = len(difference.packages)
    if count > FEW_PACKAGES:
        return f"{text} ({count} packages differ)"
    few = ", ".join(map(_changed_package, difference.packages))
    return f"{text} ({few})" if few else text


def _is_other_program(change: Changed) -> bool:
    """Whether two commands differ only in which program their first word names."""
    import shlex

    if change.name != "command":
        return False
    before, after = (shlex.split(text or "") for text in (change.old, change.new))
    return before[1:] == after[1:]


def _changed_file(change: Change) -> str:
    return f"{change.path} {_counts(change.added, change.removed, change.kind)}"


def _changed_package(change: Changed) -> str:
    return f"{change.name} {change.old or 'none'} → {change.new or 'none'}"


def _counts(added: int | None, removed: int | None, kind: str) -> str:
    if kind == "A":
        return f"(new, +{added})" if added is not None else "(new)"
    if kind == "D":
        return "(deleted)"
    if added is None or removed is None:
        return "(binary)"
    return f"(+{added} −{removed})"


def next_steps(report: RunReport) -> list[str]:
    """What to type next; each is a command that works as it stands."""
    number = report.attempt
    steps = [f"see it: zeroin show {number}"]
    if report.outcome.kind is Kind.KILLED:
        steps.append(f"what killed it: zeroin why {number}")
    if report.story is not None and report.story.previous is not None:
        steps.append(f"compare: zeroin diff {report.story.previous} {number}")
    steps.append(f"run it again: zeroin again {number}")
    return steps


def repeat(report: RepeatReport, paint: Paint) -> list[str]:
    """Failure rates by signature."""
    if not report.runs:
        return ["interrupted before a run was over: nothing can be said"]
    failed = report.runs - report.passed
    if not failed:
        high = 1 - 0.05 ** (1 / report.runs)
        return [
            (
                f"{paint('✓', 'green', 'bold')} passed {report.runs} of {report.runs}: "
                f"if it fails at all, then in under {100 * high:.1f} % of runs (95 % sure)"
                f" · {_durations(report)}"
            )
        ]
    cross = paint("✗", "red", "bold")
    lines = [f"{cross} failed {failed} of {report.runs} runs · {_durations(report)}"]
    for rate in report.rates:
        example = report.examples[rate.signature]
        headline = words.cut(words.clean(example.outcome.headline), 160)
        lines.append(
            f"  {rate.times:>4} of {rate.runs}: {_percent(rate)}  {headline}"
            + (f"   zeroin show {example.attempt}" if example.attempt is not None else "")
        )
    return lines


def _durations(report: RepeatReport) -> str:
    """`each took 0.51 s (0.48 to 0.73 s)`: the mean, the shortest and the longest run."""
    mean = sum(report.seconds) / len(report.seconds)
    between = f"{words.seconds(min(report.seconds))} to {words.seconds(max(report.seconds))}"
    return f"each took {words.seconds(mean)} on average ({between})"


def _percent(rate: Rate) -> str:
    """`33 % (95 % interval 14 to 61 %)`."""
    share, low, high = (round(100 * one) for one in (rate.times / rate.runs, rate.low, rate.high))
    return f"{share} % (95 % interval {low} to {high} %)"


def short_command(command: list[str]) -> str:
    """A command in one line, its interpreter without its folder."""
    import shlex

    head = os.path.basename(command[0]) if command else ""
    return shlex.join([head, *command[1:]])

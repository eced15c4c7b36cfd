"""The end of the session in words, and as JSON."""

from __future__ import annotations

import json
import os
import shlex

from ..amounts import seconds, signed_size, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .desk import Desk, Failure, Test

SCHEMA = 1
LISTED = 3  # tests named of those that failed the same way
SLOW = 0.1  # seconds; faster tests are not worth a line
LARGE = 5_000_000  # bytes
TOP = 10


def write(desk: Desk, reporter: Any) -> None:
    """Write to pytest's own terminal."""
    failures = [] if desk.is_driven else _failures(desk)  # else `zeroin run` says it
    lines = [*failures, *_rates(desk), *_costs(desk, reporter), *_foreign(desk)]
    lines += [f"note: {text}" for text in desk.notes]
    report = desk.config.option.zeroin_report
    if report:
        lines.append(f"all of it: {report}")
    if lines:
        reporter.section("zeroin")
        for line in lines:
            reporter.write_line(_fitting(line, reporter))


def _failures(desk: Desk) -> list[str]:
    """Each kind of failure once, with the attempts to look at."""
    lines: list[str] = []
    for group in groups(desk.failures):
        first = group[0]
        same = f"  · the same failure {len(group)} times" if len(group) > 1 else ""
        numbers = [one.attempt for one in group if one.attempt is not None]
        if numbers:
            head = f"attempt{'s' * (len(numbers) > 1)} {_ranges(numbers)}: "
            lines.append(f"{head}{first.headline}{same}  · zeroin show {numbers[0]}")
        else:
            lines.append(f"{first.headline}{same}")
        lines += [f"    {_test(one)}" for one in group[:LISTED]]
        if len(group) > LISTED:
            lines.append(f"    and {len(group) - LISTED} more")
        if not numbers:
            lines.append(f"    again: {shlex.join(first.command)}")
    return lines


def groups(failures: list[Failure]) -> list[list[Failure]]:
    """Those that failed the same way together, in the order in which they came."""
    found: dict[str, list[Failure]] = {}
    for one in failures:
        found.setdefault(one.signature, []).append(one)
    return list(found.values())


def _test(failure: Failure) -> str:
    return failure.nodeid + (f"  ({failure.worker})" if failure.worker else "")


def _ranges(numbers: list[int]) -> str:
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _rates(desk: Desk) -> list[str]:
    if not desk.rates:
        return []
    from . import flaky

    return flaky.words(desk.rates)


def _costs(desk: Desk, reporter: Any) -> list[str]:
    """The slowest and the largest; with -q only if asked for."""
    wanted = desk.config.option.zeroin_top
    if wanted is None:
        wanted = 0 if reporter.verbosity < 0 or not desk.config.option.zeroin else TOP
    tests = list(desk.tests.values())
    slow = sorted((t for t in tests if t.seconds >= SLOW), key=lambda t: -t.seconds)[:wanted]
    large = [t for t in tests if (t.peak or 0) >= LARGE]
    large = sorted(large, key=lambda t: -(t.peak or 0))[:wanted]
    lines: list[str] = []
    for title, rows in (("slowest", slow), ("most memory", large)):
        if rows:
            lines += [f"{title}:", *map(_cost, rows)]
    return lines


def _cost(test: Test) -> str:
    peak = f"peak +{size(test.peak)}" if test.peak is not None else ""
    kept = f"kept {signed_size(test.grown)}" if test.grown is not None else ""
    return f"  {seconds(test.seconds):>9}  {peak:<14}  {kept:<13}  {test.nodeid}"


def _foreign(desk: Desk) -> list[str]:
    if not desk.foreign:
        return []
    from . import mine

    return mine.message(desk.foreign, desk.config).splitlines()


def _fitting(line: str, reporter: Any) -> str:
    """In any locale."""
    encoding = getattr(getattr(reporter, "_tw", None), "_file", None)
    name = getattr(encoding, "encoding", None) or "utf-8"
    for fine, plain in (("·", "-"), ("−", "-"), ("…", "...")):
        try:
            line.encode(name)
            return line
        except UnicodeError:
            line = line.replace(fine, plain)
    return line.encode(name, "backslashreplace").decode(name)


# --- as JSON ----------------------------------------------------------------------------------


def write_report(desk: Desk) -> None:
    """Write `--zeroin-report`; what can't be written is said at the end."""
    path = os.path.join(desk.folder, desk.config.option.zeroin_report)
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(as_data(desk), file, indent=1)
            file.write("\n")
    except OSError as error:
        desk.note(f"--zeroin-report {path}: {error.strerror}")


def as_data(desk: Desk) -> dict[str, Any]:
    """All that is known of the session."""
    return {
        "schema": SCHEMA,
        "tests": [
            {
                "id": test.nodeid,
                "outcome": test.outcome,
                "seconds": round(test.seconds, 6),
                "peak_bytes": test.peak,
                "grown_bytes": test.grown,
                "worker": test.worker or None,
            }
            for test in desk.tests.values()
        ],
        "failures": [
            {
                "id": one.nodeid,
                "attempt": one.attempt,
                "signature": one.signature,
                "headline": one.headline,
                "command": one.command,
                "worker": one.worker or None,
            }
            for one in desk.failures
        ],
        "flaky": [
            {key: value for key, value in rate.items() if key != "seconds"} for rate in desk.rates
        ],
        "not_mine": desk.foreign,
        "notes": desk.notes,
    }

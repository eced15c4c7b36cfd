"""`why` as text and as JSON."""

from __future__ import annotations

import shlex

from zeroin.fronts import words
from zeroin.observe.death import words as meanings
from zeroin.observe.death.evidence import disk_words
from zeroin.tools.why import limit_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.tools.why import WhyReport

WIDE = 300  # characters of a line: C++ has longer names than anyone reads
LAST_LINES = 8
LAST_CALLS = 6
COLOURS = {"certain": "green", "likely": "yellow", "unknown": "red"}


def lines(report: WhyReport, paint: Paint) -> list[str]:
    """The verdict first, then what it rests on, then all else that is known."""
    verdict = report.verdict
    mark = {"certain": "", "likely": "likely: ", "unknown": "unknown: "}[verdict.sure]
    head = f"{report.subject}: {mark}{words.clean(verdict.text)}"
    out = [paint(head, "bold", COLOURS[verdict.sure])]
    out += [f"  because {_shown(line)}" for line in verdict.because]
    if verdict.ruled_out:
        out += ["  ruled out:", *(f"    {line}" for line in verdict.ruled_out)]
    rows = [
        ("command", words.clean(shlex.join(_command(report)))),
        ("ended", _ended(report)),
        ("memory", _memory(report)),
        ("limits", ", ".join(limit_words(report.limits))),
        ("cgroup", ", ".join(_group(report))),
        ("disk then", "; ".join(map(disk_words, report.disks_then))),
        ("disk now", "; ".join(map(disk_words, report.disks_now))),
        ("process", _process(report)),
        ("core dump", _core(report)),
    ]
    out += [f"{paint(f'{name:<10}', 'dim')} {text}" for name, text in rows if text]
    out += _blocks(report, paint)
    if report.also:
        out += ["", report.also]
    return out


def _blocks(report: WhyReport, paint: Paint) -> list[str]:
    core = report.core
    blocks = [
        ("kernel log", report.kernel or []),
        ("C stack, innermost first", list(core.native) if core else []),
        ("Python stack in the dump", list(core.python) if core else []),
        ("Python stack when it died", report.python),
        ("last system calls", report.calls[-LAST_CALLS:]),
        ("last output", report.output.rstrip().splitlines()[-LAST_LINES:] if report.output else []),
    ]
    out: list[str] = []
    for title, rows in blocks:
        if rows:
            out += ["", paint(title, "bold"), *(words.AsIs(f"  {_shown(row)}") for row in rows)]
    for stack in report.stacks:
        out += ["", paint(f"stack of {stack.thread or 'a thread'}", "bold")]
        out += [f"  {words.tilde(file)}:{line} in {name}" for file, line, name in stack.frames]
    return out


def _shown(line: str) -> str:
    line = words.clean(line)
    return line if len(line) <= WIDE else line[: WIDE - 1] + "…"


def _command(report: WhyReport) -> list[str]:
    if report.attempt is not None:
        return report.attempt.command
    return report.look.command if report.look is not None else []


def _ended(report: WhyReport) -> str:
    if report.signal:
        return f"by {report.signal}: {meanings.of_signal(report.signal)}"
    if report.exit_code:
        return f"exit code {report.exit_code}: {meanings.of_code(report.exit_code)}"
    return ""


def _memory(report: WhyReport) -> str:
    if report.look is not None and report.look.memory:
        return f"{words.size(report.look.memory)} now, {words.size(report.look.peak)} at most"
    peak = report.attempt.peak_bytes if report.attempt is not None else 0
    if not peak:
        return ""
    values = [value for _, value in report.curve if value]  # 0 is what is seen after the end
    end = " → ".join(map(words.size, values[-4:]))
    return f"peak {words.size(peak)}" + (f"; at the end {end}" if end else "")


def _group(report: WhyReport) -> list[str]:
    return [
        f"{name} {words.size(value) if name == 'memory' else f'{value:,}'}"
        for name, value in report.groups.items()
    ]


def _process(report: WhyReport) -> str:
    look = report.look
    if look is None:
        return ""
    parts = [f"child of {look.parent}", f"started {words.seconds(look.age)} ago"]
    if look.state != "Z":
        parts.insert(1, f"{look.threads} thread{'s' if look.threads > 1 else ''}")
        if look.files:
            parts.append(f"{look.files} open files")
    return ", ".join(parts)


def _core(report: WhyReport) -> str:
    core = report.core
    if core is None:
        return ""
    about = f"{words.tilde(core.path)} of {words.tilde(core.program)}" if core.path else ""
    return "; ".join(part for part in (about, core.note) if part)


def as_json(report: WhyReport) -> dict[str, Any]:
    """One object."""
    look, core = report.look, report.core
    return {
        "schema": 1,
        "subject": report.subject,
        "attempt": report.attempt.id if report.attempt is not None else None,
        "pid": look.pid if look is not None else None,
        "verdict": report.verdict.text,
        "sure": report.verdict.sure,
        "because": report.verdict.because,
        "ruled_out": report.verdict.ruled_out,
        "command": _command(report),
        "exit_code": report.exit_code,
        "signal": report.signal,
        "limits": report.limits,
        "cgroup": report.groups,
        "disks_then": report.disks_then,
        "disks_now": report.disks_now,
        "memory": [list(point) for point in report.curve],
        "kernel": report.kernel,
        "core": core._asdict() if core is not None else None,
        "process": look._asdict() if look is not None else None,
        "python_stack": report.python,
        "stacks": [stack.told() for stack in report.stacks],
        "calls": report.calls,
        "output": report.output,
    }

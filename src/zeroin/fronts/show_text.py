"""`show` as text: what, where, with which values, and what it printed at the end."""

from __future__ import annotations

import os
import shlex
import time

from zeroin.cycle.printed import owner_of
from zeroin.fronts import report_text, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.tools.show import ShowReport

LAST_LINES = 15
MOST_FOREIGN = 5  # frames of libraries in a row
BETWEEN = {
    "cause": "which was the direct cause of:",
    "context": "during the handling of which came:",
}


def lines(report: ShowReport, paint: Paint, *, everything: bool) -> list[str]:
    """All lines of `zeroin show`."""
    out = _head(report, paint)
    for crash in _crashes(report):
        out += ["", *_crash(crash, paint, report.attempt.cwd)]
    out += _snapshots(report, paint)
    out += _stacks(report, paint)
    if report.evidence.get("faults") and report.attempt.outcome == "killed":
        out += ["", paint("Python stack when it died", "bold"), *_indent(report.evidence["faults"])]
    if everything:
        out += _environment(report, paint)
    else:
        out += _peeks(report, paint)
        out += _output(report, paint)
    return out


def _head(report: ShowReport, paint: Paint) -> list[str]:
    a = report.attempt
    outcome = "running" if report.running else a.outcome or "unfinished"
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(a.started))
    first = [f"attempt {a.id}", outcome, stamp]
    if a.seconds is not None:
        first.append(f"{words.seconds(a.seconds)} (cpu {words.seconds(a.cpu_seconds or 0)})")
    if a.peak_bytes:
        first.append(f"peak memory {words.size(a.peak_bytes)}")
    rows = [
        ("failure" if outcome != "passed" else "noticed", words.clean(a.headline or "")),
        ("signature", a.signature or ""),
        ("stuck", words.clean(report.evidence.get("stuck") or "")),
        ("command", shlex.join(a.command)),
        ("part of", f"attempt {a.facts['run']}" if "run" in a.facts else ""),
        ("folder", words.tilde(a.cwd)),
        ("settings", ", ".join(_settings(a.settings))),
        ("limits", "; ".join(_limits(report))),
        ("probes", "; ".join(_probes(report))),
        ("python", _python(report)),
        ("code", _code(report)),
        ("log", _log(report)),
        ("same as", words.numbers(report.same_as, 8)),
        ("changed", _changed(report)),
    ]
    shown = [f"{paint(f'{name:<10}', 'dim')} {text}" for name, text in rows if text]
    return [paint(" · ".join(first), "bold"), *shown]


def _settings(settings: dict[str, Any]) -> list[str]:
    texts = []
    for name, value in settings.items():
        if name == "env":
            texts += [f"unset {k}" if v is None else f"{k}={v}" for k, v in value.items()]
        elif isinstance(value, list):
            texts += [f"--{name} {shlex.quote(item)}" for item in value]
        else:
            texts.append(f"--{name}" if value is True else f"--{name} {value}")
    return texts


def _limits(report: ShowReport) -> list[str]:
    """How far each limit got, and by what it was brought about."""
    rows = report.evidence.get("limits") or ()
    return [f"{row['limit']}: {row['detail'] or 'held'} ({row['backend']})" for row in rows]


def _probes(report: ShowReport) -> list[str]:
    """How often each was reached; why not, in full, `--json` tells."""
    from zeroin.fronts.probes_text import in_short

    return [in_short(one) for one in report.evidence.get("probes") or ()]


def _python(report: ShowReport) -> str:
    python = report.attempt.facts.get("python")
    if not python:
        return ""
    count = len(report.packages)
    return f"{python['version']}  {words.tilde(python['executable'])}  ({count} packages)"


def _code(report: ShowReport) -> str:
    a = report.attempt
    if not a.code:
        return ""
    text = f"tree {a.code[:10]}" + (f" on commit {a.base_commit[:10]}" if a.base_commit else "")
    left_out = a.facts.get("left_out") or []
    if left_out:
        text += f"; not kept: {', '.join(left_out[:3])}" + (" …" if len(left_out) > 3 else "")
    return text


def _changed(report: ShowReport) -> str:
    if report.previous is None or report.changed is None:
        return ""
    text = report_text.changes(report.changed) or "nothing"
    command = f"zeroin diff {report.previous} {report.attempt.id}"
    return f"{text} (since {report.previous}; all of it: {command})"


def _crashes(report: ShowReport) -> list[dict[str, Any]]:
    """The one that tells most first, then at most two others."""
    crashes: list[dict[str, Any]] = report.evidence.get("crashes") or []
    headline = report.attempt.headline or ""
    first = [c for c in crashes if headline.startswith(str(c["chain"][-1]["type"]))][:1]
    return (first + [c for c in crashes if c not in first])[:3]


def _crash(crash: dict[str, Any], paint: Paint, cwd: str) -> list[str]:
    where = f"process {crash['pid']}"
    if crash.get("thread") not in (None, "main"):
        where += f", thread {crash['thread']}"
    if crash.get("test"):
        where += f", test {crash['test']}"
    out = [paint(f"traceback ({where})", "dim")]
    for number, link in enumerate(crash["chain"]):
        if number:
            out += [
                "",
                paint(
                    "  " + BETWEEN.get(crash["chain"][number - 1].get("leads_by", ""), ""), "dim"
                ),
                "",
            ]
        out += _link(link, paint, cwd)
    return out


def _snapshots(report: ShowReport, paint: Paint) -> list[str]:
    out: list[str] = []
    for one in report.evidence.get("snapshots") or ():
        head = f"snapshot at {words.clean(one['place'])} (process {one['pid']})"
        out += ["", paint(head, "dim"), *_frames(one["frames"], paint, report.attempt.cwd)]
    return out


def _frames(frames: list[dict[str, Any]], paint: Paint, cwd: str) -> list[str]:
    out: list[str] = []
    innermost = max((n for n, f in enumerate(frames) if f["owner"] == "user"), default=-1)
    foreign: list[dict[str, Any]] = []
    for number, frame in enumerate(frames):
        if frame.get("left_out_before"):
            out.append(paint(f"  ... {frame['left_out_before']} frames left out", "dim"))
        if frame["owner"] == "user":
            out += _foreign(foreign, paint, cwd)
            out += _frame(frame, paint, cwd, context=number == innermost)
            foreign = []
        else:
            foreign.append(frame)
    return out + _foreign(foreign, paint, cwd)


def _link(link: dict[str, Any], paint: Paint, cwd: str) -> list[str]:
    out = _frames(link["frames"], paint, cwd)
    message = words.clean(link["message"])
    out.append(paint(f"{link['type']}: {message}" if message else link["type"], "red", "bold"))
    out += [f"  note: {words.clean(note)}" for note in link.get("notes", ())]
    if link.get("worker"):
        out += _worker(link["worker"], paint, cwd)
    for number, chain in enumerate(link.get("group", ()), 1):
        out.append(f"  {number}.")
        for inner in chain:
            out += ["    " + line for line in _link(inner, paint, cwd)]
    return out


def _worker(worker: dict[str, Any], paint: Paint, cwd: str) -> list[str]:
    """What failed in a worker process, with the values that were there."""
    out = ["", paint(f"in {words.worker(worker)}", "dim")]
    for link in worker["chain"]:
        out += _link(link, paint, cwd)
    return out


def _foreign(frames: list[dict[str, Any]], paint: Paint, cwd: str) -> list[str]:
    """Frames of libraries on the way: the first and the last tell, forty of pytest's do not."""
    out = [line for frame in frames for line in _frame(frame, paint, cwd, context=False)]
    if len(out) > MOST_FOREIGN:
        out[1:-1] = [paint(f"  ... {len(out) - 2} frames of libraries", "dim")]
    return out


def _frame(frame: dict[str, Any], paint: Paint, cwd: str, *, context: bool) -> list[str]:
    """One frame; the lines around are shown where it failed, further out the line alone."""
    file = frame["file"]
    inside = os.path.join(cwd, "")
    shown = file[len(inside) :] if file.startswith(inside) else words.tilde(file)
    head = f"{shown}:{frame['line']} in {frame['qualname']}"
    if frame["owner"] != "user":
        return [paint(f"  {head}", "dim")]
    return [
        "  " + paint(head, "cyan"),
        *_source(frame, paint, context=context),
        *(f"      {name} = {words.clean(text)}" for name, text in frame.get("locals", {}).items()),
    ]


def _source(frame: dict[str, Any], paint: Paint, *, context: bool) -> list[str]:
    source = frame.get("source")
    if not source:
        return []
    out = []
    for number, text in enumerate(source["lines"], source["first"]):
        here = number == frame["line"]
        if not here and not context:
            continue
        line = f"   {'→' if here else ' '} {number:>4} │ {words.clean(text)}".rstrip()
        out.append(paint(line, "bold") if here else paint(line, "dim"))
        if here:
            out += _carets(frame, text)
    return out


def _carets(frame: dict[str, Any], text: str) -> list[str]:
    span = frame.get("span")
    if not span or span[0] != span[1] or span[0] != frame["line"]:
        return []
    # Columns count bytes; carets stand under characters.
    data = text.encode("utf-8")
    start = len(data[: span[2]].decode("utf-8", "ignore"))
    end = len(data[: span[3]].decode("utf-8", "ignore"))
    if not text.strip() or (start <= len(text) - len(text.lstrip()) and end >= len(text.rstrip())):
        return []  # the whole line: says nothing
    return [f"          │ {' ' * start}{'^' * max(1, end - start)}"]


def _stacks(report: ShowReport, paint: Paint) -> list[str]:
    out: list[str] = []
    for stack in report.evidence.get("stacks") or ():
        out += [
            "",
            paint(f"stack of process {stack['pid']}, {stack['thread'] or 'thread'}", "bold"),
        ]
        values = stack.get("locals") or [{}] * len(stack["frames"])
        for (file, line, name), found in zip(stack["frames"], values, strict=False):
            out.append(f"  {words.tilde(file)}:{line} in {name}")
            if owner_of(file) == "user":
                out += [f"      {key} = {words.clean(text)}" for key, text in found.items()]
    return out


def _environment(report: ShowReport, paint: Paint) -> list[str]:
    out = ["", paint("environment", "bold")]
    out += [f"  {name}={words.clean(value)}" for name, value in sorted(report.environment.items())]
    out += ["", paint("packages", "bold")]
    out += [f"  {name}=={version}" for name, version in sorted(report.packages.items())]
    modules = report.attempt.facts.get("modules") or {}
    out += ["", paint("own modules that were imported", "bold")]
    out += [f"  {name}  {words.tilde(file)}" for name, file in sorted(modules.items())]
    return out


def _output(report: ShowReport, paint: Paint) -> list[str]:
    from zeroin.cycle.printed import before_last_crash, plain

    text = plain(report.output.decode("utf-8", "replace"))
    if report.evidence.get("crashes"):
        text = before_last_crash(text)
    text = text.rstrip("\n")
    if not text.strip():
        return []
    found = text.split("\n")
    head = f"output, {len(found)} line{'s' if len(found) > 1 else ''}"
    if len(found) > LAST_LINES:
        command = f"zeroin show {report.attempt.id} --output"
        head = f"output, the last {LAST_LINES} of {len(found)} lines (all: {command})"
    return ["", paint(head, "bold"), *(f"  {words.clean(line)}" for line in found[-LAST_LINES:])]


def _peeks(report: ShowReport, paint: Paint) -> list[str]:
    """What `peek` and `section` said, where the output has so much more that it is lost there."""
    found = (report.evidence.get("peeks") or "").splitlines()
    if not found or report.output.count(b"\n") <= LAST_LINES:
        return []
    head = f"peek, {len(found)} line{'s' * (len(found) > 1)}"
    if len(found) > LAST_LINES:
        command = f"zeroin show {report.attempt.id} --peek"
        head = f"peek, the last {LAST_LINES} of {len(found)} lines (all: {command})"
    return ["", paint(head, "bold"), *(f"  {words.clean(line)}" for line in found[-LAST_LINES:])]


def _log(report: ShowReport) -> str:
    if report.log is None:
        return ""
    return f"{words.tilde(report.log)} (zeroin show {report.attempt.id} --log)"


def _indent(text: str) -> list[str]:
    return [f"  {line}" for line in text.rstrip("\n").split("\n")]

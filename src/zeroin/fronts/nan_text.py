"""`nan` as text and as JSON."""

from __future__ import annotations

import shlex

from zeroin.fronts import words
from zeroin.fronts.files_text import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.tools.nan import NanReport

LABEL = 10  # columns
GREW = 3.0  # times: then the way there is worth a line
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
HOW = {
    "loss": "it reached the loss",
    "gradient": "it reached gradients that the optimizer was about to use",
    "weight": "it is in the weights now",
    "scaler": "GradScaler has left 16 steps out in a row, which is not normal",
    "end": "it was still there when something read it, or at the end",
    "inf": "looked for by --inf",
}


def lines(
    report: NanReport, paint: Paint, again: Sequence[str], *, everything: bool = False
) -> list[str]:
    """The verdict first, then what led to it, then what to type.

    `again` are the words after `zeroin nan` that made this run.
    """
    out: list[str] = []
    findings = report.seen.findings if report.wanted.go_on else report.seen.findings[:1]
    for finding in findings:
        out += [*_finding(finding, paint), ""]
    out += _other_ranks(report, paint)
    for told in report.seen.numpy[: 1 if not report.wanted.go_on else None]:
        if report.counts(told) and not findings:
            out += [*_numpy(told, paint), ""]
    if findings:
        out += _next(report, paint, again)
    elif report.verdict != "found":
        out += _nothing(report, paint)
    return out + _rest(report, paint, everything=everything)


# --- one finding ---------------------------------------------------------------------------


def _finding(finding: dict[str, Any], paint: Paint) -> list[str]:
    first = finding["first"]
    out = [_verdict(finding, paint)]
    out += _source(_where(first), paint)
    outer = first["frames"][: len(first["frames"]) - first.get("own_frames", 0)]
    if first["phase"] == "backward" and first["forward"] is not None and outer:
        out.append(_row("backward", f"{first['node']}, called by {_at(outer[-1])}", paint))
    else:
        callers = [_at(one) for one in reversed(first["frames"][:-1])]
        out += _list("called from", callers, paint)
    if first["module"]:
        out.append(_row("module", f"{first['module']['name']} ({first['module']['class']})", paint))
    label = "inputs" if first["kind"] == "operation" else "data"
    out += _list(label, [_value(one) for one in first["inputs"]], paint)
    out += _list("result", [_value(one) for one in first["outputs"]], paint)
    out += _list("weights", [f"{one['name']}: {one['text']}" for one in finding["weights"]], paint)
    out += _list("before it", _ranges(first["before"]), paint)
    out += _list("weights grew", _growth(first["weights_before"]), paint)
    became = finding["became"]
    if became is not None:
        place = _where(became)
        text = f"{became['operation']} at {_at(place)}: {became['cause']}" if place else ""
        out.append(_row("then NaN", text or str(became["operation"]), paint))
    out.append(_row("matters", _matters(finding), paint))
    if first.get("remedy"):
        out.append(_row("remedy", paint(words.clean(first["remedy"]), "bold"), paint))
    if finding["error"]:
        out.append(paint(f"  not all could be looked at: {finding['error']}", "yellow"))
    return out


def _verdict(finding: dict[str, Any], paint: Paint) -> str:
    first = finding["first"]
    place = _where(first)
    rank = f"rank {finding['rank']}, " if finding["rank"] is not None else ""
    at = f" at {_at(place)}" if place else ""
    if first["kind"] == "data":
        batch = f", batch {first['batch']}" if first.get("batch") else ""
        head = f"{first['what']} came in with the data{at}{batch}"
    elif first["kind"] == "uninitialised":
        made = f", made at {_at(first['forward'])}" if first["forward"] else ""
        head = f"{first['what']} in memory that was never written{made}, used{at}"
    elif first["kind"] == "written":
        head = f"{first['what']} written{at}"
    elif first["kind"] == "weight":
        name = first["inputs"][0]["variable"]
        verb = "loaded" if first.get("loaded") else "used"
        head = f"{first['what']} was in the weights {name}, {verb}{at}"
    elif first["phase"] == "backward":
        name = first.get("forward_operation") or first["node"]
        head = f"{first['what']} in the backward pass of {name}{at}"
    elif first["phase"] == "optimizer":
        head = f"{first['what']} in the optimizer's {first['operation']}{at}"
    else:
        head = f"{first['what']} made by {first['operation']}{at}"
    number = first["step"] if first["kind"] == "operation" else finding["steps"] + 1
    known = finding["steps"] or finding["optimizers"]
    about = rank + (f"training step {number}" if known else "")
    step = f" ({about.removesuffix(', ')})" if about else ""
    cause = words.clean(first["cause"])
    return f"{paint('✗', 'red', 'bold')} {paint(head, 'bold')}{step}: {cause}"


def _where(first: dict[str, Any]) -> dict[str, Any] | None:
    """The line that is to be changed: in the backward pass the one of the forward pass."""
    own = first.get("own_frames")  # a backward of the user's own is the line itself
    if first["phase"] == "backward" and first["forward"] is not None and not own:
        return dict(first["forward"])
    return dict(first["frames"][-1]) if first["frames"] else None


def _matters(finding: dict[str, Any]) -> str:
    text = HOW[finding["how"]]
    if finding["surfaced"]:
        text += f": {_at(finding['surfaced'])}"
    if finding["affected"]:
        more = finding["affected_count"] - len(finding["affected"])
        text += ": " + ", ".join(finding["affected"]) + (f" and {more} more" if more else "")
    return text


def _value(one: dict[str, Any]) -> str:
    name = one.get("variable") or one.get("name") or ""
    head = f"{name}: " if name else ""
    if "value" in one:
        return f"{head}{one['value']}"
    shape = ", ".join(map(str, one["shape"]))
    parts = [f"Tensor[{shape}] {TYPES.get(one['dtype'], one['dtype'])} {one['device']}"]
    if one.get("overwritten"):
        return f"{head}{parts[0]}  written over by the operation"
    minus = one.get("minus_inf", 0)
    for count, word in ((one["nan"], "NaN"), (one["inf"] - minus, "inf"), (minus, "-inf")):
        if count:
            parts.append(f"{count:,} {word}")
    if one["max"] is not None:
        parts.append(f"min {one['min']:.5g} max {one['max']:.5g}")
    if one.get("where") and one["shape"]:
        parts.append("at " + ", ".join(map(str, one["where"][:4])))
    return head + "  ".join(parts)


def _ranges(before: list[dict[str, Any]]) -> list[str]:
    """The modules before, with the largest |x| that each gave."""
    wide = max((len(one["module"]) for one in before), default=0)
    return [
        f"{one['module']:<{wide}}  {one['class']}  max |x| {one['largest']:.4g} "
        f"{TYPES.get(one['dtype'], one['dtype'])}"
        if one["largest"] is not None
        else f"{one['module']:<{wide}}  {one['class']}  not finite"
        for one in before[-6:]
    ]


def _growth(weights: list[dict[str, Any]]) -> list[str]:
    """How the largest weight grew over the last steps, if it did."""
    if len(weights) < 2 or weights[-1]["largest"] < GREW * max(weights[0]["largest"], 1e-30):
        return []
    start = f"{weights[0]['largest']:.3g} at first, " if not weights[0]["step"] else ""
    later = [f"step {one['step']}: {one['largest']:.3g}" for one in weights if one["step"]]
    return [f"{weights[-1]['name']}, max |w| {start}after {', '.join(later)}"]


def _source(place: dict[str, Any] | None, paint: Paint) -> list[str]:
    """The lines around, with the expression marked where Python knows it."""
    if place is None or "source" not in place:
        return []
    out = []
    for number, text in enumerate(place["source"]["lines"], place["source"]["first"]):
        is_it = number == place["line"]
        shown = f"{number:>6} │ {words.clean(text)}"
        out.append(paint(shown, "bold") if is_it else paint(shown, "dim"))
        span = place.get("span")
        if is_it and span and span[0] == span[1]:
            out.append(f"{'':>6} │ {' ' * span[2]}{paint('^' * (span[3] - span[2]), 'red')}")
    return out


def _numpy(told: dict[str, Any], paint: Paint) -> list[str]:
    place = told["frames"][-1] if told["frames"] else None
    at = f" at {_at(place)}" if place else ""
    what = "inf or -inf" if told["what"] == "inf" else told["what"]  # a warning has no sign
    head = paint(f"{what} in {told['library']}{at}", "bold")
    out = [f"{paint('✗', 'red', 'bold')} {head}: {words.clean(told['text'])}"]
    out += _source(place, paint)
    out += _list("called from", [_at(one) for one in reversed(told["frames"][:-1])], paint)
    arrays = [f"{one['name']}: {words.clean(one['text'])}" for one in told["arrays"]]
    return out + _list("values", arrays, paint)


# --- the rest ------------------------------------------------------------------------------


def _nothing(report: NanReport, paint: Paint) -> list[str]:
    from zeroin.fronts import report_text

    out = [report_text.one_line(report.run, paint)]
    failures = [one["error"] for one in report.seen.ends if one.get("error")]
    if report.verdict == "clean":
        steps = max((one.get("steps", 0) for one in report.seen.ends), default=0)
        plural = "s" if steps != 1 else ""
        after = f" in {steps:,} optimizer step{plural}" if steps else ""
        out.append(f"{paint('✓', 'green', 'bold')} no NaN or inf that mattered{after}")
        out += [paint(f"  not all could be looked at: {one}", "yellow") for one in failures[:1]]
    elif failures:
        library = next(one["library"] for one in report.seen.ends if one.get("error"))
        out.append(paint(f"{library} could not be looked at: {failures[0]}", "yellow"))
        if library == "torch":
            out.append("  it takes torch 2.1 or newer, and a Python from 3.9 on")
    elif report.only_warnings:
        out.append("numpy warned of nothing; more than its warnings was not looked at:")
        out.append("  what it made under numpy.errstate, or was given, may still be NaN or inf")
    else:
        out.append("neither torch, numpy nor jax was loaded by a Python of it: nothing to look at")
        out.append("  is the agent in? see: zeroin doctor")
    return out


def _rest(report: NanReport, paint: Paint, *, everything: bool) -> list[str]:
    out = []
    skipped = sum(one.get("skipped", 0) for one in report.seen.ends)
    if skipped:
        scales = next(one["scales"] for one in report.seen.ends if one.get("skipped"))
        shown = ", ".join(f"{scale:,.6g}" for scale in scales)
        taken = sum(one.get("scaled", 0) for one in report.seen.ends) - skipped
        after = "normal at the beginning of a training" if taken else "no step was taken"
        out.append(f"  GradScaler left {skipped} steps out, its scale is {shown} then: {after}")
    places = [place for one in report.seen.ends for place in one.get("places", ())]
    if places and everything:
        out.append(paint("made, and discarded or never used", "bold"))
        out += [f"  {_vain(place)}" for place in places]
    elif places:
        more = "1 more line" if len(places) == 1 else f"{len(places)} more lines"
        out.append(paint(f"  {more} made NaN or inf that led to nothing: --all", "dim"))
    return out


def _vain(place: dict[str, Any]) -> str:
    times = f" × {place['times']}" if place["times"] > 1 else ""
    return f"{place['what']:<4} {place['operation']} at {_at(place)}, {place['phase']} pass{times}"


def _other_ranks(report: NanReport, paint: Paint) -> list[str]:
    if report.wanted.go_on:
        return []
    others = [one for one in report.seen.findings[1:] if one["rank"] is not None]
    if not others:
        return []
    ranks = ", ".join(sorted({str(one["rank"]) for one in others}))
    return [paint(f"  also found a little later by rank {ranks}", "dim")]


def _next(report: NanReport, paint: Paint, again: Sequence[str]) -> list[str]:
    """Commands that work as they stand."""
    rest = shlex.join(again)
    steps = []
    first = report.seen.findings[0]["first"] if report.seen.findings else None
    if first is not None and first["kind"] == "data" and not report.wanted.go_on:
        steps.append(f"who made it, if a worker did: zeroin nan --sync {rest}")
    if first is not None and first["step"] > 2 and not report.wanted.after:
        before = first["step"] - 1
        steps.append(f"again, at full speed up to there: zeroin nan --after {before} {rest}")
    if not report.wanted.go_on:
        steps.append(f"go on after it: zeroin nan --go-on {rest}")
    return [paint(f"  {step}", "dim") for step in steps]


def _at(place: dict[str, Any] | None) -> str:
    if place is None:
        return "?"
    name = place.get("qualname") or place["name"]
    file = words.clean(short(place["file"]))
    return f"{file}:{place['line']}" + (f" in {name}" if name != "<module>" else "")


def _row(label: str, text: str, paint: Paint) -> str:
    return f"  {paint(f'{label:<{LABEL + 2}}', 'dim')} {text}"


def _list(label: str, texts: list[str], paint: Paint) -> list[str]:
    return [_row(label if n == 0 else "", words.clean(text), paint) for n, text in enumerate(texts)]


def as_json(report: NanReport) -> dict[str, Any]:
    """One object, with the run's own."""
    from zeroin.fronts import report_json

    return {
        "schema": report_json.SCHEMA,
        "verdict": report.verdict,
        "findings": [_without_kind(one) for one in report.seen.findings],
        "numpy": [_without_kind(one) for one in report.seen.numpy],
        "processes": [_without_kind(one) for one in report.seen.ends],
        "run": report_json.run(report.run),
    }


def _without_kind(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in ("kind", "final")}

"""`shapes` as annotated source, as a diff, and as JSON."""

from __future__ import annotations

import ast

from zeroin.fronts import words
from zeroin.fronts.files_text import short
from zeroin.observe.shapes import text
from zeroin.tools import shapes as tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.observe.shapes.resized import Resize
    from zeroin.observe.shapes.told import Failed
    from zeroin.tools.shapes import Change, Checked, ShapesReport, Source


def lines(report: ShapesReport, paint: Paint) -> list[str]:
    """The source of what was seen, file by file."""
    out: list[str] = []
    last = report.failed[-1] if report.failed else None
    for source in report.sources:
        failed = last if last is not None and last.path == source.path else None
        found = _source(source, paint, failed)
        if found:
            out += ([""] if out else []) + [paint(short(source.path), "bold"), *found]
    return out


def about(report: ShapesReport) -> list[str]:
    """What could not be looked at, and why."""
    out: list[str] = []
    if not report.heard:
        out.append(
            "no Python program of the command let zeroin in: python -I, -E, or older than 3.9?"
        )
        return out
    for name, near in report.unknown.items():
        out.append(f"no function is called {name} in what was loaded")
        out += [f"  did you mean: --func {near}"] if near else []
    for path in report.missed:
        out.append(f"{short(path)}: the command never loaded it")
        out.append(f"  which file does it load?  zeroin files --opened -- {_command(report)}")
    for path, why in report.refused.items():
        out.append(f"{short(path)}: can't be looked at: {why}")
    for source in report.sources:
        if source.problem:
            what = "not shown" if source.sheet is None else "not written, not checked"
            out.append(f"{short(source.path)}: {what}: {source.problem}")
        for name, line in source.left:
            where = f"{short(source.path)}:{line}"
            out.append(f"{where}: {name} is compiled by numba, so it is not looked at")
    return out


def _command(report: ShapesReport) -> str:
    import shlex

    return shlex.join(report.run.command)


def _source(source: Source, paint: Paint, failed: Failed | None) -> list[str]:
    sheet = source.sheet
    if sheet is None:
        return []
    blocks = _blocks(source, {*source.entries(), *([failed.line] if failed else [])})
    width = len(str(len(sheet.lines)))
    notes = source.notes()
    out: list[str] = []
    for number, (first, last) in enumerate(blocks):
        if number and first > blocks[number - 1][1] + 1:
            out.append("")
        for at in range(first, last + 1):
            out.append(_line(sheet, at, notes.get(at), width, paint))
            if failed is not None and at == failed.line:
                out += _failure(failed, width, paint)
    return out


def _line(sheet: Any, number: int, note: str | None, width: int, paint: Paint) -> str:
    line = sheet.line(number)
    code = sheet.lines[number - 1].rstrip("\r\n")
    said = ""
    if line is not None:
        code, said = line.code, line.note if note is None else note
    shown = words.clean(code) + (paint(f"  # {said}", "dim") if said else "")
    return words.AsIs(f"{paint(f'{number:>{width}}', 'dim')}  {shown}".rstrip())


def _failure(failed: Failed, width: int, paint: Paint) -> list[str]:
    margin = " " * width
    out = [f"{margin}  {paint('✗ ' + words.cut(failed.error, 200), 'red')}"]
    for name, found in failed.operands:
        out.append(f"{margin}      {paint(f'{name}: {text.alternatives(found)}', 'red')}")
    return out


def _blocks(source: Source, shown: set[int]) -> list[tuple[int, int]]:
    """First and last lines: functions in which something is said, and single statements."""
    sheet = source.sheet
    found: set[tuple[int, int]] = set()
    functions = [(a, b) for _, a, b in source.functions]
    classes = [n for n in ast.walk(sheet.tree) if isinstance(n, ast.ClassDef)] if sheet else []
    statements = _statements(sheet.tree.body) if sheet else []
    for line in shown:
        around = [(a, b) for a, b in functions if a <= line <= b]
        if around:
            outer = min(around)
            found.add(outer)
            for one in classes:
                if one.lineno <= outer[0] <= (one.end_lineno or 0):
                    found.add((one.lineno, one.lineno))
        else:
            found.add(next(((a, b) for a, b in statements if a <= line <= b), (line, line)))
    return _merged(sorted(found))


def _statements(body: list[ast.stmt]) -> list[tuple[int, int]]:
    """Statements of the top level, those in its blocks one by one; of blocks the head."""
    out: list[tuple[int, int]] = []
    for node in body:
        inner = [n for name in ("body", "orelse", "finalbody") for n in getattr(node, name, [])]
        inner += [n for one in getattr(node, "handlers", []) for n in one.body]
        inner += [n for one in getattr(node, "cases", []) for n in one.body]
        if inner and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            out.append((node.lineno, max(node.lineno, inner[0].lineno - 1)))
            out += _statements(inner)
        elif not inner:
            out.append((node.lineno, node.end_lineno or node.lineno))
    return out


def _merged(blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for first, last in blocks:
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out


# --- diff, check --------------------------------------------------------------------------------


def diff(change: Change) -> list[str]:
    """What would be written."""
    from difflib import unified_diff

    name = short(change.path)
    a, b = (one.decode(change.encoding).splitlines() for one in (change.old, change.new))
    return [words.AsIs(one) for one in unified_diff(a, b, f"a/{name}", f"b/{name}", lineterm="")]


def wrote(change: Change) -> str:
    """How many lines."""
    a, b = (one.decode(change.encoding).splitlines() for one in (change.old, change.new))
    count = sum(old != new for old, new in zip(a, b, strict=True))
    return f"{short(change.path)}: {count} {'line' if count == 1 else 'lines'}"


def left_alone(report: ShapesReport) -> list[str]:
    """Libraries that are not written into, though their functions were looked at."""
    return [
        f"{short(source.path)}: not written: it is a library's; to write into it, name the file"
        for source in report.sources
        if source.is_library and source.entries()
    ]


def nothing_written(report: ShapesReport) -> str:
    """Why no file was changed; what is the matter with a file has been told."""
    if any(source.problem for source in report.sources) or report.refused:
        return "nothing was written"
    if left_alone(report):
        return "nothing was written"
    if not any(source.entries() for source in report.sources):
        return "nothing to write: the program failed before anything was seen"
    return "nothing to write: the comments say what was seen"


def checked(found: list[Checked], paint: Paint) -> list[str]:
    """Each comment that does not hold; how many do."""
    out: list[str] = []
    for one in found:
        for broken in one.broken:
            where = paint(f"{short(one.path)}:{broken.line}", "cyan")
            why = f": {broken.why}" if broken.why else ""
            was = broken.was or "nothing with a shape"
            out.append(f"{where}  says {broken.says}, was {was}{why}")
        for what, numbers in (
            ("never reached in this run", one.unreached),
            ("no assignment stands there", one.lost),
        ):
            if numbers:
                out.append(f"{short(one.path)}:{words.numbers(numbers, 12)}  {what}")
    out += _resized(found)
    held = sum(one.held for one in found)
    bad = sum(len(one.broken) for one in found)
    if not found:
        return ["no comments to check; they are written by: zeroin shapes SCRIPT --write"]
    mark = paint("✗", "red") if bad else paint("✓", "green")
    return [*out, f"{mark} {held} {'holds' if held == 1 else 'hold'}, {bad} no longer"]


def _resized(found: list[Checked]) -> list[str]:
    """Each size that is another one everywhere in this run, once."""
    counts: dict[Resize, int] = {}
    for one in found:
        for resize, numbers in one.resized.items():
            counts[resize] = counts.get(resize, 0) + len(numbers)
    return [
        f"{resize.name or 'size'} {resize.before} → {resize.after} in this run: {count} "
        f"{'comment holds' if count == 1 else 'comments hold'} but for that; "
        "to compare all sizes: --exact"
        for resize, count in counts.items()
    ]


# --- JSON ---------------------------------------------------------------------------------------


def as_json(
    report: ShapesReport, found: list[Checked] | None, written: list[str]
) -> dict[str, Any]:
    """One object, with the run's own."""
    from zeroin.fronts import report_json

    return {
        "schema": report_json.SCHEMA,
        "files": [_file_json(source) for source in report.sources],
        "failed": [
            {
                "file": one.path,
                "line": one.line,
                "function": one.function,
                "error": one.error,
                "operands": {name: text.alternatives(forms) for name, forms in one.operands},
            }
            for one in report.failed
        ],
        "not_loaded": report.missed,
        "refused": report.refused,
        "written": written,
        "check": [_check_json(one) for one in found] if found is not None else None,
        "run": report_json.run(report.run),
    }


def _file_json(source: Source) -> dict[str, Any]:
    return {
        "file": source.path,
        "problem": source.problem or None,
        "not_looked_at": [name for name, _ in source.left],
        "lines": {str(line): note for line, note in source.notes().items() if note},
        "places": [
            {
                "line": place.line,
                "function": place.function,
                "target": place.label or None,
                "how": place.how,
                "forms": tool.as_data(place.forms),
            }
            for place in source.places
            if place.forms
        ],
    }


def _check_json(one: Checked) -> dict[str, Any]:
    return {
        "file": one.path,
        "held": one.held,
        "broken": [broken._asdict() for broken in one.broken],
        "unreached": one.unreached,
        "lost": one.lost,
        "resized": [
            {"name": resize.name or None, "before": resize.before, "after": resize.after}
            | {"lines": numbers}
            for resize, numbers in one.resized.items()
        ],
    }

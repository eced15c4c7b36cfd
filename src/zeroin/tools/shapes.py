"""`shapes`: run once, and say beside each assignment which shapes were seen there."""

from __future__ import annotations

import json
import os
import zlib

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.observe.shapes import check as checking
from zeroin.observe.shapes import forms, names, scope, text
from zeroin.observe.shapes.comments import Sheet, Unparsed, UnreadableError
from zeroin.observe.shapes.told import NAME, Told
from zeroin.run.execute import Ended, Run
from zeroin.tools.run import RunReport, run, stacks_of, start_and_wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.observe.shapes.forms import Forms
    from zeroin.observe.shapes.told import Failed, File, Seen
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.tools.run import Options

# Hidden: the sizes of these say little, and they are everywhere.
DULL = ("tuple", "dict", "frozenset")


class Asked(NamedTuple):
    """What to look at: real paths of files, none for all of the user's own, and functions."""

    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    first: str = ""  # the script: shown also where it has no arrays


class Place(NamedTuple):
    """One target, and what was seen there."""

    line: int  # where its comment stands
    how: str
    label: str
    function: str
    several: bool
    forms: Forms
    reached: bool


class Source(NamedTuple):
    """One file that was looked at."""

    path: str
    sheet: Sheet | None  # None where it is not there, or has changed
    problem: str  # why it can't be written or checked
    places: list[Place]
    functions: list[tuple[str, int, int]]
    left: list[tuple[str, int]]  # functions that others compile
    named: bool  # it was asked for; of other files only arrays are told

    def entries(self) -> dict[int, list[text.Entry]]:
        """What can be said of each line."""
        lines: dict[int, list[Place]] = {}
        for place in self.places:
            if place.forms if self.named else forms.arrays(place.forms):
                lines.setdefault(place.line, []).append(place)
        return {line: _entries(found) for line, found in sorted(lines.items())}

    def notes(self) -> dict[int, str]:
        """The comment of each line; "" where nothing is to be said any more."""
        reached = {place.line: "" for place in self.places if place.reached}
        told = {line: text.written(found) for line, found in self.entries().items()}
        return reached | {line: note for line, note in told.items() if text.parsed(note)}


class ShapesReport(NamedTuple):
    """A run, and the sources with what was seen."""

    run: RunReport
    sources: list[Source]
    failed: list[Failed]  # from the outermost frame to the innermost
    refused: dict[str, str]  # files that could not be looked at
    missed: list[str]  # files that were asked for and never loaded
    unknown: dict[str, str]  # functions that no file has, each with the name that is nearest
    heard: bool  # a Python program has let us in


class Checked(NamedTuple):
    """The comments of one file."""

    path: str
    broken: list[checking.Broken]
    unreached: list[int]
    lost: list[int]  # no assignment stands there any more
    held: int


def shapes(
    cycle: Cycle, options: Options, environ: Mapping[str, str], asked: Asked
) -> ShapesReport:
    """Run it once, with looks in what is asked for."""
    told = Told()
    heard: list[Any] = []

    def conduct(keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
        wanted = {"files": asked.files, "functions": asked.functions}
        # What torch compiles from instructions would compile our looks as well.
        env = {"TORCHDYNAMO_DISABLE": "1", **env, "ZEROIN_SHAPES": json.dumps(wanted)}
        ended = start_and_wait(
            Run(keeper, inbox, cycle.timeout),
            cycle,
            env,
            targets=options.targets,
            take_stacks=lambda: stacks_of(inbox),
        )
        if inbox is not None:
            told.read(_lines(os.path.join(inbox.folder, NAME)))
            inbox.drain()
            heard.extend(inbox.messages[:1])
        return ended

    report = run(cycle, options._replace(conduct=conduct), environ)
    named = {*asked.files, asked.first}
    sources = [
        _source(file, torn=path in told.torn, named=bool(asked.functions) or path in named)
        for path, file in sorted(told.files.items())
    ]
    missed = [path for path in asked.files if path not in told.files and path not in told.refused]
    return ShapesReport(
        report,
        sources,
        _last(told.failed),
        told.refused,
        missed,
        _unknown(asked.functions, sources),
        bool(heard),
    )


def _unknown(asked: tuple[str, ...], sources: list[Source]) -> dict[str, str]:
    from difflib import get_close_matches

    known = {
        name.replace("<locals>.", "")
        for source in sources
        if source.sheet is not None
        for name in scope.scopes(source.sheet.tree)
    }
    short = {name.rpartition(".")[2]: name for name in sorted(known)} | {n: n for n in known}
    return {
        name: short.get("".join(get_close_matches(name, short, 1)), "")
        for name in asked
        if not any(f".{name}." in f".{one}." for one in known)
    }


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().splitlines()
    except OSError:  # no Python program was started
        return []


def _last(failed: list[Failed]) -> list[Failed]:
    """Of several exceptions the last: the frames that end in it."""
    if not failed:
        return []
    error = failed[-1].error
    return [one for one in failed if one.error == error]


def _source(file: File, *, torn: bool, named: bool) -> Source:
    sheet, problem = None, "it changed while the program ran" if torn else ""
    if not problem:
        sheet, problem = _sheet(file.path, file.digest)
    tree = sheet.tree if sheet is not None and not problem else None
    found = names.named(file, tree)
    places = [_place(seen, found.get(n, ()), sheet) for n, seen in enumerate(file.places)]
    return Source(file.path, sheet, problem, places, file.functions, file.left, named)


def _sheet(path: str, digest: str) -> tuple[Sheet | None, str]:
    try:
        with open(path, "rb") as opened:
            source = opened.read()
    except OSError as error:
        return None, (error.strerror or "it can't be read").lower()
    if digest != f"{len(source)}-{zlib.crc32(source):08x}":
        return None, "it has changed since it was run"
    try:
        return Sheet(source), ""
    except UnreadableError as error:
        return Unparsed(source), f"zeroin's own Python can't read it: {error}"


def _place(seen: Seen, found: Forms, sheet: Sheet | None) -> Place:
    place = seen.place
    line = place.end
    if sheet is not None:
        logical = place.how not in ("argument", "walrus")
        line = sheet.below(place.end, logical=logical) or place.end
    shown = tuple(one for one in found if not _is_dull(one))
    return Place(line, place.how, place.label, place.function, place.several, shown, seen.reached)


def _is_dull(form: forms.Form) -> bool:
    return isinstance(form, forms.Plain) and (
        form.kind in DULL or form.length.values in ((0,), (1,))
    )


def _entries(places: list[Place]) -> list[text.Entry]:
    """Of one line: those of the same form together, without a name where there is only one."""
    if len(places) == 1 and not places[0].several:
        return [text.Entry((), places[0].forms)]
    out: list[text.Entry] = []
    for place in places:
        label = place.label or place.how
        if out and text.alternatives(out[-1].forms) == text.alternatives(place.forms):
            if label not in out[-1].labels:
                out[-1] = text.Entry((*out[-1].labels, label), place.forms)
        else:
            out.append(text.Entry((label,), place.forms))
    return out


# --- what stands in the files -------------------------------------------------------------------


class Change(NamedTuple):
    """A file, as it is and as it would be."""

    path: str
    old: bytes
    new: bytes
    encoding: str


def changes(report: ShapesReport, folder: str) -> list[Change]:
    """What is to be written: into files that were named, else into those below a folder."""
    found = []
    inside = os.path.join(os.path.realpath(folder), "")
    for source in report.sources:
        sheet = source.sheet
        is_meant = source.named or source.path.startswith(inside)
        if sheet is None or source.problem or not is_meant:
            continue
        new = sheet.with_notes(source.notes())
        if new != sheet.source:
            found.append(Change(source.path, sheet.source, new, sheet.encoding))
    return found


def write(change: Change) -> None:
    """Put a file in the place of another, as a whole, with its mode; never if that has changed."""
    path, before, new, _ = change
    real = os.path.realpath(path)
    beside = f"{real}.zeroin-{os.getpid()}"
    try:
        with open(real, "rb") as file:
            if file.read() != before:
                raise ZeroinError(f"{path} has changed meanwhile, so it was left alone")
            about = os.fstat(file.fileno())
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb") as out:
                out.write(new)
                _give(fd, about)
            os.replace(beside, real)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise ZeroinError(
            f"{path} can't be written: {(error.strerror or str(error)).lower()}",
            hint="see the lines without writing them: --diff",
        ) from None


def _give(fd: int, about: os.stat_result) -> None:
    os.fchmod(fd, about.st_mode & 0o7777)
    if (about.st_uid, about.st_gid) != (os.getuid(), os.getgid()):
        try:
            os.fchown(fd, about.st_uid, about.st_gid)
        except PermissionError:  # it is ours then, as after any editor
            pass


def removed(path: str) -> Change:
    """A file as it is, and without comments of ours."""
    try:
        with open(path, "rb") as file:
            source = file.read()
        sheet = Sheet(source)
        return Change(path, source, sheet.without_notes(), sheet.encoding)
    except OSError as error:
        raise ZeroinError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnreadableError as error:
        raise ZeroinError(f"{path} can't be read as Python: {error}") from None


def check(report: ShapesReport, *, exact: bool = False) -> list[Checked]:
    """Do the comments in the files hold?"""
    found = (_checked(source, exact) for source in report.sources if not source.problem)
    return [one for one in found if one is not None]


def _checked(source: Source, exact: bool) -> Checked | None:
    assert source.sheet is not None  # noqa: S101 - the caller has looked
    notes = source.sheet.notes()
    if not notes:
        return None
    entries = source.entries()
    reached = {place.line for place in source.places if place.reached}
    known = dict.fromkeys(source.sheet.shapeless(), "")
    reached |= {*known}
    known |= {place.line: place.function for place in source.places}
    lines = [
        checking.Line(line, known[line], _says(note, line, source), entries.get(line, []))
        for line, note in sorted(notes.items())
        if line in reached
    ]
    broken = checking.check(lines, exact=exact)
    return Checked(
        source.path,
        broken,
        [line for line in sorted(notes) if line in known and line not in reached],
        [line for line in sorted(notes) if line not in known],
        len(lines) - len(broken),
    )


def _says(note: str, line: int, source: Source) -> list[text.Entry]:
    """What a comment says; the name of a line's only target may stand before it."""
    found = text.parsed(note) or []
    targets = [place.label for place in source.places if place.line == line]
    if len(targets) == len(found) == 1 and found[0].labels == (targets[0],):
        several = any(place.several for place in source.places if place.line == line)
        return found if several else [found[0]._replace(labels=())]
    return found


def as_data(found: Forms) -> list[Any]:
    """Forms as JSON: of arrays the shape with names, of others the text."""
    out: list[Any] = []
    for form in found:
        one: dict[str, Any] = {"text": text.form(form)}
        if isinstance(form, forms.Array):
            one |= {
                "shape": [
                    {"name": dim.name or None, "sizes": list(dim.values), "range": dim.wide}
                    for dim in form.dims
                ],
                "dtype": form.dtype or None,
                "device": form.device or "cpu",
                "kind": form.word or None,
            }
        out.append(one)
    return out

"""`shapes`: run once, and say beside each assignment which shapes were seen there."""

from __future__ import annotations

import os
import zlib

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.observe.shapes import check as checking
from zeroin.observe.shapes import forms, names, scope, text
from zeroin.observe.shapes.comments import Sheet, Unparsed, UnreadableError
from zeroin.observe.shapes.told import NAME, Told
from zeroin.regular import read_regular
from zeroin.run.witness import Witness
from zeroin.tools.run import RunReport, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.observe.shapes.forms import Forms
    from zeroin.observe.shapes.resized import Changes, Resize
    from zeroin.observe.shapes.told import Failed, File, Seen
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.tools.run import Options

# Hidden: the sizes of these say little, and they are everywhere.
MOST_TOLD = 1 << 30  # bytes that the agents of a run have written down
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
    is_library: bool = False  # it is installed, and nobody has named the file

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
    resized: dict[Resize, list[int]]  # lines that hold but for a size that changed everywhere


class ShapesWitness(Witness):
    """Lets the agents look at what is asked for, and reads what they left."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.told = Told()
        self.messages: list[dict[str, Any]] = []

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:
        """See `Witness`."""
        # What torch compiles from instructions would compile our looks as well.
        env.setdefault("TORCHDYNAMO_DISABLE", "1")
        wanted = {"files": self._asked.files, "functions": self._asked.functions}
        return order._replace(shapes=wanted)

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        self.told.read(_lines(os.path.join(inbox.folder, NAME)))
        self.messages = inbox.messages


def shapes(
    cycle: Cycle, options: Options, environ: Mapping[str, str], asked: Asked
) -> ShapesReport:
    """Run it once, with looks in what is asked for."""
    watch = ShapesWitness(asked)
    report = run(cycle, options, environ, witnesses=[watch])
    told, heard = watch.told, watch.messages
    named = {*asked.files, asked.first}
    files = _answering(told.files, asked)
    sources = [
        _source(
            file,
            torn=path in told.torn,
            named=bool(asked.functions) or path in named,
            is_library=file.is_library and path not in asked.files,
        )
        for path, file in sorted(files.items())
    ]
    missed = [path for path in asked.files if path not in told.files and path not in told.refused]
    return ShapesReport(
        report,
        sources,
        [one for one in _last(told.failed) if one.path in files],
        told.refused,
        missed,
        _unknown(asked.functions, sources, files),
        bool(heard),
    )


def _answering(files: dict[str, File], asked: Asked) -> dict[str, File]:
    """Leave out libraries whose functions have the name of one of the user's own."""
    own = {name for file in files.values() if not file.is_library for name in file.asked}
    return {
        path: file
        for path, file in files.items()
        if not file.is_library or path in asked.files or file.asked - own
    }


def _unknown(
    asked: tuple[str, ...], sources: list[Source], files: dict[str, File]
) -> dict[str, str]:
    from difflib import get_close_matches

    answered = {name for file in files.values() for name in file.asked}
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
        if name not in answered
    }


def _lines(path: str) -> list[str]:
    try:
        return read_regular(path, MOST_TOLD).decode("ascii", "replace").splitlines()
    except OSError:  # no Python program was started
        return []


def _last(failed: list[Failed]) -> list[Failed]:
    """Of several exceptions the last: the frames that end in it."""
    if not failed:
        return []
    error = failed[-1].error
    return [one for one in failed if one.error == error]


def _source(file: File, *, torn: bool, named: bool, is_library: bool = False) -> Source:
    sheet, problem = None, "it changed while the program ran" if torn else ""
    if not problem:
        sheet, problem = _sheet(file.path, file.digest)
    tree = sheet.tree if sheet is not None and not problem else None
    found = names.named(file, tree)
    places = [_place(seen, found.get(n, ()), sheet) for n, seen in enumerate(file.places)]
    return Source(
        *(file.path, sheet, problem, places, file.functions, file.left),
        named=named,
        is_library=is_library,
    )


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
    """What is to be written: into files that were named, else into those below a folder.

    A library in which `--func` has found a function is left as it is, wherever it is installed.
    """
    found = []
    inside = os.path.join(os.path.realpath(folder), "")
    for source in report.sources:
        sheet = source.sheet
        is_meant = source.named or source.path.startswith(inside)
        if sheet is None or source.problem or source.is_library or not is_meant:
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
    from zeroin.observe.shapes.resized import Changes

    sources = [one for one in report.sources if not one.problem and one.sheet and one.sheet.notes()]
    lines = [_commented(source, source.sheet) for source in sources if source.sheet]
    changes = Changes(lines)
    return [
        _checked(source, source.sheet, found, changes, exact=exact)
        for source, found in zip(sources, lines, strict=True)
        if source.sheet
    ]


def _known_lines(source: Source, sheet: Sheet) -> dict[int, str]:
    """The function of each line at which a comment may stand."""
    return dict.fromkeys(sheet.shapeless(), "") | {
        place.line: place.function for place in source.places
    }


def _reached_lines(source: Source, sheet: Sheet) -> set[int]:
    return sheet.shapeless() | {place.line for place in source.places if place.reached}


def _commented(source: Source, sheet: Sheet) -> list[checking.Line]:
    """The lines with comments that this run has reached."""
    known, reached = _known_lines(source, sheet), _reached_lines(source, sheet)
    entries = source.entries()
    used = sheet.names_used()
    targets: dict[int, list[str]] = {}
    for place in source.places:
        targets.setdefault(place.line, []).append(place.label)
    return [
        checking.Line(
            *(line, known[line], _says(note, line, source), entries.get(line, [])),
            targets=tuple(targets.get(line, ())),
            used=tuple(used.get(line, ())),
        )
        for line, note in sorted(sheet.notes().items())
        if line in reached
    ]


def _checked(
    source: Source, sheet: Sheet, lines: list[checking.Line], changes: Changes, *, exact: bool
) -> Checked:
    known, reached = _known_lines(source, sheet), _reached_lines(source, sheet)
    found = checking.check(lines, changes, exact=exact)
    notes = sorted(sheet.notes())
    return Checked(
        source.path,
        found.broken,
        [line for line in notes if line in known and line not in reached],
        [line for line in notes if line not in known],
        len(lines) - len(found.broken),
        found.resized,
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

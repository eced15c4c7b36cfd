"""`tiny`: small data for debugging, chosen from what there is."""

from __future__ import annotations

import os
import tempfile

from zeroin.axes.payload import packings
from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run.library import Library, interpreter
from zeroin.tiny import sample
from zeroin.tiny.opening import open_rows
from zeroin.tiny.rows import put_packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zeroin.tiny.rows import Row, Rows


class TinyReport(NamedTuple):
    """What was written, from what."""

    path: str
    result: str
    kind: str
    noun: str  # what its rows are
    rows: int
    seen: int  # rows that were read
    kinds: int | None  # of values, with --covering
    shown: int | None
    size: int


class Ask(NamedTuple):
    """Which rows are wanted."""

    wanted: int
    how: str  # "first", "random", "covering"
    seed: int = 0


def data(
    path: str, ask: Ask, out: str = "", python: str = "", environ: Mapping[str, str] = os.environ
) -> TinyReport:
    """A few rows of a file, chosen in one pass."""
    if ask.wanted < 1:
        raise UsageError("-n: at least one row")
    if out == "-":
        raise UsageError("-o -: it goes into a file", hint="name one with -o, or leave it away")
    target = out or packings.beside(path, "tiny", is_folder=os.path.isdir(path))
    if not out and os.path.islink(target):  # whoever has put it there says where we write
        raise UsageError(f"{target} is a link", hint="name the file to write with -o")
    if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
        raise UsageError(f"{target}: that is what it is made of", hint="name another with -o")
    with open_rows(path, _opener(path, python, environ)) as opened:
        if ask.how == "first":
            found = sample.first(opened.rows, ask.wanted)
        elif ask.how == "random":
            found = sample.at_random(opened.rows, ask.wanted, ask.seed)
        else:
            found = sample.covering(opened.rows, ask.wanted)
        size = _written(opened, found.rows, target)
    covers = ask.how == "covering"
    return TinyReport(
        path,
        target,
        opened.kind,
        opened.noun,
        len(found.rows),
        found.seen,
        found.kinds if covers else None,
        found.shown if covers else None,
        size,
    )


def _opener(path: str, python: str, environ: Mapping[str, str]) -> Callable[[str, str], Library]:
    """Who reads what only a library can."""

    def opened(file: str, kind: str) -> Library:
        return Library(interpreter(python, environ), file, kind, path, environ)

    return opened


def _written(opened: Rows, chosen: Sequence[Row], target: str) -> int:
    """How large it is; a packed file is written as it is without that first."""
    if packings.by_name(target) is None or opened.kind == "folder":
        return opened.write(chosen, target)
    with tempfile.TemporaryDirectory(prefix="zeroin-tiny-") as folder:
        plain = os.path.join(folder, packings.unpacked(os.path.basename(target)))
        opened.write(chosen, plain)
        with open(plain, "rb") as file:
            put_packed(target, file.read())
    return os.path.getsize(target)

"""Two versions of a project's files, as the smallest edits that can be made one without another."""

from __future__ import annotations

import dataclasses
import re

from zeroin.axes.changes.align import differences
from zeroin.axes.changes.choice import Change
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

EXECUTABLE, LINK = "100755", "120000"
MOST_PIECES = 40  # that a block of lines is taken apart into
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_GOES_ON = re.compile(rb"[ \t]*([)\]}]|(else|elif|except|finally|case)\b|#|\r?\n|$)")
_DECORATOR = re.compile(rb"[ \t]*@")


class File(NamedTuple):
    """A file of one version."""

    mode: str  # as git has it
    content: bytes


@dataclasses.dataclass(frozen=True)
class Edit:
    """Old lines and what is in their place; or a whole file, of which one version has nothing."""

    path: str
    block: int  # edits of one block of lines have the same number
    start: int = 0  # line, from 0, in the old version
    stop: int = 0
    new: tuple[bytes, ...] = ()
    new_start: int = 0
    whole: bool = False  # the file comes, goes, or is another one
    mode: bool = False  # only what kind of file it is


class Code:
    """All edits between two versions."""

    def __init__(self, old: Mapping[str, File], new: Mapping[str, File]) -> None:
        self.old = old
        self.new = new
        self.edits: list[Edit] = []
        for path in sorted({*old, *new}):
            if old.get(path) != new.get(path):
                self.edits += self._of(path)
        self._by_path: dict[str, list[int]] = {}
        for number, edit in enumerate(self.edits):
            self._by_path.setdefault(edit.path, []).append(number)

    def _of(self, path: str) -> Iterator[Edit]:
        block = 0
        before, after = self.old.get(path), self.new.get(path)
        if before is None or after is None or LINK in (before.mode, after.mode):
            yield Edit(path, block, whole=True)
            return
        if before.mode != after.mode:
            yield Edit(path, block, mode=True)
        if before.content == after.content:
            return
        if b"\0" in before.content or b"\0" in after.content:
            yield Edit(path, block, whole=True)
            return
        old, new = lines(before.content), lines(after.content)
        for block, one in enumerate(differences(old, new), 1):
            for a, b, c, d in _pieces(old, new, one):
                yield Edit(path, block, a, b, tuple(new[c:d]), c)

    # --- making some of them ------------------------------------------------------------------

    @property
    def paths(self) -> list[str]:
        """Files that differ."""
        return list(self._by_path)

    def mixed(self, path: str, made: Collection[int]) -> File | None:
        """The file with some of the edits (by their numbers); None if it is not there."""
        file = self.old.get(path)
        mode = file.mode if file is not None else ""
        rows = lines(file.content) if file is not None else []
        for number in reversed(self._by_path.get(path, ())):  # the last first: places stay right
            if number not in made:
                continue
            edit = self.edits[number]
            if edit.whole:
                return self.new.get(path)
            if edit.mode:
                mode = self.new[path].mode
            else:
                rows[edit.start : edit.stop] = edit.new
        return File(mode, b"".join(rows)) if file is not None else None

    # --- telling ------------------------------------------------------------------------------

    def change(self, number: int) -> Change:
        """One edit, for people."""
        edit = self.edits[number]
        if edit.mode:
            words = [_kind(side[edit.path].mode) for side in (self.old, self.new)]
            return Change(edit.path, words[0], words[1], "mode", {"path": edit.path})
        if edit.whole:
            old, new = (_shown(side.get(edit.path)) for side in (self.old, self.new))
            return Change(edit.path, old, new, "file", {"path": edit.path})
        rows = lines(self.old[edit.path].content)
        old, new = (_text(part) for part in (rows[edit.start : edit.stop], edit.new))
        line = (edit.new_start if edit.new else edit.start) + 1
        about = {"path": edit.path, "line": line, "old_line": edit.start + 1, "block": edit.block}
        return Change(f"{edit.path}:{line}", old or None, new or None, "code", about)


def lines(content: bytes) -> list[bytes]:
    """With their ends."""
    return _LINE.findall(content)


def _pieces(
    old: Sequence[bytes], new: Sequence[bytes], block: tuple[int, int, int, int]
) -> list[tuple[int, int, int, int]]:
    """A block of lines, taken apart as far as that makes sense."""
    a, b, c, d = block
    if b - a == d - c:  # line by line
        found = [(a + n, a + n + 1, c + n, c + n + 1) for n in range(b - a)]
    elif a == b:
        found = [(a, a, c + n, c + m) for n, m in _statements(new[c:d])]
    elif c == d:
        found = [(a + n, a + m, c, c) for n, m in _statements(old[a:b])]
    else:
        found = [block]
    return found if len(found) <= MOST_PIECES else [block]


def _statements(rows: Sequence[bytes]) -> list[tuple[int, int]]:
    """Where lines begin something: as far left as any, and not the rest of what is above."""
    depths = [_depth(row) for row in rows if row.strip()]
    outer = min(depths, default=0)
    starts = [0]
    for number, row in enumerate(rows[1:], 1):
        below = _DECORATOR.match(rows[number - 1])
        if not _GOES_ON.match(row) and _depth(row) == outer and not below:
            starts.append(number)
    return list(zip(starts, [*starts[1:], len(rows)], strict=True))


def _depth(row: bytes) -> int:
    return len(row) - len(row.lstrip(b" \t"))


def _kind(mode: str) -> str:
    return {EXECUTABLE: "executable", LINK: "a link"}.get(mode, "not executable")


def _text(rows: Sequence[bytes]) -> str:
    return b"".join(rows).decode(errors="replace")


def _shown(file: File | None) -> str | None:
    if file is None:
        return None
    if file.mode == LINK:
        return f"→ {_text([file.content])}"
    return f"{len(file.content)} bytes" if b"\0" in file.content else _text([file.content])

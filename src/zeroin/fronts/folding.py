"""Lines that are longer than the terminal is wide: broken between words, with a margin.

A row of columns goes on below its last column. Parts that are told apart by a wide gap stay
whole, if they can. A command stays one that can be pasted: where it has to be broken, a
backslash says so.
"""

from __future__ import annotations

import re
import shlex

from zeroin.fronts.watch.cells import STYLE, wide

STEP = 2  # blanks before what goes on, where there is no column
GAP = re.compile(r"( {2,})(?=\S)")
COLUMN = re.compile(r"\s*(?:\S+ )*\S* {2,}(?=\S)")
COMMAND = re.compile(
    r"(?<![\w/.'’(-])(?:zeroin|zin) [a-z]|(?<=mend: )\S|(?<=again: )\S|(?<=duce: )\S"
)
# A number and its unit are one word.
WORD = re.compile(r"( *)(\S*\d (?:[kKMGT]?i?B|ms|s|min|h|%)(?![\w/])\S*|\S+)")
LEADING = re.compile(r"(?:\x1b\[[0-9;]*m| )*")
SOURCE = re.compile(r"\s*(?:→\s*)?\d* │|[{\[][\"{}\[\]]")  # lines of a program, and JSON


def fold_text(text: str, columns: int) -> str:
    """Give the text with no line that the terminal would break inside a word, if that can be."""
    return "\n".join(row for line in text.split("\n") for row in fold_line(line, columns))


def fold_line(line: str, columns: int) -> list[str]:
    """Likewise for one line."""
    if count_cells(line) <= columns or SOURCE.match(STYLE.sub("", line)):
        return [line]
    plain = STYLE.sub("", line)
    blanks = len(plain) - len(plain.lstrip(" "))
    column = _column(line, columns)
    rows = [line] if column else _packed(line, blanks, columns)
    found: list[str] = []
    for row in rows:
        found += [row] if count_cells(row) <= columns else _fold_part(row, blanks, column, columns)
    return found


def _packed(line: str, blanks: int, columns: int) -> list[str]:
    """Give the parts of a line that wide gaps tell apart, as many on a row as fit."""
    leading = LEADING.match(line)
    start = leading.end() if leading else 0
    first, *others = GAP.split(line[start:])
    rows = [line[:start] + first]
    for gap, part in zip(others[::2], others[1::2], strict=True):
        if count_cells(rows[-1] + gap + part) <= columns:
            rows[-1] += gap + part
        else:
            rows.append(" " * (blanks if COMMAND.search(part) else blanks + STEP) + part)
    return rows


def _column(line: str, columns: int) -> int:
    """Where the last column of a row begins; 0 if what is right of it has no room."""
    found = COLUMN.match(STYLE.sub("", line))
    if found is None or not found[0].strip() or COMMAND.search(found[0]):
        return 0
    return found.end() if found.end() <= columns // 2 else 0


def _fold_part(line: str, blanks: int, column: int, columns: int) -> list[str]:
    command = COMMAND.search(line)
    head, tail, remark = line, list[str](), ""
    if command is not None:
        told, _, *rest = [*GAP.split(line[command.start() :], 1), ""]
        head, tail, remark = line[: command.start()], _command_words(told), "".join(rest)
    rows = _Rows(blanks, column, columns)
    for gap, word in WORD.findall(head):
        rows.add(gap, word)
    is_below = (
        bool(column) and count_cells(head) >= column
    )  # it stands in the column, and stays there
    if (
        tail
        and rows.row.strip()
        and not is_below
        and count_cells(f"{head}{' '.join(tail)}") > columns
    ):
        rows.begin()
    gap = head[len(head.rstrip(" ")) :]
    for number, word in enumerate(tail):
        rows.add(" " if number else gap, word, end=" \\" if len(tail) > 1 else "")
    for number, (gap, word) in enumerate(WORD.findall(remark)):
        if not number and count_cells(f"{rows.row}  {remark}") > columns:
            rows.begin()
        rows.add(gap or "  ", word)
    return rows.done()


class _Rows:
    """The rows of one line, word by word."""

    def __init__(self, blanks: int, column: int, columns: int) -> None:
        self._blanks, self._column, self._columns = blanks, column, columns
        self._done: list[str] = []
        self.row = ""

    def add(self, gap: str, word: str, end: str = "") -> None:
        """Put a word behind the others, or on the next row; `end` is left where a row is."""
        is_first = not self.row.strip(" ")
        behind = self.row + (gap if self.row or not self._done else "") + word
        if is_first and self._done:
            behind = self.row + word
        if is_first or count_cells(behind) + len(end) <= self._columns:
            self.row = behind
            return
        self.row += end
        self.begin(count_cells(word) + len(end))
        self.row += word

    def begin(self, needed: int = 0) -> None:
        """Go to the next row: below the column, unless a long word has no room there."""
        self._done.append(self.row)
        margin = self._column or self._blanks + STEP
        if margin + needed > self._columns:
            margin = self._blanks + STEP if self._blanks + STEP + needed <= self._columns else 0
        self.row = " " * margin

    def done(self) -> list[str]:
        """All rows."""
        return [*self._done, self.row]


def _command_words(text: str) -> list[str]:
    """Give the words of a command as they are quoted; all in one if that can't be told."""
    words = re.findall(r"(?:[^\s'\"]|'[^']*'|\"[^\"]*\")+", text)
    try:
        is_whole = shlex.split(STYLE.sub("", text)) == shlex.split(STYLE.sub("", " ".join(words)))
    except ValueError:
        return text.split(" ")
    return words if is_whole else [text]


def count_cells(text: str) -> int:
    """How many columns a text takes, without its colours."""
    return wide(STYLE.sub("", text))

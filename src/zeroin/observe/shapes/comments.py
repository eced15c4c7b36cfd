"""Comments that say shapes, in a source: found, put in, taken out; all else stays as it is.

A comment of ours is the end of a line, from two blanks and `#` on, whose text can be read as a
form. It stands behind a comment of the user's own. Where a line ends is asked of the tokenizer:
never inside a string, never behind a backslash.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from zeroin.named import NamedTuple
from zeroin.observe.shapes import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATOR = "  # "
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
# Formatters read these only when nothing stands behind them.
_ALONE = re.compile(r"#\s*(?:fmt|yapf|isort)\s*:")


class UnreadableError(Exception):
    """The source can't be read by this Python: the reason."""


class Line(NamedTuple):
    """The end of a line that may bear a comment."""

    code: str  # with a comment of the user's own
    note: str  # the text of ours, or ""
    ending: str
    logical: bool  # a statement, or its head, ends here


class Sheet:
    """A source, line by line."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        try:
            self.encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
            whole = source.decode(self.encoding)
            ends = _ends(whole)
            self.tree = ast.parse(source)
        except (SyntaxError, ValueError, LookupError, tokenize.TokenError) as error:
            raise UnreadableError(str(error)) from None
        self.lines = [one for one in _LINES.findall(whole) if one]
        self._ends = ends

    def line(self, number: int) -> Line | None:
        """The line, from 1 on; None if no comment can stand at its end."""
        if number not in self._ends:
            return None
        full = self.lines[number - 1]
        body = full.rstrip("\r\n")
        at, logical = self._ends[number]
        code, note = body, ""
        if at is not None:
            code, note = _split(body, at)
        return Line(code, note, full[len(body) :], logical)

    def below(self, number: int, *, logical: bool) -> int | None:
        """The first line from there on, at whose end a comment can stand."""
        for one in range(number, len(self.lines) + 1):
            end = self._ends.get(one)
            if end is not None and (end[1] or not logical):
                return one
        return None

    def notes(self) -> dict[int, str]:
        """All comments of ours."""
        found = {}
        for number in self._ends:
            line = self.line(number)
            if line is not None and line.note:
                found[number] = line.note
        return found

    def shapeless(self) -> set[int]:
        """Lines at whose end a statement ends that binds or returns nothing with a shape: `y = 5`.

        Nobody looks at those in a run: it is plain to see here.
        """
        kinds = ast.Assign | ast.AnnAssign | ast.Return
        ends = [node for node in ast.walk(self.tree) if isinstance(node, kinds)]
        return {node.end_lineno or 0 for node in ends if _is_plain(node.value)}

    def names_used(self) -> dict[int, list[str]]:
        """Names that a statement reads, with attributes as they are written, by its comment's line.

        Of a statement with a block, those of its head.
        """
        found: dict[int, list[str]] = {}
        for node in ast.walk(self.tree):
            read = _read_by(node)
            line = self.below(_last_line(read), logical=True) if read else None
            if line is not None:
                found.setdefault(line, []).extend(_spelled(read))
        return found

    def with_notes(self, notes: dict[int, str]) -> bytes:
        """The source with these comments, by line; "" takes one out, others stay."""
        out = list(self.lines)
        for number, note in notes.items():
            line = self.line(number)
            if line is None or (note and not can_bear(line.code)):
                continue
            out[number - 1] = line.code + (SEPARATOR + note if note else "") + line.ending
        new = "".join(out).encode(self.encoding, "strict")
        if self.encoding == "utf-8-sig" and not new.startswith(b"\xef\xbb\xbf"):
            new = b"\xef\xbb\xbf" + new
        if ast.dump(ast.parse(new)) != ast.dump(self.tree):
            raise AssertionError("comments have changed the program")
        return new

    def without_notes(self) -> bytes:
        """The source as it was before there were any."""
        return self.with_notes(dict.fromkeys(self.notes(), ""))


class Unparsed(Sheet):
    """A source that only another Python can read: it can be shown, and that is all."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.encoding = "utf-8"
        self.lines = [one for one in _LINES.findall(source.decode("utf-8", "replace")) if one]
        self.tree = ast.Module([], [])
        self._ends = dict.fromkeys(range(1, len(self.lines) + 1), (None, True))


def can_bear(code: str) -> bool:
    """Whether a comment can stand behind it without taking a formatter's instruction away."""
    return not _ALONE.search(code)


def _is_plain(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Lambda():
            return True
        case ast.List([]) | ast.Tuple([]) | ast.Dict([]):
            return True
    return False


def _read_by(node: ast.AST) -> list[ast.expr]:
    """What a statement reads in order to bind or to return something."""
    match node:
        case ast.Assign() | ast.Return() | ast.Yield() | ast.AnnAssign():
            return [node.value] if node.value is not None else []
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.For() | ast.AsyncFor():
            return [node.iter]
        case ast.With() | ast.AsyncWith():
            return [one.context_expr for one in node.items]
    return []


def _last_line(nodes: list[ast.expr]) -> int:
    return max(node.end_lineno or node.lineno for node in nodes)


def _spelled(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        for one in ast.walk(node):
            if isinstance(one, ast.Name | ast.Attribute):
                yield ast.unparse(one)


def _ends(whole: str) -> dict[int, tuple[int | None, bool]]:
    """Lines that end outside of everything: where their comment begins, whether a statement ends.

    Lines without code are left out: what stands there is the user's.
    """
    found: dict[int, tuple[int | None, bool]] = {}
    comment: dict[int, int] = {}
    busy: set[int] = set()
    plain = whole.replace("\r\n", "\n").replace("\r", "\n")  # as the compiler reads it
    for token in tokenize.generate_tokens(io.StringIO(plain).readline):
        row = token.start[0]
        if token.type == tokenize.COMMENT:
            comment[row] = token.start[1]
        elif token.type in (tokenize.NEWLINE, tokenize.NL):
            if row in busy:
                found[row] = (comment.get(row), token.type == tokenize.NEWLINE)
        elif token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            busy.add(token.end[0])
    return found


def _split(body: str, at: int) -> tuple[str, str]:
    """Code with the user's comment, and ours, which is the last."""
    start = at - 2
    while True:
        found = body.find(SEPARATOR, max(0, start))
        if found < 0:
            return body, ""
        note = body[found + len(SEPARATOR) :]
        if text.parsed(note) is not None:
            return body[:found], note
        start = found + 1

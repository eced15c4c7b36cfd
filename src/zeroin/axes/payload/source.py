"""Python source: places of its syntax tree as places in its text."""

from __future__ import annotations

import io
import itertools
import tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
    Brackets = tuple[int, int, list[tuple[int, int]]]  # where they are, what is between commas

OPEN, CLOSE = "([{", ")]}"


def tokens_of(text: str) -> list[tokenize.TokenInfo]:
    """None, if it has none to its end."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return []


class Source:
    """A text, and the places of its syntax tree as places in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(io.StringIO(text, newline=""))
        self.starts = list(itertools.accumulate(map(len, self.lines), initial=0))

    def offset(self, line: int, column: int, *, is_bytes: bool = True) -> int:
        """Of a place that is counted in lines from 1, and in bytes of UTF-8 or characters."""
        own = self.lines[line - 1] if line <= len(self.lines) else ""
        if is_bytes and not own.isascii():
            column = len(own.encode()[:column].decode(errors="ignore"))
        return self.starts[min(line, len(self.starts)) - 1] + column

    def place(
        self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
    ) -> tuple[int, int]:
        """Where it begins and ends."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    def brackets(self) -> Iterator[Brackets]:
        """From where to where they are, inside, and what stands between the commas there."""
        opened: list[list[int]] = []  # behind the bracket, then behind each comma
        for token in tokenize.generate_tokens(io.StringIO(self.text, newline="").readline):
            if token.type != tokenize.OP:
                continue
            start = self.offset(*token.start, is_bytes=False)
            end = self.offset(*token.end, is_bytes=False)
            if token.string in OPEN:
                opened.append([end])
            elif token.string == "," and opened:
                opened[-1].append(end)
            elif token.string in CLOSE and opened:
                behind = opened.pop()
                stops = [*(at - 1 for at in behind[1:]), start]
                pieces = [self._trimmed(a, b) for a, b in zip(behind, stops, strict=True)]
                yield behind[0], start, [(a, b) for a, b in pieces if a < b]

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        own = self.text[start:end]
        return start + len(own) - len(own.lstrip()), start + len(own.rstrip())

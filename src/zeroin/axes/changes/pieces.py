"""A text of settings as a tree of keys, each with the text that it was written as.

Of two such trees a third is made, key by key: what stays keeps its spaces and comments.
"""

from __future__ import annotations

import dataclasses
import re

from zeroin.axes.changes.align import differences
from zeroin.axes.changes.choice import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Take = Callable[[Change], bool]  # whether a change is made

LONGEST = 2000  # characters of a value that is told


@dataclasses.dataclass(frozen=True)
class Piece:
    """A key with its value: text, or other keys; the elements of a list have numbers as keys."""

    key: str
    head: str = ""  # all of it, where there is nothing inside
    inside: tuple[Piece, ...] = ()
    joint: str = ""
    tail: str = ""
    value: Any = None  # what is compared; None for what has something inside
    is_list: bool = False
    indent: int = -1  # where that has a meaning

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{self.head}{self.joint.join(one.text for one in self.inside)}{self.tail}"

    @property
    def meaning(self) -> Any:
        """Equal for what is the same but for spaces and comments."""
        if not self.inside:
            return self.value
        return self.is_list, tuple((one.key, one.meaning) for one in self.inside)

    @property
    def shown(self) -> str:
        """The value, for people."""
        text = str(self.value) if self.value is not None and not self.inside else self.text.strip()
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def mixed(old: Piece, new: Piece, take: Take) -> Piece:
    """The old one, with those differences that are taken, always asked for in the same order."""
    return _mixed(old, new, "", take) or dataclasses.replace(old, inside=())


def _mixed(old: Piece | None, new: Piece | None, path: str, take: Take) -> Piece | None:
    if old is not None and new is not None:
        if old.meaning == new.meaning:
            return old
        if old.inside and new.inside and old.is_list == new.is_list:
            if old.is_list and len(old.inside) != len(new.inside):
                return _aligned(old, new, path, take)
            return _with_keys(old, new, path, take)
    one = old or new
    if one is not None and one.value is None and not one.inside:
        return old  # a comment
    if one is not None and (old is None or new is None) and one.inside and not one.is_list:
        return _one_sided(one, path, take, is_new=old is None)
    before, after = (None if side is None else side.shown for side in (old, new))
    return new if take(Change(path, before, after, "setting")) else old


def _with_keys(old: Piece, new: Piece, path: str, take: Take) -> Piece:
    """Key by key; what came stands behind what it stood behind."""
    before, after = ({one.key: one for one in side.inside} for side in (old, new))
    order = list(before)
    at = 0
    for key in after:
        if key in before:
            at = order.index(key) + 1
        else:
            order.insert(at, key)
            at += 1
    found = []
    for key in order:
        one = _mixed(before.get(key), after.get(key), _joined(path, key, old.is_list), take)
        if one is not None:
            found.append(one)
    return _of(old, new, found)


def _aligned(old: Piece, new: Piece, path: str, take: Take) -> Piece:
    """Lists of two lengths: what came, what went, what is another."""
    found: list[Piece] = []
    at = 0
    for block in differences(_meanings(old), _meanings(new)):
        a, b, c, d = block
        found += old.inside[at:a]
        sides = (old.inside[a:b], new.inside[c:d])
        shown = [", ".join(one.shown for one in side) if side else None for side in sides]
        name = f"{path}[{c if c < d else a}]"
        found += sides[take(Change(name, shown[0], shown[1], "setting"))]
        at = b
    return _of(old, new, [*found, *old.inside[at:]])


def _meanings(piece: Piece) -> list[str]:
    return [repr(one.meaning) for one in piece.inside]


def _one_sided(piece: Piece, path: str, take: Take, *, is_new: bool) -> Piece | None:
    """A section that came or went, key by key; without any it is not there."""
    found = []
    for one in piece.inside:
        old, new = (None, one) if is_new else (one, None)
        kept = _mixed(old, new, _joined(path, one.key, piece.is_list), take)
        if kept is not None:
            found.append(kept)
    return dataclasses.replace(piece, inside=tuple(found)) if found else None


def _of(old: Piece, new: Piece, inside: Sequence[Piece]) -> Piece:
    """The old one with these inside, all as deep as its own are."""
    if old.indent >= 0 and old.inside:
        depth = old.inside[0].indent
        inside = [shifted(one, depth - one.indent) for one in inside]
    if not inside and new.inside:
        return dataclasses.replace(old, inside=())
    return dataclasses.replace(old, inside=tuple(inside))


def shifted(piece: Piece, by: int) -> Piece:
    """Further to the right, or to the left."""
    if not by:
        return piece
    return dataclasses.replace(
        piece,
        head=_indented(piece.head, by),
        inside=tuple(shifted(one, by) for one in piece.inside),
        tail=_indented(piece.tail, by),
        indent=piece.indent + by,
    )


def _indented(text: str, by: int) -> str:
    if by > 0:
        return re.sub(r"^(?=[^\n])", " " * by, text, flags=re.MULTILINE)
    return re.sub(rf"^ {{1,{-by}}}", "", text, flags=re.MULTILINE)


def _joined(path: str, key: str, is_list: bool) -> str:
    if is_list:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key

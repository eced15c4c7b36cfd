"""Sizes that have changed everywhere alike: a run with another batch size breaks no comment.

A size is *resized* from 32 to 8 if several comments say 32 where 8 was seen, if it is what became
of most sizes 32 at some axis, and if the change comes from outside of what has comments: an
argument, rows taken from a larger table, an array that is made here. Other sizes follow from it:
those of `2 * batch`, `batch * seq`, `seq + 1`.

A line is not explained by it where the change begins without a reason: `h = layer(x[:8])` where `x`
still has 32 rows, `y = att.transpose(1, 2)[:, 1:]` where `att` still has the same `t`, or
`h = layer(x)` where only the last axis, that of features, is another.
"""

from __future__ import annotations

from collections import Counter

from zeroin.named import NamedTuple
from zeroin.observe.shapes import forms
from zeroin.observe.shapes.forms import Array, Each, Named, Several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.observe.shapes.check import Line
    from zeroin.observe.shapes.forms import Dim, Form, Forms

ENOUGH = 2  # places with the same change: a single one is a comment that does not hold
SHIFT = 1  # `seq + 1` goes with `seq`
FLOATS = ("f", "bf", "c")  # how the types begin of what a layer gives


class Resize(NamedTuple):
    """A size that is another one in this run; with the name that it has there, if it is one."""

    before: int
    after: int
    name: str = ""


class Axis(NamedTuple):
    """One dimension of a comment beside what was seen: the largest sizes of both."""

    at: int
    is_feature: bool  # the last of several axes, of an array of floats
    before: int
    after: int
    name: str  # that it has in this run
    is_last: bool
    array: int  # the how manieth array of its line
    said: str = ""  # the name that the comment gives it

    @property
    def has_changed(self) -> bool:
        """Whether the sizes differ."""
        return self.before != self.after


class Changes:
    """What has been resized in a run, and which lines that explains; one list of lines a file."""

    def __init__(self, files: Sequence[Sequence[Line]]) -> None:
        self._axes: dict[int, list[Axis]] = {}  # by the line's identity
        self._sources: dict[int, list[int]] = {}
        for lines in files:
            latest: dict[tuple[str, str], int] = {}
            for line in sorted(lines, key=lambda one: one.number):
                self._axes[id(line)] = list(_axes_of(line))
                known = (latest.get((line.function, name)) for name in line.used)
                self._sources[id(line)] = [one for one in known if one is not None]
                latest |= {(line.function, name): id(line) for name in line.targets}
        self.found = self._find()

    def explains(self, line: Line, before: int, after: int) -> Resize | None:
        """Give the change from which a size of a line follows."""
        axes = [one for one in self._axes[id(line)] if one[2:4] == (before, after)]
        if not axes or any(self._is_unfounded(id(line), one) for one in axes):
            return None
        for one in self.found:
            if _follows(before, after, [one]):
                return one
        return self.found[0] if _follows(before, after, self.found) else None

    def _find(self) -> list[Resize]:
        places: Counter[tuple[int, int]] = Counter()
        at_axis: dict[tuple[int, int], Counter[int]] = {}
        names: dict[tuple[int, int], set[str]] = {}
        for axes in self._axes.values():
            changed = [one for one in axes if one.has_changed]
            for _, before, after in {(one.array, one.before, one.after) for one in changed}:
                places[before, after] += 1
            for one in changed:
                at_axis.setdefault((one.before, one.at), Counter())[one.after] += 1
                names.setdefault((one.before, one.after), set()).update({one.name} - {""})
        usual = {
            (before, after)
            for (before, _), counts in at_axis.items()
            for after, count in counts.items()
            if 2 * count > counts.total()
        }
        likely = [
            Resize(*pair, min(names[pair]) if len(names[pair]) == 1 else "")
            for pair in usual
            if places[pair] >= ENOUGH and self._comes_from_outside(*pair)
        ]
        likely.sort(key=lambda one: (not one.name, -places[one[:2]], one.before))
        kept: list[Resize] = []
        for resize in likely:
            if not _follows(resize.before, resize.after, kept):
                kept.append(resize)
        return kept

    def _comes_from_outside(self, before: int, after: int) -> bool:
        """Tell whether some line has the change from nowhere else, and may have it."""
        for line, axes in self._axes.items():
            mine = [one for one in axes if one[2:4] == (before, after)]
            above = [one for source in self._sources[line] for one in self._axes[source]]
            is_first = mine and not any(one[2:4] == (before, after) for one in above)
            if is_first and not any(self._is_unfounded(line, one) for one in mine):
                return True
        return False

    def _is_unfounded(self, line: int, axis: Axis) -> bool:
        """Tell whether a line has another size though nothing that it is made from leads to it."""
        above = [one for source in self._sources[line] for one in self._axes[source]]
        changed = [one for one in above if one.has_changed]
        if any(_follows(*axis[2:4], [Resize(one.before, one.after)]) for one in changed):
            return False
        is_cut = any(
            one[2:4] == (axis.before, axis.before)
            and (one.at == axis.at or (one.name and one.name == axis.said))
            for one in above
        )
        from_last = any(one.is_last for one in changed)
        return is_cut or (axis.is_feature and bool(above) and not from_last)


def _follows(before: int, after: int, known: Sequence[Resize]) -> bool:
    """Tell whether a size is one that has been resized, a multiple, a part, a product of two."""
    pairs = [(one.before, one.after) for one in known]
    pairs += [(a * c, b * d) for n, (a, b) in enumerate(pairs) for c, d in pairs[n + 1 :]]
    return any(
        (before % a == 0 and after == before // a * b)
        or (a % before == 0 and after * (a // before) == b)
        or (abs(before - a) <= SHIFT and before - a == after - b)
        for a, b in pairs
        if a and before
    )


# --- a comment beside what was seen -------------------------------------------------------------


def _axes_of(line: Line) -> Iterator[Axis]:
    from zeroin.observe.shapes.check import pairs

    for number, (entry, found) in enumerate(pairs(line)):
        for said, dim, at, array in _aligned(entry.forms, found or ()):
            if said.sizes and dim.sizes:
                rank = len(array.dims) if array is not None else 0
                is_float = array is not None and array.dtype.startswith(FLOATS)
                is_feature = is_float and rank > 1 and at == rank - 1
                largest = (max(said.values), max(dim.values))
                yield Axis(at, is_feature, *largest, dim.name, at == rank - 1, number, said.name)


def _aligned(says: Forms, was: Forms) -> Iterator[tuple[Dim, Dim, int, Array | None]]:
    """Dimensions that belong together, of forms that are alike but for their sizes."""
    for one in was:
        said = next((said for said in says if _are_alike(said, one)), None)
        match said, one:
            case Array(), Array():
                dims = zip(said.dims, one.dims, strict=True)
                yield from ((a, b, at, one) for at, (a, b) in enumerate(dims))
            case Several(), Several():
                yield said.length, one.length, 0, None
                yield from _aligned(said.of, one.of)
            case Each(), Each():
                for a, b in zip(said.of, one.of, strict=False):
                    yield from _aligned(a, b)
            case Named(), Named():
                entries = dict(one.entries)
                for name, inner in said.entries:
                    yield from _aligned(inner, entries.get(name, ()))
            case forms.Plain(), forms.Plain():
                yield said.length, one.length, 0, None


def _are_alike(said: Form, one: Form) -> bool:
    match said, one:
        case Array(), Array():
            return len(said.dims) == len(one.dims)
        case forms.Plain(), forms.Plain():
            return said.kind == one.kind
    return type(said) is type(one)

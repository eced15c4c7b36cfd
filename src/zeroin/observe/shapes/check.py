"""Do the comments still hold? What they say, compared with what was seen.

A number must be equal, a range must hold all that was seen. A dimension with a name may have any
size, as long as that name has the same sizes everywhere in its function, unless it is to be exact.
So may a size that is another one everywhere in this run, see `resized`.
Types, devices and the rest must be equal.
"""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.observe.shapes import forms, text
from zeroin.observe.shapes.forms import Array, Each, Named, Several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zeroin.observe.shapes.forms import Dim, Form, Forms
    from zeroin.observe.shapes.resized import Changes, Resize

    DimFits = Callable[[Dim, Dim], bool]


class Line(NamedTuple):
    """A line with a comment: what it says, and what was seen, by target."""

    number: int
    function: str
    says: list[text.Entry]
    was: list[text.Entry]
    targets: tuple[str, ...] = ()  # all that is bound there
    used: tuple[str, ...] = ()  # what it is made from


class Broken(NamedTuple):
    """A comment that does not hold."""

    line: int
    says: str
    was: str
    why: str  # where names disagree; else it is plain to see


class Found(NamedTuple):
    """The comments of a file that don't hold, and the lines that only have another size."""

    broken: list[Broken]
    resized: dict[Resize, list[int]]


def check(lines: list[Line], changes: Changes, *, exact: bool = False) -> Found:
    """All comments that don't hold, in order; `exact`: all sizes must be those of the comments."""
    broken: list[Broken] = []
    resized: dict[Resize, list[int]] = {}
    bound: dict[tuple[str, str], _Bound] = {}
    for one in sorted(lines, key=lambda line: line.number):
        said, was = text.written(one.says), text.written(one.was)
        needed = _explained(one, changes, exact=exact)
        if needed is None:
            broken.append(Broken(one.number, said, was, ""))
            continue
        conflict = ""
        for name, given, sizes in _bindings(one):
            resize = None if exact else changes.explains(one, max(given), max(sizes))
            as_said = given if resize is not None else sizes
            new = _Bound(sizes, as_said, one.number, resize)
            before = bound.setdefault((one.function, name), new)
            if before.sizes < sizes:
                bound[one.function, name] = new
            elif not sizes <= before.sizes and not new.as_said <= before.as_said:
                is_ = "|".join(map(str, sorted(before.sizes)))
                conflict = f"{name} is {is_} in line {before.line}"
                break
            elif not sizes <= before.sizes:
                needed += [why for why in (before.resize, resize) if why is not None]
        if conflict:
            broken.append(Broken(one.number, said, was, conflict))
            continue
        for resize in dict.fromkeys(needed):
            resized.setdefault(resize, []).append(one.number)
    return Found(broken, resized)


class _Bound(NamedTuple):
    """The sizes that a name had in a line, and what they would be had none been resized."""

    sizes: set[int]
    as_said: set[int]
    line: int
    resize: Resize | None


def _explained(line: Line, changes: Changes, *, exact: bool) -> list[Resize] | None:
    """The changed sizes that a line needs in order to hold; None if it does not even so."""
    if exact:
        return [] if _agree(_nameless(line), _dim_fits) else None
    if _agree(line, _dim_fits):
        return []
    needed: dict[Resize, None] = {}

    def dim_fits(said: Dim, one: Dim) -> bool:
        if _dim_fits(said, one) or not said.sizes or not one.sizes:
            return _dim_fits(said, one)
        resize = changes.explains(line, max(said.values), max(one.values))
        needed.update({resize: None} if resize is not None else {})
        return resize is not None

    return list(needed) if _agree(line, dim_fits) else None


def pairs(line: Line) -> Iterator[tuple[text.Entry, Forms | None]]:
    """What a line says beside what was seen, target by target; None for a target that is gone."""
    seen = {label: entry.forms for entry in line.was for label in entry.labels or ("",)}
    for entry in line.says:
        for label in entry.labels or ("",):
            found = seen.get(label)
            if found is None and len(seen) == 1 and len(line.says) == 1 and not entry.labels:
                found = next(iter(seen.values()))
            yield entry, found


def _nameless(line: Line) -> Line:
    says = [entry._replace(forms=forms.renamed(entry.forms, lambda *_: "")) for entry in line.says]
    return line._replace(says=says)


def _agree(line: Line, dim_fits: DimFits) -> bool:
    return all(
        found is not None and _fit_all(entry.forms, found, dim_fits, more=entry.more)
        for entry, found in pairs(line)
    )


def _fit_all(says: Forms, was: Forms, dim_fits: DimFits, *, more: bool = False) -> bool:
    """Each that was seen must be among the alternatives."""
    return more or all(any(_fits(said, one, dim_fits) for said in says) for one in was)


def _fits(said: Form, one: Form, dim_fits: DimFits) -> bool:
    match said, one:
        case Array(), Array():
            return _array_fits(said, one, dim_fits)
        case Several(), Several():
            return dim_fits(said.length, one.length) and _fit_all(said.of, one.of, dim_fits)
        case Each(), Each():
            return len(said.of) == len(one.of) and all(
                _fit_all(a, b, dim_fits) and bool(a) == bool(b)
                for a, b in zip(said.of, one.of, strict=True)
            )
        case Named(), Named():
            entries = dict(one.entries)
            known = all(k in entries and _fit_all(v, entries[k], dim_fits) for k, v in said.entries)
            return known and (said.length < 0 or len(said.entries) == len(one.entries))
        case forms.Plain(), forms.Plain():
            return said.kind == one.kind and dim_fits(said.length, one.length)
    return False


def _array_fits(said: Array, one: Array, dim_fits: DimFits) -> bool:
    about = text.parsed(text.form(one))  # as it would be written
    plain = about[0].forms[0] if about else one
    alike = isinstance(plain, Array) and said[1:] == plain[1:]
    return (
        alike
        and len(said.dims) == len(one.dims)
        and all(a.name or dim_fits(a, b) for a, b in zip(said.dims, one.dims, strict=True))
    )


def _dim_fits(said: Dim, one: Dim) -> bool:
    if not said.sizes:
        return True
    if not one.sizes:
        return False
    if said.wide:
        return said.values[0] <= one.values[0] and one.values[-1] <= said.values[-1]
    return not one.wide and set(one.values) <= set(said.values)


def _bindings(line: Line) -> Iterator[tuple[str, set[int], set[int]]]:
    """What each name of a line is said to be and what it was, where both are of one form."""
    for entry, found in pairs(line):
        said, was = forms.arrays(entry.forms), forms.arrays(found or ())
        for a, b in zip(said, was, strict=False):
            for dim, seen in zip(a.dims, b.dims, strict=False):
                if dim.name and seen.sizes:
                    yield dim.name, {*dim.values} or {0}, {*seen.values}

"""Do the comments still hold? What they say, compared with what was seen.

A number must be equal, a range must hold all that was seen. A dimension with a name may have any
size, as long as that name has the same sizes everywhere in its function, unless it is to be exact.
Types, devices and the rest must be equal.
"""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.observe.shapes import forms, text
from zeroin.observe.shapes.forms import Array, Each, Named, Several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from zeroin.observe.shapes.forms import Dim, Form, Forms


class Line(NamedTuple):
    """A line with a comment: what it says, and what was seen, by target."""

    number: int
    function: str
    says: list[text.Entry]
    was: list[text.Entry]


class Broken(NamedTuple):
    """A comment that does not hold."""

    line: int
    says: str
    was: str
    why: str  # where names disagree; else it is plain to see


def check(lines: list[Line], *, exact: bool = False) -> list[Broken]:
    """All comments that don't hold, in order; `exact`: names must have the sizes as well."""
    broken: list[Broken] = []
    bound: dict[tuple[str, str], tuple[set[int], int]] = {}  # sizes of a name, and the line
    for one in sorted(lines):
        if not _agree(_nameless(one) if exact else one):
            broken.append(Broken(one.number, text.written(one.says), text.written(one.was), ""))
            continue
        for name, sizes in _bindings(one):
            before = bound.get((one.function, name))
            if before is None or before[0] < sizes:
                bound[one.function, name] = (sizes, one.number)
            elif not sizes <= before[0]:
                is_ = "|".join(map(str, sorted(before[0])))
                why = f"{name} is {is_} in line {before[1]}"
                said, was = text.written(one.says), text.written(one.was)
                broken.append(Broken(one.number, said, was, why))
                break
    return broken


def _pairs(line: Line) -> Iterator[tuple[text.Entry, Forms | None]]:
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


def _agree(line: Line) -> bool:
    return all(
        found is not None and _fit_all(entry.forms, found, more=entry.more)
        for entry, found in _pairs(line)
    )


def _fit_all(says: Forms, was: Forms, *, more: bool = False) -> bool:
    """Each that was seen must be among the alternatives."""
    return more or all(any(_fits(said, one) for said in says) for one in was)


def _fits(said: Form, one: Form) -> bool:
    match said, one:
        case Array(), Array():
            return _array_fits(said, one)
        case Several(), Several():
            return _dim_fits(said.length, one.length) and _fit_all(said.of, one.of)
        case Each(), Each():
            return len(said.of) == len(one.of) and all(
                _fit_all(a, b) and bool(a) == bool(b) for a, b in zip(said.of, one.of, strict=True)
            )
        case Named(), Named():
            entries = dict(one.entries)
            known = all(k in entries and _fit_all(v, entries[k]) for k, v in said.entries)
            return known and (said.length < 0 or len(said.entries) == len(one.entries))
        case forms.Plain(), forms.Plain():
            return said.kind == one.kind and _dim_fits(said.length, one.length)
    return False


def _array_fits(said: Array, one: Array) -> bool:
    about = text.parsed(text.form(one))  # as it would be written
    plain = about[0].forms[0] if about else one
    alike = isinstance(plain, Array) and said[1:] == plain[1:]
    return (
        alike
        and len(said.dims) == len(one.dims)
        and all(a.name or _dim_fits(a, b) for a, b in zip(said.dims, one.dims, strict=True))
    )


def _dim_fits(said: Dim, one: Dim) -> bool:
    if not said.sizes:
        return True
    if not one.sizes:
        return False
    if said.wide:
        return said.values[0] <= one.values[0] and one.values[-1] <= said.values[-1]
    return not one.wide and set(one.values) <= set(said.values)


def _bindings(line: Line) -> Iterator[tuple[str, set[int]]]:
    """What each name of a line was, where said and seen are of one form."""
    for entry, found in _pairs(line):
        said, was = forms.arrays(entry.forms), forms.arrays(found or ())
        for a, b in zip(said, was, strict=False):
            for dim, seen in zip(a.dims, b.dims, strict=False):
                if dim.name and seen.sizes:
                    yield dim.name, set(seen.values)

"""Forms: what was seen at a place, without the values; and how several become one.

A *size* is one number of a shape with how often it was seen. A *dimension* is all sizes that one
axis had. Arrays of one rank and type are one form, whatever their sizes; what differs otherwise
stays apart, as alternatives.
"""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


class Dim(NamedTuple):
    """One axis: its sizes in order, each with how often it was seen; none if it is unknown."""

    sizes: tuple[tuple[int, int], ...]
    wide: bool = False  # anything between the first and the last
    name: str = ""

    @property
    def values(self) -> tuple[int, ...]:
        """The sizes alone."""
        return tuple(size for size, _ in self.sizes)


class Array(NamedTuple):
    """A tensor, an array, a table."""

    dims: tuple[Dim, ...]
    dtype: str
    device: str = ""
    word: str = ""  # what else is to be said: Series, sparse


class Several(NamedTuple):
    """A container whose elements are alike."""

    kind: str
    length: Dim
    of: Forms


class Each(NamedTuple):
    """A short container, element by element; no form for what has none."""

    kind: str
    of: tuple[Forms, ...]


class Named(NamedTuple):
    """A mapping or a record: the entries that hold arrays."""

    length: int
    entries: tuple[tuple[str, Forms], ...]


class Plain(NamedTuple):
    """A container of other things."""

    kind: str
    length: Dim


Form = Array | Several | Each | Named | Plain
Forms = tuple[Form, ...]  # alternatives


def read(told: Sequence[Any], times: int = 1) -> Form | None:
    """What the agent wrote; None for what is no form but a number, see `names`."""
    match told:
        case ["a", sizes, dtype, device, word]:
            return Array(tuple(_dim(one, times) for one in sizes), dtype, device, word)
        case ["s", kind, length, inner]:
            return Several(kind, _dim(length, times), joined(_all(inner)))
        case ["t", kind, inner]:
            return Each(kind, tuple(joined(_all([one])) for one in inner))
        case ["d", length, entries]:
            pairs = ((str(name), joined(_all([one]))) for name, one in entries)
            return Named(length, tuple(pairs))
        case ["p", kind, length]:
            return Plain(kind, _dim(length, times))
    return None


def _all(told: Iterable[Any]) -> list[Form]:
    found = (read(one) for one in told if one is not None)
    return [one for one in found if one is not None]


def _dim(size: Any, times: int) -> Dim:
    if isinstance(size, list):
        return Dim(tuple((int(one), times) for one in size), wide=True)
    return Dim(((size, times),)) if isinstance(size, int) else Dim(())


def joined(found: Iterable[Form]) -> Forms:
    """Many forms as few alternatives, in the order in which they were seen first."""
    out: dict[Any, Form] = {}
    for one in found:
        key = _kind_of(one)
        out[key] = _both(out[key], one) if key in out else one
    return tuple(out.values())


def _kind_of(form: Form) -> Any:
    """What two forms must have in common to become one."""
    match form:
        case Array(dims, dtype, device, word):
            return "array", len(dims), dtype, device, word
        case Several(kind) | Plain(kind):
            return type(form), kind
        case Each(kind, of):
            return "each", kind, len(of)
        case Named(_, entries):
            return "named", tuple(name for name, _ in entries)


def _both(one: Any, other: Any) -> Form:
    match one:
        case Array(dims):
            pairs = zip(dims, other.dims, strict=True)
            return one._replace(dims=tuple(both_dims(a, b) for a, b in pairs))
        case Several(kind, length, of):
            return Several(kind, both_dims(length, other.length), joined([*of, *other.of]))
        case Each(kind, of):
            both = zip(of, other.of, strict=True)
            return Each(kind, tuple(joined([*a, *b]) for a, b in both))
        case Named(length, entries):
            inner = zip(entries, other.entries, strict=True)
            named = tuple((name, joined([*a, *b])) for (name, a), (_, b) in inner)
            return Named(max(length, other.length), named)
    return Plain(one.kind, both_dims(one.length, other.length))


def both_dims(one: Dim, other: Dim) -> Dim:
    """All sizes of two."""
    if not one.sizes or not other.sizes:
        return Dim((), name=one.name)
    found = dict(one.sizes)
    for size, times in other.sizes:
        found[size] = found.get(size, 0) + times
    return Dim(tuple(sorted(found.items())), one.wide or other.wide, one.name)


def arrays(forms: Forms, *, alike: bool = True) -> list[Array]:
    """All arrays in them, at any depth; without `alike` not those of long containers."""
    found: list[Array] = []
    for form in forms:
        match form:
            case Array():
                found.append(form)
            case Several(_, _, of) if alike:
                found += arrays(of)
            case Each(_, each):
                found += [one for inner in each for one in arrays(inner, alike=alike)]
            case Named(_, entries):
                found += [one for _, inner in entries for one in arrays(inner, alike=alike)]
    return found


def renamed(forms: Forms, name: Callable[[Dim, int, Array], str]) -> Forms:
    """The same with names: given a dimension, its axis and its array."""

    def one(form: Form) -> Form:
        match form:
            case Array(dims):
                new = (dim._replace(name=name(dim, at, form)) for at, dim in enumerate(dims))
                return form._replace(dims=tuple(new))
            case Several(_, _, of):
                return form._replace(of=renamed(of, name))
            case Each(_, each):
                return form._replace(of=tuple(renamed(inner, name) for inner in each))
            case Named(_, entries):
                new_entries = tuple((key, renamed(inner, name)) for key, inner in entries)
                return form._replace(entries=new_entries)
        return form

    return tuple(one(form) for form in forms)

"""What the program calls its sizes: names for dimensions, never guessed where two would fit.

In this order, each only if the sizes agree:
1. the name that stands at that axis, in `x.view(B, T, -1)` or in `B, T, C = x.shape`;
2. a name that was taken from a shape in this function, if it is the only one for that size;
3. an int in reach with that value: an argument, a variable, an attribute of the class, a field of a
   configuration, a constant of the file;
4. a name taken from a shape elsewhere in the file;
5. for sizes that vary, and vary alike in several places, a letter.
Two names for one size, or a computed size of the same value, and it stays a number.
"""

from __future__ import annotations

import re
from functools import partial

from zeroin.observe.shapes import forms, scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

    from zeroin.observe.shapes.forms import Array, Dim, Forms
    from zeroin.observe.shapes.told import File, Seen

    Sizes = dict[int, int]  # a size, and how often

SMALL = 4  # a smaller size equals an int by chance
LETTERS = "nmkjpqrs"
TABLES = ("DataFrame", "Index")  # their sizes are nobody's dimensions
# Numbers of these names count or choose something; they are no sizes of an array.
_COUNTS = re.compile(
    r"(?:^|_)(?:seed|epochs?|steps?|iters?|iterations?|layers?|blocks?|depth|workers?|rank|world|"
    r"port|pid|idx|index|id|i|j|stride|padding|pad|dilation|kernel|device|ndim|axis|dim0|dim1|"
    r"verbose|version|level|retries|timeout|every|interval|patience|repeats?|runs?|log|"
    r"start|stop|end|offset|token|max_new_tokens)(?:$|_)",
    re.IGNORECASE,
)


def named(file: File, tree: ast.Module | None) -> dict[int, Forms]:
    """The forms of all places of a file, by number, with names."""
    return _File(file, tree).all()


class _File:
    def __init__(self, file: File, tree: ast.Module | None) -> None:
        self.file = file
        self.scopes = scope.scopes(tree) if tree is not None else {}
        self.numbers: dict[str, dict[str, Sizes]] = {}  # function → name → values
        self.fields: dict[str, dict[str, Sizes]] = {}
        self.axes: dict[tuple[str, str], set[int]] = {}  # function, name → where all sizes agree
        for seen in file.places:
            self._collect(seen)
        for name, one in self.scopes.items():
            held = self.numbers.setdefault(name, {})
            for label, value in one.constants.items():
                held.setdefault(label, {value: 1})

    def _collect(self, seen: Seen) -> None:
        place = seen.place
        if seen.numbers and place.label:
            held = self.numbers.setdefault(place.function, {}).setdefault(place.label, {})
            for value, times in seen.numbers.items():
                held[value] = held.get(value, 0) + times
        # What an object keeps is its class's, in reach of all methods, not this function's own.
        where = f"{_class_of(place.function)}.self" if place.how == "self" else place.function
        for name, values in seen.fields.items():
            held = self.fields.setdefault(where, {}).setdefault(name, {})
            held.update(dict.fromkeys(values, 1))

    def all(self) -> dict[int, Forms]:
        for seen in self.file.places:
            forms.renamed(seen.forms, partial(self._note_exact, seen))
        found: dict[int, Forms] = {}
        for number, seen in enumerate(self.file.places):
            if seen.forms:
                found[number] = forms.renamed(seen.forms, partial(self._name, seen))
        return self._lettered(found)

    def _note_exact(self, seen: Seen, dim: Dim, at: int, whole: Array) -> str:
        name = self._name(seen, dim, at, whole, may_be_less=False)
        self.axes.setdefault((seen.place.function, name), set()).add(at)
        return name

    # --- one dimension ------------------------------------------------------------------------

    def _name(
        self, seen: Seen, dim: Dim, at: int, whole: Array, *, may_be_less: bool = True
    ) -> str:
        if not dim.sizes or max(dim.values) < 2 or whole.word in TABLES:
            return ""
        sizes = dict(dim.sizes)
        function = seen.place.function
        direct = self._direct(seen, sizes, at, whole)
        if direct:
            return direct
        own = self.scopes.get(function)
        known = self._in_reach(function)
        if self._is_computed(own, known, sizes):
            return ""
        groups = [[(name, known.get(name, {})) for name in (own.taken if own else ())]]
        if max(dim.values) >= SMALL:
            groups += [*self._levels(function), self._elsewhere()]
        may_be_less = may_be_less and whole in forms.arrays(seen.forms, alike=False)
        # What stands for all of another axis here is no batch, though its value is the same.
        others = {name for (f, name), axes in self.axes.items() if f == function and axes - {at}}
        for group in groups:
            # A name means what is nearest: `n` of the file is hidden by an argument `n`.
            visible = [(n, values) for n, values in group if known.get(n, values) == values]
            less = {n for n, _ in visible if n not in others} if may_be_less else set()
            fitting = _fitting(visible, dim, less)
            if fitting:
                is_sure = len(fitting) == 1 and not self._repeats(own, fitting[0], at, whole)
                return fitting[0] if is_sure else ""
        return ""

    def _direct(self, seen: Seen, sizes: Sizes, at: int, whole: Array) -> str:
        own = self.scopes.get(seen.place.function)
        if own is None or not seen.place.label or seen.forms != (whole,):
            return ""
        known = self._in_reach(seen.place.function)
        label = seen.place.label
        made = [one for one in own.made if one.line == seen.place.line and one.variable == label]
        taken = [one for one in own.axes if one.variable == label]
        for one in [*made, *taken]:
            axis = one.axis if one.axis >= 0 else len(whole.dims) + one.axis
            values = known.get(one.name)
            if axis == at and values is not None and set(values) == set(sizes):
                return one.name
        return ""

    def _is_computed(self, own: scope.Scope | None, known: dict[str, Sizes], sizes: Sizes) -> bool:
        if own is None or len(sizes) > 1:
            return False
        single = {name: set(values) for name, values in known.items()}
        single |= {name.rpartition(".")[2]: values for name, values in single.items()}
        computed = [scope.value_of(one, single) for one in own.computed]
        computed += [self._rest(one, single) for one in own.rests]
        return any(one in sizes for one in computed)

    def _rest(self, rest: scope.Rest, known: dict[str, set[int]]) -> int | None:
        """The size that `-1` stood for: what is left of the result without those with names."""
        for seen in self.file.places:
            place = seen.place
            found = forms.arrays(seen.forms)
            if (place.line, place.label) != (rest.line, rest.variable) or len(found) != 1:
                continue
            left = [dim.values[-1] for dim in found[0].dims if dim.sizes]
            for name in rest.names:
                value = max(known.get(name, {0}))
                if value not in left:
                    return None
                left.remove(value)
            return left[0] if len(left) == 1 else None
        return None

    def _repeats(self, own: scope.Scope | None, name: str, at: int, whole: Array) -> bool:
        """A name of a first axis, which is that of rows, for two axes of one array."""
        same = [n for n, dim in enumerate(whole.dims) if dim.values == whole.dims[at].values]
        is_first = own is not None and any(one.axis == 0 for one in own.axes if one.name == name)
        return is_first and len(same) > 1 and at != same[0]

    # --- what is in reach ---------------------------------------------------------------------

    def _levels(self, function: str) -> list[list[tuple[str, Sizes]]]:
        """Ints by how far away they are: the function and those around it, the class, the file."""
        chain = _around(function)
        near = [pair for one in chain for pair in self._ints(one)]
        members: list[tuple[str, Sizes]] = []
        class_ = _class_of(function)
        for other in self.numbers if class_ else ():
            if _class_of(other) == class_:
                found = self.numbers[other].items()
                is_made = other.endswith(".__init__") and other not in chain
                members += [
                    (n.removeprefix("self."), v)
                    for n, v in found
                    if is_made or n.startswith("self.")
                ]
        for other in self.fields if class_ else ():
            if _class_of(other) == class_ and other not in chain:
                members += self.fields[other].items()
        return [near, members, self._ints("<module>")]

    def _ints(self, function: str) -> list[tuple[str, Sizes]]:
        own = self.scopes.get(function)
        taken = own.taken if own else set()
        plain = [
            (name.rpartition(".")[2], values)
            for name, values in self.numbers.get(function, {}).items()
            if name not in taken
        ]
        return [*plain, *self.fields.get(function, {}).items()]

    def _in_reach(self, function: str) -> dict[str, Sizes]:
        found: dict[str, Sizes] = {}
        for level in reversed(self._levels(function)):
            found.update(level)
        for one in reversed(_around(function)):
            found.update(self.numbers.get(one, {}))
        return found

    def _elsewhere(self) -> list[tuple[str, Sizes]]:
        return [
            (name, self.numbers.get(function, {}).get(name, {}))
            for function, one in self.scopes.items()
            for name in sorted(one.taken)
        ]

    # --- letters ------------------------------------------------------------------------------

    def _lettered(self, found: dict[int, Forms]) -> dict[int, Forms]:
        """Dimensions without a name that vary alike in several places of a function."""
        for function in dict.fromkeys(seen.place.function for seen in self.file.places):
            numbers = [n for n in found if self.file.places[n].place.function == function]
            letters = self._letters(function, [found[n] for n in numbers])
            for n in numbers:
                found[n] = forms.renamed(found[n], partial(_lettered, letters))
        return found

    def _letters(self, function: str, all_forms: list[Forms]) -> dict[object, str]:
        counts: dict[object, int] = {}
        for one in all_forms:
            varying = {
                dim.sizes
                for array in forms.arrays(one)
                for dim in array.dims
                if not dim.name and len(dim.sizes) > 1 and not dim.wide
            }
            for sizes in varying:
                counts[sizes] = counts.get(sizes, 0) + 1
        used = self.scopes[function].used if function in self.scopes else set()
        free = [letter for letter in LETTERS if letter not in used]
        alike = [sizes for sizes, times in counts.items() if times > 1]
        return dict(zip(alike, free, strict=False))


def _lettered(letters: dict[object, str], dim: Dim, _: int, whole: Array) -> str:
    return dim.name or ("" if whole.word in TABLES else letters.get(dim.sizes, ""))


def _fitting(group: list[tuple[str, Sizes]], dim: Dim, less: set[str]) -> list[str]:
    """The names that fit a dimension best: varying alike, then the same sizes, then the largest.

    The largest, of those that may be more than some: a last batch may be smaller than the others,
    which are the most; the arrays of a ragged list are no batches.
    """
    usable = [(n, v) for n, v in group if v and n.isidentifier() and not _COUNTS.search(n)]
    sizes = dict(dim.sizes)
    full = sizes[max(sizes)]
    is_batch = len(sizes) > 1 and full >= sum(sizes.values()) - full
    for fits in (
        lambda _, values: len(sizes) > 1 and values == sizes,
        lambda _, values: set(values) == set(sizes) and not dim.wide,
        lambda name, values: is_batch and name in less and set(values) == {max(sizes)},
    ):
        found = sorted({name for name, values in usable if fits(name, values)})
        if found:
            return found
    return []


def _around(function: str) -> list[str]:
    """A function and those that it is defined in, the innermost first."""
    parts = function.split(".<locals>.")
    return [".<locals>.".join(parts[:n]) for n in range(len(parts), 0, -1)]


def _class_of(function: str) -> str:
    """The class that a function is a method of, or "" ."""
    return function.split(".<locals>.", maxsplit=1)[0].rpartition(".")[0]

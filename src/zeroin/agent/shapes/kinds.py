"""The form of a value: its shape without the value. Nothing is kept, no number is read.

Who knows the type of a value says how to read its form, and for arrays a quick reading besides:
what is equal there has the same form. Arrays of libraries are in `arrays`, all else is here.

Forms are tuples, so that they can be compared and written down:
- ("a", shape, type, device, word): an array; a size may be a (lowest, highest)
- ("s", kind, length, forms): a container whose elements have these forms, in any order
- ("t", kind, forms): a short container, form by form; None for what has none
- ("d", length, ((name, form), ...)): a mapping or a record, by names
- ("p", kind, length): a container of other things
- ("i", number): an int, which may be the name of a size
- ("n", ((name, number), ...)): an object with ints, which may be names of sizes
- ("o",): anything without a form, told so that its place is known to have been reached
"""

from __future__ import annotations

import sys
from itertools import islice

from .. import owner
from ..summary import objects
from . import arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Form = tuple[Any, ...]
    from .arrays import Reading

FIRST, LAST = 48, 16  # elements looked at of a long container
DISTINCT = 8  # forms of its elements beyond which they are told as ranges
ENUMERATED = 6  # elements of a tuple that are told one by one
KEYS = 8
NAMES = 64
TYPES = 10_000  # that are remembered; some programs make them as they go
DEPTH = 3
CONFIGURATIONS = ("config", "cfg", "args", "hparams", "settings", "params")
SETTINGS = ("config", "cfg", "args", "namespace", "param", "settings", "options")

_dict_offset: Any = type.__dict__["__dictoffset__"].__get__
_known: dict[int, tuple[Any, Reading]] = {}  # id of a type → the type, how to read its values


def reading(cls: type) -> Reading:
    """How values of a type are read."""
    found = _known.get(id(cls))
    if len(_known) > TYPES:
        _known.clear()
    if found is None or found[0] is not cls:
        found = _known[id(cls)] = (cls, _look_up(cls))
    return found[1]


def form(value: Any, depth: int = 0) -> Form | None:
    """The form of any value; None if it has none."""
    describe, _ = reading(type(value))
    if describe is _int and depth:
        return None
    found: Form | None = describe(value, depth) if describe in _CONTAINERS else describe(value)
    return found if found is not arrays.UNSEEN else None


def _look_up(cls: type) -> Reading:
    if cls is int:
        return _int, int.__pos__
    if cls is bool:
        return arrays.nothing, None
    classes = objects.classes_below(cls)
    found = arrays.reading(cls, classes)
    if found is not None:
        return found
    for base, describe in _PLAIN:
        if objects.is_one(classes, base):
            return describe, None
    if objects.is_one(classes, objects.loaded("array", "array")):
        return _array, lambda value: (len(value), value.typecode)
    if any("__dataclass_fields__" in objects.members_of(one) for one in classes):
        return _record, None
    if objects.is_one(classes, objects.loaded("collections", "UserDict")):
        return _user_dict, None
    has_dict = not objects.is_one(classes, type) and bool(_dict_offset(cls))
    return (_names if has_dict else arrays.nothing), None


# --- plain values -----------------------------------------------------------------------------


def _int(value: Any) -> Form | None:
    return ("i", value) if 1 < value < 1 << 40 else None


def _array(value: Any) -> Form:
    code = value.typecode
    kind = "f" if code in "fd" else "u" if code.isupper() else "i"
    name = "str" if code in "uw" else f"{kind}{value.itemsize * 8}"
    return ("a", (len(value),), name, "", "")


def _names(value: Any) -> Form | None:
    """An object's ints: those of a configuration are names of sizes."""
    held = islice(dict.items(objects.instance_dict(value)), objects.MOST)
    if _is_configuration(type(value)):
        return _as_names(held)
    return _as_names(pair for pair in held if pair[0] == "batch_size")


def own_names(value: Any) -> Form | None:
    """The ints of an object, and of the settings that it keeps."""
    held = list(islice(dict.items(objects.instance_dict(value)), objects.MOST))
    for name, one in list(held):
        if name in CONFIGURATIONS:
            inner = one if type(one) is dict else objects.instance_dict(one)
            held += islice(dict.items(inner), objects.MOST)
    return _as_names(held)


def _is_configuration(cls: type) -> bool:
    """Whether it is a class of the user's own, or called like one that keeps settings."""
    name = objects.name_of(cls).lower()
    module = sys.modules.get(objects.module_of(cls))
    file = objects.module_dict(module).get("__file__") if type(module) is objects.MODULE else ""
    return any(word in name for word in SETTINGS) or (type(file) is str and owner.is_users(file))


def _as_names(pairs: Any) -> Form | None:
    found = [
        (name, one)
        for name, one in pairs
        if type(name) is str and type(one) is int and 1 < one < 1 << 40 and name.isidentifier()
    ]
    return ("n", tuple(found[:NAMES])) if found else None


# --- containers -------------------------------------------------------------------------------


def _sequence(value: Any, depth: int = 0) -> Form | None:
    base = next(one for one, _ in _PLAIN if objects.is_one(objects.classes_of(value), one))
    fields = objects.members_of(objects.owner_of(objects.classes_of(value), "_fields"))
    names = fields.get("_fields") if base is tuple else None
    if type(names) is tuple and len(names) == tuple.__len__(value):
        found = _named(zip(names, tuple.__iter__(value)), len(names), depth)
        return found or ("p", "tuple", len(names))
    length = base.__len__(value)
    kind = base.__name__
    if not length or depth >= DEPTH:
        return ("p", kind, length)
    forms = [form(one, depth + 1) for one in _some(value, base, length)]
    if not any(one is not None and one[0] != "n" for one in forms):
        return ("p", kind, length)
    forms = [None if one is not None and one[0] == "n" else one for one in forms]
    distinct = list(dict.fromkeys(forms))
    if None in distinct or (len(distinct) > 1 and base is tuple and length <= ENUMERATED):
        return ("t", kind, tuple(forms)) if length <= ENUMERATED else ("p", kind, length)
    return ("s", kind, length, tuple(folded(distinct)))


def _some(value: Any, base: Any, length: int) -> list[Any]:
    if length <= FIRST + LAST or base is set or base is frozenset:
        return list(islice(base.__iter__(value), FIRST + LAST))
    if base is list or base is tuple:
        return [
            *base.__getitem__(value, slice(FIRST)),
            *base.__getitem__(value, slice(-LAST, None)),
        ]
    return list(islice(base.__iter__(value), FIRST))


def folded(forms: list[Any]) -> list[Any]:
    """Many forms as few: arrays of one rank and type as one, with ranges of sizes."""
    if len(forms) <= DISTINCT:
        return forms
    out: dict[Any, Any] = {}
    for one in forms:
        rank = (len(one[1]), *one[2:]) if one[0] == "a" else one
        if rank not in out or one[0] != "a":
            out[rank] = one
            continue
        sizes = tuple(widest(a, b) for a, b in zip(out[rank][1], one[1]))
        out[rank] = ("a", sizes, *one[2:])
    return list(out.values())[:DISTINCT]


def widest(one: Any, other: Any) -> Any:
    """A size, or a range of sizes, that holds both."""
    ends = [
        *(one if type(one) is tuple else (one,)),
        *(other if type(other) is tuple else (other,)),
    ]
    if any(type(end) is not int for end in ends):
        return one
    return ends[0] if min(ends) == max(ends) else (min(ends), max(ends))


def _mapping(value: Any, depth: int = 0) -> Form | None:
    length = dict.__len__(value)
    pairs = list(islice(dict.items(value), NAMES))
    found = _named(pairs, length, depth)
    if found is not None:
        return found
    numbers = _as_names(pairs) if not depth else None
    return numbers or ("p", "dict", length)


def _named(pairs: Any, length: int, depth: int) -> Form | None:
    """By name, where there is an array in it."""
    if depth >= DEPTH:
        return None
    told = []
    for name, one in pairs:
        inner = form(one, depth + 1)
        if inner is not None and has_array(inner):
            told.append(
                (name if type(name) is str else repr(name) if type(name) is int else "?", inner)
            )
    return ("d", length, tuple(told[: KEYS + 1])) if told else None


def _record(value: Any, depth: int = 0) -> Form | None:
    held = objects.instance_dict(value)
    pairs = list(islice(dict.items(held), NAMES))
    return _named(pairs, len(held), depth) or (_as_names(pairs) if not depth else None)


def _user_dict(value: Any, depth: int = 0) -> Form | None:
    held = objects.instance_dict(value).get("data")
    return _mapping(held, depth) if objects.is_one(objects.classes_of(held), dict) else None


def has_array(one: Form) -> bool:
    """Whether there is an array in a form."""
    if one[0] == "a":
        return True
    if one[0] == "d":
        return any(has_array(inner) for _, inner in one[2])
    if one[0] in "st":
        return any(inner is not None and has_array(inner) for inner in one[-1])
    return False


_PLAIN: list[tuple[Any, Any]] = [(list, _sequence), (tuple, _sequence), (dict, _mapping)]
_PLAIN += [(set, _sequence), (frozenset, _sequence)]
_PLAIN += [(one, arrays.nothing) for one in (str, bytes, int, float, complex, type, BaseException)]
_CONTAINERS: tuple[Any, ...] = (_sequence, _mapping, _record, _user_dict)


def is_container(describe: Any) -> bool:
    """Whether it takes longer, the more there is in a value."""
    return describe in _CONTAINERS

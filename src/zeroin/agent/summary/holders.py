"""Values that hold others: containers, records, objects with attributes.

Only the first few are told, with the number of all. They are read through the C methods of
the real base class, so that a subclass's `__len__` or `__iter__` is never called.
"""

from __future__ import annotations

from itertools import islice

from . import objects, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .call import Call, View

# By depth: 0 is the value itself, 1 what it holds. Below the last, only sizes are told.
ELEMENTS = (8, 5, 3)
ROOM = (160, 80, 40)  # characters after which no further element is begun
SORTED = 1000  # a set up to this size is shown in order: its own order differs between runs

# Classes whose repr says no more than their attributes do, and says it of a tensor badly.
_HOLDERS = frozenset(
    {("argparse", "_AttributeHolder"), ("collections", "UserDict"), ("collections", "UserList")}
    | {("types", "SimpleNamespace")}
)


def elements(call: Call, view: View, base: Any) -> str | None:
    """Tell a list, tuple, set or deque by its length and first elements."""
    length = base.__len__(view.value)
    if _keeps_elsewhere(length, view, base):
        return None
    parts = _gather(
        (call.inside(view, one) for one in _first(view.value, base, length, _few(view))), view
    )
    if base is tuple and len(parts) == length == 1:
        parts = [parts[0] + ","]
    return _composed(view, base, length, parts)


def mapping(call: Call, view: View, base: Any) -> str | None:
    """Tell a dict by its length and first entries."""
    length = dict.__len__(view.value)
    if _keeps_elsewhere(length, view, base):
        return None
    pairs = list(islice(dict.items(view.value), _few(view)))
    told = (
        f"{call.inside(view, key, is_key=True)}: {call.inside(view, one, key)}"
        for key, one in pairs
    )
    return _composed(view, dict, length, _gather(told, view))


def span(call: Call, view: View, base: Any) -> str:
    """Tell a range or slice by its ends: they may be ints of a million digits."""
    ends = [view.value.start, view.value.stop, view.value.step]
    if base is range and type(ends[2]) is int and ends[2] == 1:
        ends.pop()
    return f"{base.__name__}({', '.join(call.inside(view, one) for one in ends)})"


def exception(call: Call, view: View, _: Any) -> str:
    """Tell an exception by its arguments."""
    args = BaseException.__dict__["args"].__get__(view.value)
    return _called(view, [("", one) for one in args[: _few(view)]], len(args), call)


def partial(call: Call, view: View, base: Any) -> str:
    """Tell a function with the arguments that it has already."""
    function, args, keywords = (
        base.__dict__[name].__get__(view.value) for name in ("func", "args", "keywords")
    )
    pairs = [("", function), *(("", one) for one in args[: _few(view)])]
    pairs += list(islice(dict.items(keywords), _few(view)))
    return _called(view, pairs, 1 + len(args) + dict.__len__(keywords), call)


def attributes(call: Call, view: View) -> str:
    """Tell an object by its attributes."""
    pairs = objects.attributes(view.value)
    if not pairs:
        return f"<{view.title} object>"
    return _called(view, pairs[: _few(view)], len(pairs), call)


def is_plain(view: View) -> bool:
    """Whether the repr of an object would say less than its attributes."""
    owner = objects.owner_of(view.classes, "__repr__")
    return owner is object or (objects.module_of(owner), objects.name_of(owner)) in _HOLDERS


def member(call: Call, view: View) -> str | None:
    """Tell a member of an Enum; None for what is none."""
    if not objects.is_one(view.classes, objects.loaded("enum", "Enum")):
        return None
    held = dict(objects.attributes(view.value))
    name = held.get("_name_")
    title = view.title + (f".{name}" if type(name) is str else "")
    return f"<{title}: {call.inside(view, held.get('_value_'))}>"


def record(call: Call, view: View) -> str | None:
    """Tell a dataclass or namedtuple field by field; None for what is neither."""
    pairs = _named_elements(view) or _dataclass_fields(view)
    return None if pairs is None else _called(view, pairs[: _few(view)], len(pairs), call)


def _named_elements(view: View) -> list[tuple[str, Any]] | None:
    if not objects.is_one(view.classes, tuple):
        return None
    names = objects.members_of(objects.owner_of(view.classes, "_fields")).get("_fields")
    if type(names) is not tuple or len(names) != tuple.__len__(view.value):
        return None
    return [
        (name if type(name) is str else "", one)
        for name, one in zip(names, tuple.__iter__(view.value))
    ]


def _dataclass_fields(view: View) -> list[tuple[str, Any]] | None:
    members = objects.members_of(objects.owner_of(view.classes, "__repr__"))
    fields = members.get("__dataclass_fields__")
    if type(fields) is not dict or not _is_generated(members.get("__repr__")):
        return None
    held = dict(objects.attributes(view.value))
    kind = objects.loaded("dataclasses", "Field")
    shown = [name for name, field in fields.items() if type(field) is kind and field.repr is True]
    return [(name, held[name]) for name in shown if name in held]


def _is_generated(method: Any) -> bool:
    """Whether a repr was made by `dataclasses`, which wraps what it has compiled."""
    if type(method) is not values.FUNCTION:
        return False
    inner: Any = method.__dict__.get("__wrapped__")
    return (
        type(inner) is values.FUNCTION
        and inner.__code__.co_filename == "<string>"
        and method.__code__.co_filename.endswith(("dataclasses.py", "reprlib.py"))
    )


# --- putting together -----------------------------------------------------------------------


def _few(view: View) -> int:
    return ELEMENTS[view.depth] if view.depth < len(ELEMENTS) else 0


def _keeps_elsewhere(length: int, view: View, base: Any) -> bool:
    """Whether an empty container has a repr of its own: it is a front for something else."""
    return not length and objects.owner_of(view.classes, "__repr__") is not base


def _first(value: Any, base: Any, length: int, few: int) -> list[Any]:
    if base is not set and base is not frozenset:
        return list(islice(base.__iter__(value), few))
    if length > SORTED:
        return list(islice(base.__iter__(value), few))
    everything = list(base.__iter__(value))
    if all(type(one) is str for one in everything) or all(type(one) is int for one in everything):
        everything.sort()
    return everything[:few]


def _gather(told: Iterable[str], view: View) -> list[str]:
    """Take summaries as long as there is room; no more of them are made then."""
    parts: list[str] = []
    room = ROOM[min(view.depth, len(ROOM) - 1)]
    for part in told:
        parts.append(part)
        room -= len(part) + 2
        if room < 0:
            break
    return parts


def _composed(view: View, base: Any, length: int, parts: list[str]) -> str:
    """Write `[1, 2]`, `Foo([1, 2])` or `list(10,000,000): [0, 1, …]`."""
    first, last = "()" if base is tuple else "{}" if base in (set, frozenset, dict) else "[]"
    if len(parts) < length:
        return f"{view.title}({length:,}): {first}{', '.join([*parts, '…'])}{last}"
    if not length and base in (set, frozenset):
        return f"{view.title}()"
    told = first + ", ".join(parts) + last
    return told if view.title in ("list", "tuple", "set", "dict") else f"{view.title}({told})"


def _called(view: View, pairs: list[tuple[Any, Any]], length: int, call: Call) -> str:
    """Write `Point(x=1, y=2)`, as a call that would make it."""
    told = (f"{name}=" * bool(name) + call.inside(view, one, name) for name, one in pairs)
    parts = _gather(told, view)
    return f"{view.title}({', '.join(parts + ['…'] * (len(parts) < length))})"

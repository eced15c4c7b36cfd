"""What only the collector frees: objects that refer to one another and that nobody else knows.

The collector's own reckoning, done without it: nothing is freed, no finalizer is run, and when
the program collects stays its own business. An object that has more references than the other
objects hold on it is known from outside, as by a running function; what can be reached from
those is alive, and the rest waits for the collector.
"""

from __future__ import annotations

import gc
import sys

from ..referents import list_referents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AN_OBJECT = 3e-6  # seconds that a look takes for each, about
APART = (list, dict, set, bytearray)
SMALL = 512  # bytes: what is smaller is a block of Python's own, what is larger is malloc's


class Garbage:
    """What waits for the collector, as the allocators count it."""

    __slots__ = ("blocks", "bytes")

    def __init__(self, sizes: list[int]) -> None:
        self.blocks = sum(one <= SMALL for one in sizes)
        self.bytes = sum(one for one in sizes if one > SMALL)


def young() -> Garbage:
    """What waits among the objects that were made lately, which are few."""
    objects = gc.get_objects(generation=0)
    objects += gc.get_objects(generation=1)  # of an older one: a list does not hold itself
    return _measured(objects)


def every() -> Garbage:
    """What waits among all; this may take a second."""
    return _measured(gc.get_objects())


def seconds() -> float:
    """How long a look at all objects would take, about: one of two blocks is one of them."""
    return AN_OBJECT * sys.getallocatedblocks() / 2


def is_countable() -> bool:
    """Whether references are counted exactly, as by a Python with a global lock."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def _measured(objects: list[Any]) -> Garbage:
    unknown = _unknown(objects)
    objects.clear()
    return Garbage([piece for one in [*unknown, *_owned(unknown)] for piece in _pieces(one)])


def _unknown(objects: list[Any]) -> list[Any]:
    """Of these, those that can't be reached from anything else."""
    referred = _referred(objects)
    counts = list(map(sys.getrefcount, objects))
    inside: dict[int, Any] = {}
    outside = []
    for one, count in zip(objects, counts):
        if count - _OWN > referred.get(id(one), 0):
            outside.append(one)
        else:
            inside[id(one)] = one
    while outside:
        reached = []
        for one in list_referents(outside):
            if inside.pop(id(one), None) is not None:
                reached.append(one)
        outside = reached
    return list(inside.values())


def _owned(unknown: list[Any]) -> list[Any]:
    """What the collector knows nothing of, texts and arrays, and only these refer to."""
    referred = _referred(unknown)
    held = {id(one): one for one in list_referents(unknown) if not gc.is_tracked(one)}
    found = list(held.values())
    held.clear()
    counts = list(map(sys.getrefcount, found))
    return [one for one, count in zip(found, counts) if count - _OWN == referred[id(one)]]


def _referred(objects: list[Any]) -> dict[int, int]:
    """How often these refer to each object."""
    found: dict[int, int] = {}
    for one in map(id, list_referents(objects)):
        found[one] = found.get(one, 0) + 1
    return found


def _pieces(one: Any) -> list[int]:
    """The sizes of what was allocated for it: some have what they hold apart from themselves."""
    whole, head = _size(one), type(one).__basicsize__
    apart = whole - head if type(one) in APART else 0
    return [head, apart] if apart > 0 else [whole]


def _size(one: Any) -> int:
    """Without running code of a stranger."""
    kind = type(one)
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    try:
        if tensor in kind.__mro__:
            return int(tensor.untyped_storage(one).nbytes())
        if type(getattr(kind, "__sizeof__", None)) is type(_size):  # written in Python
            return object.__sizeof__(one)
        return sys.getsizeof(one)
    except Exception:  # a meta tensor, an older torch, a type that is odd
        return 0


def _own_references() -> int:
    """How many references an object in a list has by that list, and by being asked about."""
    one: list[Any] = []
    return next(map(sys.getrefcount, [one])) - 1


_OWN = _own_references()

"""Reading an object without running any of its code.

A class can override almost everything that Python asks of it: `__class__`, `__dict__`,
`__len__`, `__eq__`, and through its metaclass even its own name. What is used here can't be
overridden: `type(x)`, and the descriptors that `type` keeps in its own dict. Classes are
compared by `is` only: `==`, `in` and hashing would run the metaclass's code.

The *classes* of an object are its real type and that type's bases, in the order in which
Python looks for methods. The *owner* of a method is the first of them that defines it.
"""

from __future__ import annotations

import sys
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Classes = tuple[type, ...]

MOST = 200  # attributes read of one object; a few of them are shown


class _Sample:
    __slots__ = ("__dict__", "slot")


# The module `types` has names for these, but a file types.py of the user's may come before it.
MODULE = type(sys)
GETSET = type(_Sample.__dict__["__dict__"])
MEMBER = type(_Sample.__dict__["slot"])

_mro = type.__dict__["__mro__"].__get__
_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__
_members = type.__dict__["__dict__"].__get__
module_dict = vars(MODULE)["__dict__"].__get__


def classes_of(value: Any) -> Classes:
    """Give the real classes of an object, whatever it says about itself."""
    return classes_below(type(value))


def classes_below(cls: type) -> Classes:
    """Give a class and its bases; a class under construction has none yet."""
    found: Classes | None = _mro(cls)
    return found or (cls, object)


def name_of(cls: type) -> str:
    """Give the name of a class, which may be a subclass of `str` with methods of its own."""
    return str.__str__(_name(cls))


def module_of(cls: type) -> str:
    """Give the module that a class says it comes from; "" where it says something else."""
    found = _module(cls)
    return found if type(found) is str else ""


def members_of(cls: type) -> Any:
    """Give what the class itself defines, as a read-only mapping."""
    return _members(cls)


def is_one(classes: Classes, wanted: type | None) -> bool:
    """Whether a class is among them, without asking its metaclass."""
    return any(cls is wanted for cls in classes)


def owner_of(classes: Classes, method: str) -> type:
    """Find the class whose method would be called."""
    for cls in classes:
        if method in members_of(cls):
            return cls
    return object


def loaded(module: str, name: str) -> Any:
    """Look a thing up in a module if that is loaded. Never imports: lazy modules stay lazy."""
    found = sys.modules.get(module)
    if not is_one(classes_of(found), MODULE):
        return None
    return module_dict(found).get(name)


def attributes(value: Any) -> list[tuple[str, Any]]:
    """List what an object holds, in slots and in its dict. Properties are not run."""
    classes = classes_of(value)
    held = islice(dict.items(instance_dict(value)), MOST)
    return [*_slots(value, classes), *(pair for pair in held if type(pair[0]) is str)]


def instance_dict(value: Any) -> dict[Any, Any]:
    """Give the dict in which an object keeps its attributes; an empty one if it has none."""
    for cls in classes_of(value):
        member = members_of(cls).get("__dict__")
        # A class may define `__dict__` as a property: only the interpreter's own is used.
        if type(member) is GETSET or type(member) is MEMBER:
            found = member.__get__(value)
            if is_one(classes_of(found), dict):
                return found  # type: ignore[no-any-return]
    return {}


def _slots(value: Any, classes: Classes) -> Iterator[tuple[str, Any]]:
    for cls in reversed(classes):
        members = members_of(cls)
        if "__slots__" not in members:
            continue
        for name, member in list(islice(members.items(), MOST)):
            if type(member) is MEMBER and type(name) is str:
                try:
                    yield name, member.__get__(value)
                except AttributeError:  # never set
                    continue

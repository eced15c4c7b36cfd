"""`NamedTuple` of `typing`, without what that does with annotations at each start.

It compiles the annotation of every field, which nobody reads here: two thirds of what making such
a class takes, and each start makes some dozens of them.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - for all who look at types
else:

    class _Meta(type):
        def __new__(cls, name: str, bases: tuple[type, ...], given: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, given)
            fields = given.get("__annotations__", {})
            defaults = [given[field] for field in fields if field in given]
            made = namedtuple(name, fields, defaults=defaults, module=given["__module__"])  # noqa: PYI024
            for key, value in given.items():
                if key not in fields and key != "__module__":
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Meta):
        """A tuple whose members have names."""

"""`NamedTuple` of `typing`, without what that does at each start.

It compiles the annotation of every field, which nobody reads here, and a constructor for each
class, as `collections.namedtuple` does. A start makes some dozens of classes and uses a few: here
the constructor is compiled when the first of its kind is made.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - for all who look at types
else:
    from _collections import _tuplegetter as _getter

    class _Named(tuple):
        """What all of them can do."""

        __slots__ = ()
        _fields = ()
        _field_defaults: dict[str, Any] = {}  # noqa: RUF012 - each class has its own

        def __new__(cls, *args: Any, **given: Any) -> Any:
            kind = next(one for one in cls.__mro__ if "_fields" in vars(one))
            kind.__new__ = _constructor(kind)
            return kind.__new__(cls, *args, **given)

        @classmethod
        def _make(cls, iterable: Any) -> Any:
            return cls(*iterable)

        def _replace(self, **given: Any) -> Any:
            made = self._make(map(given.pop, self._fields, self))
            if given:
                raise ValueError(f"Got unexpected field names: {list(given)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            inner = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({inner})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    def _constructor(kind: type) -> Any:
        names = "".join(f"{field}, " for field in kind._fields)
        # Names can't stand in a string of code unless they are names: Python has read them.
        made = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": tuple.__new__})  # noqa: S307
        made.__name__ = "__new__"
        made.__qualname__ = f"{kind.__name__}.__new__"
        made.__defaults__ = tuple(kind._field_defaults.values())
        return made

    class _Meta(type):
        def __new__(cls, name: str, bases: tuple[type, ...], given: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, given)
            fields = tuple(given.get("__annotations__", {}))
            space = {
                **given,
                **{field: _getter(index, "") for index, field in enumerate(fields)},
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": {field: given[field] for field in fields if field in given},
            }
            return type(name, (_Named,), space)

    class NamedTuple(metaclass=_Meta):
        """A tuple whose members have names."""

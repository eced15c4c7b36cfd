"""Things that are told in one word: numbers, functions, classes, modules, dates, paths.

Each function gives the text for one kind of thing, or None where that can't be done without
running a stranger's code. Nothing here looks into other objects than its own.
"""

from __future__ import annotations

import os

from . import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BITS = 400  # of an int that is written out; turning more into digits takes quadratic time
SLOT_WRAPPER = type(int.__repr__)  # a method written in C


def _running() -> Any:
    yield


async def _awaiting() -> None:
    pass


async def _running_async() -> Any:
    yield


def _type_of_coroutine() -> type:
    one = _awaiting()
    one.close()  # or Python warns that it was never awaited
    return type(one)


# The module `types` has names for these, but a file types.py of the user's may come before it.
FUNCTION = type(_running)
METHOD = type(objects.loaded.__get__(1))
BUILTIN = type(len)
GENERATOR = type(_running())
COROUTINE = _type_of_coroutine()
ASYNC_GENERATOR = type(_running_async())
CODE = type(_running.__code__)


def number(value: Any, title: str, base: Any) -> str:
    """Write an int, float or complex exactly, but for an int of hundreds of digits."""
    if base is int and int.bit_length(value) > BITS:
        digits = int(int.bit_length(value) * 0.30103) + 1
        text = f"{'negative ' * int.__lt__(value, 0)}int of about {digits:,} digits"
        return text if title == "int" else f"{title}({text})"
    text = base.__repr__(value)
    return text if title == base.__name__ else f"{title}({text})"


def function(value: Any) -> str:
    """Say where a function was written."""
    return f"<function {_plain(value.__qualname__)}, {_place(value.__code__)}>"


def builtin(value: Any) -> str:
    """Name a function written in C. Its qualified name would ask its owner's metaclass."""
    return f"<built-in function {_plain(value.__name__)}>"


def method(value: Any) -> str:
    """Name a bound method."""
    inner = value.__func__
    if type(inner) is FUNCTION:
        return f"<method {_plain(inner.__qualname__)}, {_place(inner.__code__)}>"
    return f"<method of {objects.name_of(type(value.__self__))}>"


def generator(value: Any) -> str:
    """Say where a generator or coroutine stands."""
    kind = type(value)
    word, prefix = {
        GENERATOR: ("generator", "gi_"),
        COROUTINE: ("coroutine", "cr_"),
        ASYNC_GENERATOR: ("async generator", "ag_"),
    }[kind]
    frame = getattr(value, prefix + "frame")
    if frame is None:
        state = "finished"
    elif getattr(value, prefix + "running"):
        state = f"running, {_place(frame.f_code)}"
    else:
        state = f"waiting at line {frame.f_lineno}"
    return f"<{word} {_plain(value.__qualname__)}, {state}>"


def code(value: Any) -> str:
    """Say whose code it is."""
    return f"<code of {_plain(value.co_name)}, {_place(value)}>"


def module(value: Any) -> str:
    """Name a module by what its dict says; a lazy one is not woken."""
    name = objects.module_dict(value).get("__name__")
    return f"<module {name}>" if type(name) is str else "<module>"


def class_(value: Any) -> str:
    """Name a class with its module."""
    module, name = objects.module_of(value), objects.name_of(value)
    return f"<class {name if module in ('', 'builtins', '__main__') else module + '.' + name}>"


def date(value: Any, title: str, base: Any) -> str | None:
    """Write a date, time or span; a foreign time zone would run code of its own."""
    zone = getattr(base, "tzinfo", None)
    if zone is not None:
        zone = zone.__get__(value)
        if zone is not None and type(zone) is not objects.loaded("datetime", "timezone"):
            return None
    return f"{title}({base.__str__(value)})"


def decimal(value: Any, title: str, base: Any) -> str | None:
    """Write a Decimal of reasonable length."""
    if base.__sizeof__(value) > 1000:
        return f"{title} of about {int(base.__sizeof__(value) * 2.3):,} digits"
    return f"{title}('{base.__str__(value)}')"


def path(value: Any, title: str, _: Any) -> str | None:
    """Write a path from the parts that pathlib keeps."""
    held = dict(objects.attributes(value))
    parts = held.get("_raw_paths", held.get("_parts"))  # 3.12 and newer; before
    if type(parts) is not list or not all(type(part) is str for part in parts):
        return None
    pieces = parts[:50]
    if len(parts) > 50 or sum(map(len, pieces)) > 10_000:
        return f"{title} of {len(parts):,} parts"
    return f"{title}({os.path.join('', *pieces) or '.'!r})"


def memory(value: Any) -> str:
    """Describe a memoryview; its bytes belong to another object."""
    owner = objects.name_of(type(value.obj))
    return f"memoryview{list(value.shape)} format {value.format!r} of a {owner}"


def _place(code: Any) -> str:
    """Give file and line, without the folder: it differs between machines."""
    return f"{code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}"


def _plain(name: Any) -> str:
    """A function's name may be set to a subclass of `str` with methods of its own."""
    return str.__str__(name)


def is_in_c(cls: type) -> bool:
    """Whether the repr of a class is C: a file decimal.py of the user's is not."""
    return type(objects.members_of(cls).get("__repr__")) is SLOT_WRAPPER


# The types whose values need no title and have no subclass that matters.
ALONE: list[tuple[type, Any]] = [
    *((type(one), repr) for one in (None, True, ..., NotImplemented)),
    *((cls, generator) for cls in (GENERATOR, COROUTINE, ASYNC_GENERATOR)),
    (FUNCTION, function),
    (BUILTIN, builtin),
    (METHOD, method),
    (CODE, code),
    (objects.MODULE, module),
    (type, class_),
    (memoryview, memory),
]

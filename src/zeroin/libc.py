"""Functions of the C library that Python has no name for.

`ctypes` takes 2 ms to load, which every start would wait for; the C module below it takes a third
of one, and needs only these few lines around it.
"""

from __future__ import annotations

import _ctypes
import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_c: Any = _ctypes  # which no stub knows whole
_Simple: Any = _c._SimpleCData  # noqa: SLF001 - what `ctypes` makes its types of
INT: Any = type("INT", (_Simple,), {"_type_": "i"})
LONG: Any = type("LONG", (_Simple,), {"_type_": "L"})  # unsigned, as flags are


class _Function(_c.CFuncPtr):  # type: ignore[misc]
    _flags_ = _c.FUNCFLAG_CDECL | _c.FUNCFLAG_USE_ERRNO
    _restype_ = INT


@functools.cache
def function(name: str) -> Any:
    """That function; it takes ints, bytes and None, and gives an int."""
    return _Function(_c.dlsym(_c.dlopen(None, 0), name))


def pass_by_reference(number: Any) -> Any:
    """Make the argument through which a C function writes its answer into `number`, an INT."""
    return _c.byref(number)


def error() -> int:
    """The `errno` of the last call."""
    found: int = _c.get_errno()
    return found

"""The few C functions that Python has no name for, without importing `ctypes`.

`ctypes` would be one more module in the user's `sys.modules`, and half a millisecond;
the C module below it is enough. Where that is missing, everything here says "can't".
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOW_IF_LOADED = 2 | 4  # RTLD_NOW | RTLD_NOLOAD: never load a library because we ask for it
PAUSE_HARD = 2  # omp_pause_hard: the threads end, settings such as their number stay
READ_WRITE = 3
SHARED_FIXED_ANONYMOUS = 0x01 | 0x10 | 0x20
POPULATE_WRITE = 23  # of madvise, since Linux 5.14

_functions: dict[tuple[str, str], int] = {}


def flush_stdio() -> None:
    """Write out what C libraries have printed and still hold: `fflush(NULL)`."""
    _call("libc.so.6", "fflush", lambda c: (c.pointer(None),))


def pause_openmp(path: str) -> bool:
    """Let the threads of this mapped OpenMP library end; it makes new ones when it needs them."""
    return _call(path, "omp_pause_resource_all", lambda _: (PAUSE_HARD,)) == 0


def can_pause_openmp(path: str) -> bool:
    """Whether this library knows how to: from OpenMP 5.0 on."""
    return bool(_find(path, "omp_pause_resource_all"))


def can_map() -> bool:
    """Whether `map_afresh` works here."""
    return bool(_find("libc.so.6", "mmap"))


def map_afresh(start: int, length: int) -> bool:
    """Put new memory, shared with future children only, in the place of what is mapped there."""
    given = _call(
        "libc.so.6",
        "mmap",
        lambda c: (
            c.pointer(start),
            c.pointer(length),
            READ_WRITE,
            SHARED_FIXED_ANONYMOUS,
            -1,
            c.pointer(0),
        ),
    )
    return given is not None and given & 0xFFFFFFFF == start & 0xFFFFFFFF  # it comes as an int


def make_own(start: int, length: int) -> bool:
    """Copy memory that is shared with the process we were forked from, before it is written to."""
    given = _call(
        "libc.so.6", "madvise", lambda c: (c.pointer(start), c.pointer(length), POPULATE_WRITE)
    )
    return given == 0


def _find(library: str, name: str) -> int:
    key = library, name
    if key not in _functions:
        try:
            import _ctypes

            loaded: Any = _ctypes
            _functions[key] = loaded.dlsym(loaded.dlopen(library, NOW_IF_LOADED), name)
        except Exception:  # no _ctypes, no such library, no such function
            return 0
    return _functions[key]


def _call(library: str, name: str, arguments: Any) -> int | None:
    function = _find(library, name)
    if not function:
        return None
    import _ctypes

    loaded: Any = _ctypes
    given: int = loaded.call_function(function, arguments(_Kinds))
    return given


class _Kinds:
    """C types for arguments wider than an int, made on first use."""

    _pointer: Any = None

    @classmethod
    def pointer(cls, value: int | None) -> Any:
        if cls._pointer is None:
            import _ctypes

            loaded: Any = _ctypes
            cls._pointer = type("_Pointer", (loaded._SimpleCData,), {"_type_": "P"})
        return cls._pointer(value)

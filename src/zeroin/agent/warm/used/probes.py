"""`os.stat` and its kin raise no audit event: the names in `os` lead through here.

What stands in for them looks like the built-in function that it calls, and a traceback must
not show it. A Python function would be in the traceback of every `FileNotFoundError`. So a
call goes to a *class*: its `__new__` calls and takes notes, and gives back what it got; only
where that failed it gives back an instance, and then Python itself calls `__init__`, which
is the built-in function: it fails again, with no frame of ours on the stack.
"""

from __future__ import annotations

import os
import posix
import sys

from . import events, signatures, uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_NAMES = ("stat", "lstat", "access", "readlink")
_PATHS = frozenset(("genericpath", "posixpath"))
_LOOKERS = events.IMPORTS | events.METADATA | {"glob", "os", "inspect", "site"}
# They catch what fails, so that our frame is never shown.
_CATCHERS = frozenset(("exists", "lexists", "isfile", "isdir", "islink", "ismount"))


_replaced: list[tuple[Any, str, Any, Any]] = []  # whose name, what stood there and what stands


def install() -> None:
    """Stand in for the names in `os`; `posix`, which the import system uses, stays."""
    accessor = getattr(sys.modules.get("pathlib"), "_NormalAccessor", None)
    for name in _NAMES:
        plain = getattr(posix, name)
        ours = _stand_in(name, plain)
        for holder in (os, accessor):  # before 3.11 `pathlib` keeps them
            if holder is os or getattr(holder, name, None) is plain:
                _replaced.append((holder, name, plain, ours))
                setattr(holder, name, ours)


def step_aside() -> None:
    """A tracer would see us: let the names lead where they led."""
    while _replaced:
        holder, name, plain, ours = _replaced.pop()
        if holder.__dict__.get(name) is ours:
            setattr(holder, name, plain)


def _stand_in(name: str, plain: Any) -> Any:
    known: dict[str, bool] = {}  # paths as given that are noted: with all that `stat` gives?

    class Call:
        __slots__ = ()
        __init__ = plain

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            path = args[0] if args else None
            noted = None
            if path.__class__ is str and not kwargs and (path[:1] == "/" or not events._moved):
                noted = known.get(path)
            try:
                found = plain(*args, **kwargs)
            except Exception:
                if noted:
                    return object.__new__(cls)
                frame = sys._getframe(1)
                module = frame.f_globals.get("__name__")
                catches = module in _PATHS and frame.f_code.co_name in _CATCHERS
                if noted is None or _measures(frame):
                    _note(name, frame, args, kwargs, None, known)
                if catches:
                    raise
                return object.__new__(cls)
            if not noted:
                frame = sys._getframe(1)
                if noted is None or _measures(frame):
                    _note(name, frame, args, kwargs, found, known)
            return found

    class Function:
        __slots__ = ()
        __call__ = Call
        __class__ = property(lambda _: type(plain))
        __doc__ = property(lambda _: plain.__doc__)
        __module__ = property(lambda _: plain.__module__)

        def __getattr__(self, attribute: str) -> Any:
            return getattr(plain, attribute)

        def __repr__(self) -> str:
            return repr(plain)

        def __eq__(self, other: object) -> bool:  # so that os.supports_fd contains it
            return other is self or other is plain

        def __hash__(self) -> int:
            return hash(plain)

        def __reduce__(self) -> Any:
            return eval, (f"__import__('os').{name}",)

        def __reduce_ex__(self, _: Any) -> Any:
            return self.__reduce__()

        def __dir__(self) -> list[str]:
            return dir(plain)

    return Function()


def _note(
    name: str,
    frame: FrameType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    found: Any,
    known: dict[str, bool],
) -> None:
    try:
        path = args[0] if args else kwargs.get("path")
        asker = frame.f_globals.get("__name__") or ""
        if path is None or path.__class__ is int:
            return
        if asker.startswith(events.AGENT) or asker == "linecache":
            return
        dir_fd = kwargs.get("dir_fd")
        full = events.resolve(path, -1 if dir_fd is None else dir_fd)
        measures = full is None or name not in ("stat", "lstat") or _measures(frame)
        if full is not None and not _is_optional(frame, full):
            if name == "access":
                uses.looked(full)
            elif name != "stat" or not kwargs.get("follow_symlinks", True):
                uses.linked(full)
                if measures and name != "readlink":
                    uses.probed(full, signatures.state(full), measures=True)
            else:
                uses.probed(full, found, measures)
        if path.__class__ is str and not kwargs and (path[:1] == "/" or not events._moved):
            if len(known) >= uses.MOST:
                known.clear()
            known[path] = measures
    except Exception:
        pass


def _measures(frame: FrameType | None) -> bool:
    """Whether the asker wants more than to know what kind of thing it is."""
    name, asked = "", ""
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if not name.startswith("pathlib"):
            break
        asked = frame.f_code.co_name
        frame = frame.f_back
    if name == "_pytest.tmpdir":  # whose folder is it?
        return False
    if asked:
        return asked in ("stat", "lstat", "owner", "group")
    if name in _PATHS and frame is not None:
        return frame.f_code.co_name.startswith("get")
    return name not in _LOOKERS


def _is_optional(frame: FrameType, path: str) -> bool:
    """`makedirs(exist_ok=True)` asks for the folder above, and doesn't mind the answer."""
    above = frame.f_back
    return (
        frame.f_code.co_name == "exists"
        and above is not None
        and above.f_code is os.makedirs.__code__
        and bool(above.f_locals.get("exist_ok"))
        and signatures.state(path) is None
    )

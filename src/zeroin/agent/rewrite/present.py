"""Modules that were loaded before anybody wanted them changed: their functions get new code.

The whole file is compiled as changed, and each function takes the code of the same name and line,
where both have the same variables from outside. What has run of the module stays as it was.
"""

from __future__ import annotations

import os
import sys

from . import making

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

    from . import Wanted

_FUNCTION: Any = type(making.real)
_CODE = type(making.real.__code__)


def change(wanted: Wanted) -> None:
    """Give new code to what is loaded already of these files."""
    for module in list(sys.modules.values()):
        names = _names(module)
        file = names.get("__file__")
        if type(file) is not str or not file.endswith(".py"):
            continue
        try:
            if wanted(making.real(file)):
                making.is_present = True
                _change(names, file)
        except Exception as error:  # a mistake of ours must not be the program's
            making.refused[making.real(file)] = f"{type(error).__name__}: {error}"
        finally:
            making.is_present = False


def _names(module: Any) -> dict[str, Any]:
    """A module may be any object, and answer attribute look-ups with code."""
    try:
        found: dict[str, Any] = object.__getattribute__(module, "__dict__")
    except Exception:
        return {}
    return found if isinstance(found, dict) else {}


def _change(names: dict[str, Any], file: str) -> None:
    functions = list(_functions_of(names))
    if not functions:
        return
    filename = functions[0].__code__.co_filename  # a frozen one has a name of its own
    read = lambda: making.read_as_run(file, lambda: _read(file))  # noqa: E731
    new = making.made(file, read, making.build(filename))
    if new is None:
        return
    by_place = {(one.co_name, one.co_firstlineno): one for one in _within(new)}
    for function in functions:
        old = function.__code__
        code = by_place.get((old.co_name, old.co_firstlineno))
        if code is not None and code.co_freevars == old.co_freevars:
            function.__code__ = code


def _functions_of(names: dict[str, Any]) -> Iterator[Any]:
    import gc

    for one in gc.get_referrers(names):
        if type(one) is _FUNCTION and one.__globals__ is names:
            yield one


def _within(code: CodeType) -> Iterator[Any]:
    for one in code.co_consts:
        if type(one) is _CODE:
            yield one
            yield from _within(one)


def _read(file: str) -> bytes:
    with open(os.fspath(file), "rb") as opened:
        return opened.read()

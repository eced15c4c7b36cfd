"""Whose code is it: the user's own, an installed package's, or the standard library's?"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_COMMON = os.path.join(os.path.dirname(_HERE.rstrip(os.sep)), "common", "")
_STDLIB = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_cache: dict[str, str] = {}


def of(filename: str) -> str:
    """Return "user", "package" or "stdlib"."""
    found = _cache.get(filename)
    if found is None:
        found = _cache[filename] = _look(filename)
    return found


def is_users(filename: str) -> bool:
    """Whether the file is the user's own code."""
    return of(filename) == "user"


def _look(filename: str) -> str:
    if filename.startswith("<"):
        # `python -c` and stdin are the user's; <frozen importlib> and <string> are not.
        return "user" if filename == "<stdin>" or _is_command(filename) else "stdlib"
    if filename[:1] != os.sep and not os.path.exists(filename):
        return "package"  # compiled, and named after the source it was built from
    path = os.path.abspath(filename)
    if any(part in path for part in _INSTALLED):
        return "package"
    if path.startswith((_STDLIB, _HERE, _COMMON)) or path.endswith(".zip" + os.sep):
        return "stdlib"
    if os.path.dirname(path) == os.path.join(sys.prefix, "bin"):
        return "package"  # a console script's few lines
    return "user"


def _is_command(filename: str) -> bool:
    return filename == "<string>" and bool(sys.argv) and sys.argv[0] == "-c"

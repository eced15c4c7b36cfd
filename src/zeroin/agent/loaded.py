"""What this process really loaded: its interpreter, its path, and the user's own modules."""

from __future__ import annotations

import os
import sys

from . import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 2000  # modules; a program with more of its own is cut


def facts() -> dict[str, Any]:
    """Everything the record keeps about a process."""
    found = {**interpreter(), "modules": _users_modules()}
    if "ZEROIN_WHERE" in os.environ:
        found["where"] = _where(os.environ["ZEROIN_WHERE"])
    if "ZEROIN_WHICH" in os.environ:
        from .which import watch

        found["which"] = watch.facts()
    return found


def interpreter() -> dict[str, Any]:
    """What it runs on."""
    return {
        "python": {
            "version": ".".join(map(str, sys.version_info[:3])),
            "implementation": sys.implementation.name,
            "executable": sys.executable or "",
            "prefix": sys.prefix,
        },
        "path": [entry for entry in sys.path if isinstance(entry, str)][:200],
    }


def _where(asked: str) -> dict[str, str]:
    """Where modules come from that the driver asks about, and what is compiled below them."""
    found = {}
    names = {name for name in asked.split(",") if name}
    for name, module in list(sys.modules.items()):
        if type(name) is not str or name.partition(".")[0] not in names:
            continue
        file = getattr(getattr(module, "__spec__", None), "origin", None)
        if type(file) is str and (name in names or file.endswith((".so", ".pyd"))):
            found[name] = os.path.abspath(file)
    return found


def _users_modules() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        # Read the dict: a module may be any object, and answer attribute look-ups with code.
        try:
            names = object.__getattribute__(module, "__dict__")
            file = names.get("__file__")
            if file is None and name == "__main__":  # taken away when the script has ended
                file = getattr(names.get("__loader__"), "path", None)
        except Exception:
            continue
        if type(file) is str and owner.is_users(file):
            found[str(name)] = os.path.abspath(file)
            if len(found) == MOST:
                break
    return found

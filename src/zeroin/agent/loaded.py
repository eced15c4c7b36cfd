"""What this process really loaded: its interpreter, its path, the user's modules, packages."""

from __future__ import annotations

import os
import sys

from . import asked, owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 2000  # modules; a program with more of its own is cut


def facts() -> dict[str, Any]:
    """Everything the record keeps about a process."""
    users, installed = _modules()
    found = {**interpreter(), "modules": users, "installed": installed}
    if "where" in asked.order:
        found["where"] = _where(asked.order["where"])
    if "which" in asked.order:
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


def _where(asked_for: list[str]) -> dict[str, str]:
    """Where modules come from that the driver asks about, and what is compiled below them."""
    found = {}
    names = set(asked_for)
    for name, module in list(sys.modules.items()):
        if type(name) is not str or name.partition(".")[0] not in names:
            continue
        file = getattr(getattr(module, "__spec__", None), "origin", None)
        if type(file) is str and (name in names or file.endswith((".so", ".pyd"))):
            found[name] = os.path.abspath(file)
    return found


def _modules() -> tuple[dict[str, str], dict[str, str]]:
    """The user's own, and the topmost ones of installed packages."""
    users: dict[str, str] = {}
    installed: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        # Read the dict: a module may be any object, and answer attribute look-ups with code.
        try:
            names = object.__getattribute__(module, "__dict__")
            file = names.get("__file__")
            if file is None and name == "__main__":  # taken away when the script has ended
                file = getattr(names.get("__loader__"), "path", None)
        except Exception:
            continue
        if type(file) is not str:
            continue
        whose = owner.of(file)
        if whose == "user" and len(users) < MOST:
            users[str(name)] = os.path.abspath(file)
        elif whose == "package" and "." not in str(name) and len(installed) < MOST:
            installed[str(name)] = os.path.abspath(file)
    return users, installed

"""Where the imports of an attempt came from, within a folder of code that is put elsewhere."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from zeroin.record.store import Attempt

INSTALLED = "site-packages"


def import_folders(attempt: Attempt, root: str) -> list[str]:
    """Folders below a root, or the root itself, that have to be on the path of a copy of it.

    An editable install leads to the root by a line of a `.pth` file, which is on the path, or by
    a hook, which is not: then the modules tell.
    """
    path = attempt.facts.get("path") or []
    modules = attempt.facts.get("modules") or {}
    script = os.path.dirname(modules.get("__main__", ""))
    named = path[1:] if path[:1] == [script] else path  # Python finds that one by itself
    known = {os.path.normpath(os.path.join(attempt.cwd, entry)) for entry in path}
    hooked = (base for base in _bases(modules) if base not in known)
    found = (one for one in (*named, *hooked) if is_code_of(one, attempt, root))
    return list(dict.fromkeys(found))


def is_code_of(path: str, attempt: Attempt, root: str) -> bool:
    """Whether it is the root or lies below it, and in no environment that lies there as well."""
    prefix = (attempt.facts.get("python") or {}).get("prefix") or ""
    within = any(is_within(path, one) for one in (prefix,) if is_within(one, root) and one != root)
    return is_within(path, root) and INSTALLED not in path and not within


def is_within(path: str, root: str) -> bool:
    """Whether it is the root or lies below it."""
    return bool(root) and (path == root or path.startswith(os.path.join(root, "")))


def _bases(modules: dict[str, str]) -> Iterator[str]:
    """The folder from which each module is found by its name, where there is one."""
    for name, file in modules.items():
        folder, base = os.path.split(file)
        stem = base.partition(".")[0]
        whole = folder if stem == "__init__" else os.path.join(folder, stem)
        below = "/" + name.replace(".", "/")
        if name != "__main__" and whole.endswith(below):
            yield whole.removesuffix(below)

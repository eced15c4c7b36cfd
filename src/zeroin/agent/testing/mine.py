"""Is the package under test the checkout's, or a copy that was installed once?

A module that was imported is *not the user's* if the checkout has the same module in another
file. So what is generated or compiled on installation is no copy, and it does not matter by
which of the many ways of editable installs the checkout was found.
"""

from __future__ import annotations

import os
import sys

from . import projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LISTED = 5


def look(root: str) -> list[dict[str, str]]:
    """Each module that comes from elsewhere: `module`, `loaded`, `mine`, `project`."""
    found: list[dict[str, str]] = []
    owned = projects.owned(root)
    if not owned:
        return found
    for name, module in sorted(dict(sys.modules).items(), key=lambda pair: str(pair[0])):
        file = _file(module)
        if not file or type(name) is not str:
            continue
        counterparts = list(_counterparts(name, owned))
        if counterparts and not any(_same(file, path) for path, _ in counterparts):
            path, project = counterparts[0]
            found.append({"module": name, "loaded": file, "mine": path, "project": project})
    return found


def _file(module: Any) -> str:
    """Where it was loaded from; a module may be any object, so its attributes are not asked for."""
    try:
        file = object.__getattribute__(module, "__dict__").get("__file__")
    except Exception:
        return ""
    return file if type(file) is str else ""


def _counterparts(name: str, owned: list[projects.Owned]) -> Any:
    """The files of the checkout that this module could have come from."""
    for one in owned:
        if name != one.name and not name.startswith(one.name + "."):
            continue
        below = name[len(one.name) + 1 :].split(".") if name != one.name else []
        base = os.path.join(one.path, *below)
        for path in (os.path.join(base, "__init__.py"), base + ".py"):
            if os.path.isfile(path):
                yield path, one.project


def _same(file: str, path: str) -> bool:
    if file.endswith((".pyc", ".pyo")):
        file = file[:-1]
    try:
        return os.path.samefile(file, path)
    except OSError:  # inside an archive, or deleted meanwhile
        return os.path.realpath(file) == os.path.realpath(path)


def message(foreign: list[dict[str, str]], config: Any) -> str:
    """Which module came from where, why, and what to type."""
    here = str(config.invocation_params.dir)
    tops = [one for one in foreign if not _below_another(one, foreign)]
    lines = ["the tests do not test this checkout: a copy of it was imported"]
    for one in tops[:LISTED]:
        lines.append(f"  {one['module']} came from {one['loaded']}")
        lines.append(f"  {' ' * len(one['module'])}       and not {one['mine']}")
    if len(tops) > LISTED:
        lines.append(f"  and {len(tops) - LISTED} more")
    first = tops[0]
    project = os.path.relpath(first["project"], here)
    source = os.path.relpath(projects.import_folder(first["mine"], first["module"]), here)
    where = "." if project == "." else f"./{project}" if project[:1] != "." else project
    lines += [
        f"install the checkout itself: python -m pip install -e {where}",
        f"or put it first on the path: PYTHONPATH={source} python -m pytest",
    ]
    return "\n".join(lines)


def _below_another(one: dict[str, str], foreign: list[dict[str, str]]) -> bool:
    return any(one["module"].startswith(other["module"] + ".") for other in foreign)

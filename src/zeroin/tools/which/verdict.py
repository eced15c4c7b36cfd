"""Yes or no: is the file that one would edit the one that is loaded; and how to mend it."""

from __future__ import annotations

import os

from zeroin.observe.which import dists, folders
from zeroin.tools.which.about import SHADOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.tools.which import Asking
    from zeroin.tools.which.report import Copy, Which

PROJECTS = ("checkout",)
LIBRARY = ("builtin", "frozen", "standard library")


def judged(found: Which, asking: Asking) -> Which:
    """A "no" where the project here has its own copy, and another one is loaded."""
    if found.error is not None:
        return found._replace(verdict="no", why="import-error")
    if found.replaced is not None and found.replaced["by"] == "patch":
        return found._replace(verdict="no", why="replaced", asked=found.replaced["file"])
    if not found.file or found.how in LIBRARY:
        return found
    own = [one for one in found.others if one.where in PROJECTS and _is_ours(one, asking)]
    if any(note.startswith(SHADOWS) for note in found.notes):
        return found
    if own and not _is_source(found.file, asking):
        return mended(found._replace(verdict="no", why="other-copy", asked=own[0].file), asking)
    if found.stale is not None:
        return found._replace(verdict="no", why="stale", asked=found.file)
    return found._replace(verdict="yes") if _is_source(found.file, asking) else found


def _is_ours(copy: Copy, asking: Asking) -> bool:
    return _is_source(copy.file, asking)


def _is_source(file: str, asking: Asking) -> bool:
    """Whether it is a file of the project that one would edit."""
    inside_root = file.startswith(os.path.join(asking.root, ""))
    return inside_root and not dists.site_of(file) and "/build/lib" not in file


def mended(found: Which, asking: Asking) -> Which:
    """The command that makes Python load the file that was asked about."""
    if found.how in LIBRARY:
        return found  # nothing comes before those
    if dists.site_of(found.asked) or "/build/lib" in found.asked:
        return found  # nobody means to run that one: the loaded one is the one to edit
    project = folders.project_of(
        os.path.dirname(found.asked), asking.env.get("HOME") or os.path.expanduser("~")
    )
    return found._replace(mend=mend(found, project, asking))


def is_name(module: str) -> bool:
    """Whether an import could name it: `my-script` can only be run."""
    return all(word.isidentifier() for word in module.split("."))


def mend(found: Which, project: str, asking: Asking) -> str:
    """With uv where it is there; else with the interpreter's own pip."""
    import shlex
    import shutil

    if not is_name(found.module):
        return f"{shlex.quote(found.python.executable)} {shlex.quote(found.asked)}"
    if not folders.installable(project):
        top = os.path.dirname(found.asked)
        for _ in range(found.module.count(".")):
            top = os.path.dirname(top)
        python = shlex.quote(found.python.executable)
        return f"PYTHONPATH={shlex.quote(top)} {python} -c 'import {found.module}'"
    where = "." if project == asking.cwd else shlex.quote(project)
    active = asking.env.get("VIRTUAL_ENV", "")
    is_active = active and os.path.realpath(active) == os.path.realpath(found.python.prefix)
    python = shlex.quote(found.python.executable)
    if shutil.which("uv", path=asking.env.get("PATH")):
        return f"uv pip install {'' if is_active else f'--python {python} '}-e {where}"
    return f"{'python' if is_active else python} -m pip install -e {where}"

"""By what a module is on the path, and what is odd about it."""

from __future__ import annotations

import os

from zeroin.observe.which import dists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.tools.which import Asking

SHADOWS = "it shadows"


def how(
    located: dict[str, Any], file: str, about: dict[str, Any], asking: Asking
) -> tuple[str, dists.Dist | None]:
    """By what it is on the path."""
    if located["kind"] in ("builtin", "frozen"):
        return located["kind"], None
    sites = [one for one in about["path"] if dists.is_site(one)]
    dist = dists.owner(file, sites) if file else None
    if dists.site_of(file):
        return "installed", dist
    if file.startswith(os.path.join(about["stdlib"], "")):
        return "standard library", None
    entries = [one for one in about["path"] if file.startswith(os.path.join(one, ""))]
    only_here = about["here"] and entries == about["path"][:1]
    if only_here and not dists.maps(located["module"].split(".")[0], sites):
        return "working folder", None
    if dist is not None and dist.editable:
        return "editable", dist
    given = asking.env.get("PYTHONPATH", "").split(os.pathsep)
    if any(os.path.abspath(os.path.join(asking.cwd, one)) in entries for one in given if one):
        return "PYTHONPATH", dist
    return "path" if file else "", dist


def notes(located: dict[str, Any], told: dict[str, Any], how: str) -> list[str]:
    """What is odd about it, in a sentence each."""
    about = told["python"]
    top = located["module"].split(".")[0]
    found = []
    library = [
        one for one in located["elsewhere"] if one["file"].startswith(about["stdlib"] + os.sep)
        and not dists.site_of(one["file"])
    ]  # fmt: skip
    if library and how in ("working folder", "PYTHONPATH", "path", "editable", "installed"):
        found.append(f"{SHADOWS} {top} of the standard library, {library[0]['file']}: rename it")
    elif how in ("builtin", "frozen", "standard library"):
        before = "this Python loads its own at each start, before it looks there"
        before = f"{how} modules come first" if how != "standard library" else before
        hidden = [one for one in located["elsewhere"] if one not in library and one["file"]]
        found += [f"{one['file']} is never loaded: {before}" for one in hidden[:1]]
    if located["kind"] == "frozen":
        found.append("it is frozen into the interpreter: edits of its source are not run")
    if located["kind"] == "namespace":
        found.append(
            "a namespace package: folders without __init__.py, which any package that is found "
            "comes before"
        )
    if located["archive"]:
        found.append(f"it is loaded from the archive {located['archive']}")
    if located["loader"] == "SourcelessFileLoader":
        found.append("it is loaded from bytecode that has no source beside it: remove it")
    if told.get("object") and told["object"].get("lazy"):
        found.append("its package makes it when it is first asked for (a lazy __getattr__)")
    if told.get("object") and told["object"]["made"]:
        found.append(
            f"it was made while its module was loaded, of the text {told['object']['made']}"
        )
    if told.get("object") and told["object"]["kind"] == "value":
        found.append(f"it is an object of the type {told['object']['value']}")
    if located["kind"] == "extension" and any(one.endswith(".py") for one in located["beside"]):
        found.append(
            "compiled code: edits of the .py beside it are not run until it is built again"
        )
    return found

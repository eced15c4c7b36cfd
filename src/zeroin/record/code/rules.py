"""The ignore rules: what is never code, and what the user's git keeps out."""

from __future__ import annotations

import contextlib
import os
import re

from zeroin.record.code import files
from zeroin.record.code.git import ask_excludes_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.record.code.shadow import Shadow
    from zeroin.record.repository import Repository

# Never code, unless the project's own rules say `!name`.
_NEVER_CODE = """\
.git
.zeroin
__pycache__
*.py[cod]
.venv
venv
node_modules
.tox
.nox
.eggs
*.egg-info
.mypy_cache
.ruff_cache
.pytest_cache
.hypothesis
.ipynb_checkpoints
.DS_Store
"""


def write_rules(shadow: Shadow, place: Repository) -> str:
    """Put the ignore rules where git looks for them: ours, and the user's private ones."""
    rules = [_read_excludes(), _NEVER_CODE]
    with os.scandir(shadow.root) as entries:
        environments = sorted(entry.name for entry in entries if _is_environment(entry))
    rules += [f"/{place.prefix}{_escaped(name)}/\n" for name in environments]
    store = os.path.relpath(os.path.dirname(shadow.folder), place.top)
    if not store.startswith(".."):
        rules.append(f"/{_escaped(store)}/\n")
    with contextlib.suppress(OSError):
        if place.git:
            rules.append(files.text(os.path.join(place.common, "info/exclude")) + "\n")
    text = "".join(rules)
    with contextlib.suppress(OSError):
        if files.text(os.path.join(shadow.folder, "info/exclude")) == text:
            return text
    files.write(shadow.folder, "info/exclude", text)
    return text


def _read_excludes() -> str:
    """The patterns that the user has for all repositories (`core.excludesFile`).

    Git is asked where they lie only if the user's settings may say so, outside of all repositories.
    """
    home = os.path.expanduser("~")
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    path = os.path.join(base, "git", "ignore")
    settings = (os.path.join(base, "git", "config"), os.path.join(home, ".gitconfig"))
    if any(_may_name_excludes(one) for one in (*settings, "/etc/gitconfig")):
        path = ask_excludes_file() or path
    with contextlib.suppress(OSError):
        if os.path.isfile(path):
            return files.text(path) + "\n"
    return ""


def _may_name_excludes(path: str) -> bool:
    with contextlib.suppress(OSError):
        text = files.text(path).lower()
        return "excludesfile" in text or "[include" in text
    return False


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """Ask whether a folder is a Python environment, whatever its name."""
    return entry.is_dir(follow_symlinks=False) and (
        os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        or os.path.exists(os.path.join(entry.path, "conda-meta"))
    )


def _escaped(name: str) -> str:
    return re.sub(r"([\\*?\[\] ])", r"\\\1", name).replace("\n", "?")

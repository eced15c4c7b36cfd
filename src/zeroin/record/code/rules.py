"""The ignore rules: what is never code, and what the user's git keeps out."""

from __future__ import annotations

import contextlib
import os
import re

from zeroin.record.code import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.record.code.repository import Repository
    from zeroin.record.code.shadow import Shadow

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
    rules = [_NEVER_CODE]
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


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """Ask whether a folder is a Python environment, whatever its name."""
    return entry.is_dir(follow_symlinks=False) and (
        os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        or os.path.exists(os.path.join(entry.path, "conda-meta"))
    )


def _escaped(name: str) -> str:
    return re.sub(r"([\\*?\[\] ])", r"\\\1", name).replace("\n", "?")

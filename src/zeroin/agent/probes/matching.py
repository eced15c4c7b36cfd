"""Which files a probe is for: by a path, by its end, or by the name of a module."""

from __future__ import annotations

import os
import sys


def is_for(file: str, part: bool, module: str, path: str) -> bool:
    """Whether a file, by its real path, is the one."""
    if module:
        return _is_module(module, path)
    if part:
        return path == file or path.endswith(os.sep + file)
    return path == file


def has_its_name(file: str, module: str, path: str) -> bool:
    """Whether a file that is not the one could be taken for it."""
    if module:
        return any(path.endswith(os.sep + end) for end in _ends(module))
    return os.path.basename(path) == os.path.basename(file)


def _ends(module: str) -> tuple[str, str]:
    inner = module.replace(".", os.sep)
    return f"{inner}.py", f"{inner}{os.sep}__init__.py"


def _is_module(module: str, path: str) -> bool:
    """Whether a file is that module: found below a folder of the path, or else the outermost."""
    for end in _ends(module):
        if path.endswith(os.sep + end):
            root = path[: -len(end) - 1]
            return _is_on_path(root) or not os.path.exists(os.path.join(root, "__init__.py"))
    return False


def _is_on_path(folder: str) -> bool:
    return any(
        isinstance(entry, str) and os.path.realpath(entry or os.curdir) == folder
        for entry in sys.path
    )

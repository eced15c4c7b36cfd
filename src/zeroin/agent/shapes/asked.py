"""Which functions `--func` asks for, in whatever file the program loads.

`forward` asks for all functions of that name, `Model.forward` for that of a class, each with what
is defined inside. The module may stand before it, or a part of its path: what the library calls
`torch.nn.MultiheadAttention.forward` is defined in `torch/nn/modules/activation.py`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

END = ".py"
PACKAGE = "__init__"
_folders: dict[str, str] = {}  # of `sys.path` → its real path


def is_asked(function: str, module: str, asked: str) -> bool:
    """Tell whether a name asks for a function, given its qualified name and its module's."""
    bare = "." + function.replace("<locals>.", "") + "."
    return any(f".{inner}." in bare for inner in _inner_names(asked, module))


def may_define(source: bytes, path: str, asked: str) -> bool:
    """Tell whether a source may have such a function, without parsing it."""
    if not _is_defined(source, asked.rpartition(".")[2]):
        return False
    return any(
        all(_is_defined(source, part) for part in inner.split("."))
        for inner in _inner_names(asked, module_of(path))
    )


def module_of(path: str) -> str:
    """Give the dotted name under which a file is imported, as far as `sys.path` tells."""
    folders = [_real_folder(one) for one in sys.path if isinstance(one, str)]
    above = max((one for one in folders if path.startswith(one)), key=len, default="")
    inside = path[len(above) :] if above else os.path.join(*_package_parts(path))
    parts = inside[: -len(END)].split(os.sep) if inside.endswith(END) else inside.split(os.sep)
    return ".".join(parts[:-1] if parts[-1] == PACKAGE else parts)


def _inner_names(asked: str, module: str) -> Iterator[str]:
    """Give what may be asked for in a module: all of it, and what follows the module's name."""
    parts = asked.split(".")
    for at in range(len(parts)):
        if at == 0 or f".{'.'.join(parts[:at])}." in f".{module}.":
            yield ".".join(parts[at:])


def _real_folder(path: str) -> str:
    if path not in _folders:
        _folders[path] = os.path.join(os.path.realpath(path), "")
    return _folders[path]


def _is_defined(source: bytes, name: str) -> bool:
    import re

    found = re.search(rb"\b(?:def|class)\s+" + re.escape(name.encode()) + rb"\b", source)
    return found is not None


def _package_parts(path: str) -> list[str]:
    folder, name = os.path.split(path)
    parts = [name]
    while os.path.isfile(os.path.join(folder, PACKAGE + END)):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return parts

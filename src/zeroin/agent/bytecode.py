"""Bytecode that is run although the source says something else.

Python trusts a `.pyc` whose recorded time and size are those of the source, and one that is
marked *unchecked* in any case. So what it holds is compared with what the source compiles to.
"""

from __future__ import annotations

import _frozen_importlib_external as external
import _imp
import marshal
import os
import sys

from .rewrite import making

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEADER = 16  # bytes: magic, flags, then time and size, or a hash
MOST = 8 << 20  # bytes of source that are compiled to compare


def stale(file: str) -> dict[str, Any] | None:
    """The `.pyc` that would be run instead of this source, and why; None if there is none."""
    if not file.endswith(".py"):
        return None
    try:
        cached = external.cache_from_source(file)
        with open(cached, "rb") as held, open(file, "rb") as source:
            data, text = held.read(MOST), source.read(MOST)
        status = os.stat(file)
    except (OSError, NotImplementedError):
        return None
    if data[:4] != external.MAGIC_NUMBER or len(data) < HEADER:
        return None  # of another Python, or cut: not used
    flags = int.from_bytes(data[4:8], "little")
    if flags & 1:
        checked = flags & 2 or _imp.check_hash_based_pycs == "always"
        if (checked and _imp.check_hash_based_pycs != "never") or _hash(text) == data[8:16]:
            return None
        return {"file": cached, "why": "unchecked"}
    if data[8:16] != _stamp(int(status.st_mtime)) + _stamp(status.st_size):
        return None  # Python compiles it anew
    return {"file": cached, "why": "stamp"} if _differs(data[HEADER:], text, file) else None


def _stamp(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


def _hash(text: bytes) -> bytes:
    return bytes(_imp.source_hash(int.from_bytes(external.MAGIC_NUMBER, "little"), text))


def _differs(marshalled: bytes, text: bytes, file: str) -> bool:
    if len(text) == MOST:
        return False
    try:
        return bool(marshal.loads(marshalled) != _compiled(text, file))  # noqa: S302 - as Python itself would
    except Exception:  # a source that does not compile: the bytecode hides that
        return True


def _compiled(text: bytes, file: str) -> Any:
    with making.Quiet():
        return compile(text, file, "exec", dont_inherit=True, optimize=sys.flags.optimize)


def left_over(folder: str, name: str) -> str:
    """Bytecode of a module whose source is gone, for a name that is not found; or ""."""
    tag = sys.implementation.cache_tag
    path = os.path.join(folder, "__pycache__", f"{name}.{tag}.pyc")
    return path if os.path.isfile(path) else ""

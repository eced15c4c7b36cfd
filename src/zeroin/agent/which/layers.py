"""What is wrapped around a function: decorators, properties, partials, compiled forms."""

from __future__ import annotations

import functools
import types

from . import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 30  # layers
# Attribute in which a wrapper keeps what it wraps → how such a wrapper is called.
KEEPERS = {
    "__wrapped__": "wrapper",
    "__func__": "bound method",
    "_torchdynamo_orig_callable": "torch.compile",
    "_orig_mod": "torch.compile",
    "_torchscript_modified": "",
    "py_func": "numba",
    "original_fn": "torch.jit",
    "_fun": "jax",
}


def peel(thing: Any) -> tuple[Any, list[dict[str, Any]]]:
    """What is at the core, and the layers around it, the outermost first."""
    found: list[dict[str, Any]] = []
    seen = set()
    while id(thing) not in seen and len(found) < MOST:
        seen.add(id(thing))
        name, inner = _layer(thing)
        if inner is None:
            break
        found.append({"name": name, **_place(thing)})
        thing = inner
    return thing, found


def _layer(thing: Any) -> tuple[str, Any]:
    """The name of the outermost layer and what is in it; None in the end."""
    if isinstance(thing, property):
        return "property", thing.fget or thing.fset
    if isinstance(thing, (staticmethod, classmethod)):
        return type(thing).__name__, thing.__func__
    if isinstance(thing, functools.partial):
        return "functools.partial", thing.func
    if isinstance(thing, functools.partialmethod):
        return "functools.partialmethod", thing.func
    if isinstance(thing, functools.cached_property):
        return "functools.cached_property", thing.func
    if isinstance(thing, types.MethodType):
        return "bound method", thing.__func__
    for attribute, word in KEEPERS.items():
        inner = _kept(thing, attribute)
        if callable(inner) and word:
            return _named(thing, word), inner
    return "", None


def _kept(thing: Any, attribute: str) -> Any:
    """Read without running what a stranger's `__getattr__` would."""
    if isinstance(thing, type):
        return None
    try:
        return object.__getattribute__(thing, attribute)
    except Exception:
        return None


def _named(thing: Any, word: str) -> str:
    if type(thing).__name__ == "_lru_cache_wrapper":
        return "functools.lru_cache"
    if word != "wrapper":
        return word
    code = getattr(thing, "__code__", None)
    return code.co_name if code is not None else type(thing).__name__


def _place(thing: Any) -> dict[str, Any]:
    code = getattr(thing, "__code__", None)
    if not isinstance(code, types.CodeType):
        return {"file": "", "line": 0}
    file, line = places.of_function(thing)
    return {"file": file, "line": line}

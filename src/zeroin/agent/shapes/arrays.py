"""Arrays, tensors and tables: their forms, by shape, type and device; no number is read.

The libraries are found in `sys.modules`, never imported, and read through their own base classes
where a subclass could answer for itself. No GPU is waited for: a shape is known here.
"""

from __future__ import annotations

import sys
from operator import attrgetter

from ..summary import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .kinds import Form

    # How to read the form; and what can be compared quicker, or None.
    Reading = tuple[Callable[..., Any], Any]

FOREIGN = frozenset({"cupy", "cupyx", "dask", "jax", "jaxlib", "mlx", "mxnet", "paddle"})
FOREIGN |= {"polars", "pyarrow", "scipy", "tensorflow", "xarray"}

UNSEEN: Form = ()  # for now nobody may look; see `_torch`
_shape_and_dtype = attrgetter("shape", "dtype")


def reading(cls: type, classes: Any) -> Reading | None:
    """How values of a class of a library's are read; None for all others."""
    for one in classes:
        root = objects.module_of(one).partition(".")[0]
        reader = _LIBRARIES.get(root) or (_foreign if root in FOREIGN else None)
        found = reader(cls, classes) if reader is not None else None
        if found is not None:
            return found
    return None


def nothing(_: Any) -> None:
    """What has no form."""


def _numpy(cls: type, classes: Any) -> Reading | None:
    ndarray = objects.loaded("numpy", "ndarray")
    if not objects.is_one(classes, ndarray):
        return nothing, None
    if cls is ndarray:
        return _ndarray, _shape_and_dtype
    return _ndarray, None


def _ndarray(value: Any) -> Form:
    ndarray = objects.loaded("numpy", "ndarray")
    dtype = ndarray.dtype.__get__(value)
    word = "masked" if objects.name_of(type(value)) == "MaskedArray" else ""
    return ("a", tuple(ndarray.shape.__get__(value)), _dtype(dtype), "", word)


def _torch(cls: type, classes: Any) -> Reading | None:
    torch = sys.modules.get("torch")
    tensor = objects.loaded("torch", "Tensor")
    if torch is None or tensor is None:
        return None
    if not objects.is_one(classes, tensor):
        is_model = objects.is_one(classes, objects.loaded("torch.nn", "Module"))
        return (nothing, None) if is_model else None
    modes = getattr(torch._C, "_len_torch_function_stack", None)
    off = torch._C.DisableTorchFunction
    if cls is not tensor and objects.name_of(cls) != "Parameter":
        modes = None  # a subclass may answer for itself
    elif modes is None:
        modes = int
    plain = attrgetter("shape", "dtype", "is_cpu")
    # While `torch.jit.trace` runs, sizes are tensors, and each look at them becomes a part of it.
    is_traced = getattr(torch._C, "_is_tracing", None) or bool

    def quick(value: Any) -> Any:
        if is_traced():
            return None
        if modes is not None and not modes():
            return read(value)
        with off():  # nobody else shall see that we ask
            return read(value)

    def read(value: Any) -> Any:
        try:
            found = plain(value)
            return found if found[2] else (*found, value.device)
        except Exception:  # the shape of nested tensors, of those that are not there yet
            return None

    def describe(value: Any) -> Form | None:
        if is_traced():
            return UNSEEN
        with off():
            return _tensor(value, tensor)

    return describe, quick


def _tensor(value: Any, tensor: Any) -> Form | None:
    dtype = _dtype(tensor.dtype.__get__(value))
    device = str(tensor.device.__get__(value))
    device = "" if device == "cpu" else device
    if hasattr(tensor, "is_nested") and tensor.is_nested.__get__(value):
        return ("a", _nested(value), dtype, device, "nested")
    try:
        shape = tuple(_size(one) for one in tensor.shape.__get__(value))
    except Exception:  # not initialised yet
        return None
    layout = str(tensor.layout.__get__(value)).replace("torch.", "")
    word = "" if layout == "strided" else layout.replace("sparse_", "").replace("coo", "sparse")
    return ("a", shape, dtype, device, word)


def _nested(value: Any) -> tuple[Any, ...]:
    """How many, then the sizes that are the same in each, and "?" for those that are not."""
    try:
        return tuple(_size(one) for one in type(value).shape.__get__(value))
    except Exception:
        pass
    sizes: list[Any] = [type(value).size(value, 0)]
    for at in range(1, type(value).dim(value)):
        try:
            sizes.append(_size(type(value).size(value, at)))
        except Exception:
            sizes.append("?")
    return tuple(sizes)


def _pandas(_: type, classes: Any) -> Reading | None:
    for name in ("DataFrame", "Series", "Index"):
        if objects.is_one(classes, objects.loaded("pandas", name)):
            return (lambda value, name=name: _table(value, name)), None
    return nothing, None


def _polars(_: type, classes: Any) -> Reading | None:
    for name in ("DataFrame", "Series"):
        if objects.is_one(classes, objects.loaded("polars", name)):
            return (lambda value, name=name: _table(value, name)), None
    return nothing, None


def _table(value: Any, name: str) -> Form | None:
    try:
        dtype = "" if name == "DataFrame" else _dtype(value.dtype)
        return ("a", tuple(value.shape), dtype, "", name)
    except Exception:  # another release of that library
        return None


def _foreign(cls: type, classes: Any) -> Reading | None:
    """What has a shape, if the class is what it says: anyone can claim to be from jax."""
    own = objects.loaded(objects.module_of(cls), objects.name_of(cls))
    if own is not None and own is not cls:
        return None
    has_shape = any("shape" in objects.members_of(one) for one in classes)
    is_traced = any(objects.name_of(one) == "Tracer" for one in classes)
    return (_shaped, None) if has_shape or is_traced else None


def _shaped(value: Any) -> Form | None:
    try:
        shape = tuple(_size(one) for one in value.shape)
        word = getattr(value, "format", "")
        return ("a", shape, _dtype(value.dtype), _device(value), word if type(word) is str else "")
    except Exception:
        return None


def _device(value: Any) -> str:
    """Where it is, if its library can tell without doing anything, and it is not here."""
    device = getattr(value, "device", "")
    platform = getattr(device, "platform", "")
    if type(platform) is not str or platform in ("", "cpu"):
        return ""
    return f"{platform}:{getattr(device, 'id', 0)}"


_LIBRARIES = {"numpy": _numpy, "torch": _torch, "pandas": _pandas, "polars": _polars}


# --- sizes and types --------------------------------------------------------------------------


def _size(one: Any) -> Any:
    """A size that is not known yet, or a symbol, is a question mark."""
    return int(one) if type(one) is int else "?"


_SHORT = (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c"))


def _dtype(dtype: Any) -> str:
    """`f32`, `bf16`, `i64`, `bool`; others by their own name, in one word."""
    if getattr(dtype, "names", None):
        return "record"
    name = getattr(dtype, "name", None)
    text = name if type(name) is str else str(dtype)
    if getattr(dtype, "kind", "") in ("U", "S"):
        return "str" if dtype.kind == "U" else "bytes"
    text = text.rpartition(".")[2].lower() if "[" not in text else text
    for long, short in _SHORT:
        if text.startswith(long) and text[len(long) : len(long) + 1].isdigit():
            return short + text[len(long) :]
    text = {"string": "str", "boolean": "bool", "utf8": "str"}.get(text, text)
    return "".join(char if char.isalnum() or char in "_[]:" else "_" for char in text) or "?"

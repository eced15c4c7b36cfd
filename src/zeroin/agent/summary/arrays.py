"""Arrays, tensors and tables: their shape, type and place, and what their numbers are.

The libraries are found in `sys.modules`, never imported, and read through the methods of
their own base classes: a subclass may do anything in its own.
"""

from __future__ import annotations

import sys

from . import frames, objects, samples, tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .objects import Classes

NAMED = 6  # fields of a structured array
VIEWS = 10  # an array may be a view of a view of the file

# Their arrays are told by shape and type: reading values could start work on a GPU.
FOREIGN = frozenset({"cupy", "cupyx", "dask", "jax", "jaxlib", "mlx", "mxnet", "paddle"})
FOREIGN |= {"polars", "pyarrow", "scipy", "tensorflow", "xarray"}


def describe(value: Any, classes: Classes, full: bool) -> str | None:
    """Tell an array or one of its kin; None if it is none. Numbers are read only if `full`."""
    for cls in classes:
        root = objects.module_of(cls).partition(".")[0]
        reader = _READERS.get(root) or (_foreign if root in FOREIGN else None)
        text = reader(value, classes, full) if reader else None
        if text is not None:
            return text
    return None


def _numpy(value: Any, classes: Classes, full: bool) -> str | None:
    ndarray = objects.loaded("numpy", "ndarray")
    if objects.is_one(classes, ndarray):
        return _ndarray(value, classes, ndarray, full)
    if objects.is_one(classes, objects.loaded("numpy", "generic")):
        return _numpy_scalar(value, classes)
    if objects.is_one(classes, objects.loaded("numpy", "dtype")):
        return f"dtype({_numpy_type(value)})"
    return None


def _numpy_scalar(value: Any, classes: Classes) -> str | None:
    """Write a number of numpy's own; its text types are text, a record is left to its repr."""
    kinds = [objects.loaded("numpy", name) for name in ("number", "bool_", "datetime64")]
    if not any(objects.is_one(classes, kind) for kind in kinds):
        return None
    own: Any = next(cls for cls in classes if objects.loaded("numpy", objects.name_of(cls)) is cls)
    return f"{objects.name_of(classes[0])}({own.__str__(value)})"


def _ndarray(value: Any, classes: Classes, ndarray: Any, full: bool) -> str:
    shape, dtype = ndarray.shape.__get__(value), ndarray.dtype.__get__(value)
    text = f"{samples.title(classes, shape)} {_numpy_type(dtype)}"
    masked = any(objects.name_of(cls) == "MaskedArray" for cls in classes)
    if masked or dtype.kind not in "fiubc":
        return text
    if not (full or samples.is_single(shape)):
        return text
    numpy = sys.modules["numpy"]
    try:
        # As a plain array, so that no method of a subclass is called from here on.
        plain = ndarray.view(value, ndarray)
        file = _mapped(value)
        if file is None:
            cut, label = samples.sample(shape)
        elif type(file).size(file) < len(file):
            return f"{text}  in a file that was cut short"  # reading it would kill
        else:
            cut, label = samples.head(shape, plain.strides)
        with numpy.errstate(all="ignore"):
            return text + samples.numbers(plain[cut] if cut else plain, dtype.kind, numpy) + label
    except BaseException:  # the interrupt of a stranger's hook is no reason to lose the shape
        return text


def _numpy_type(dtype: Any) -> str:
    if dtype.names:
        return f"structured({', '.join(map(str, dtype.names[:NAMED]))})"
    return str(dtype.str if dtype.kind in "US" else dtype.name)


def _mapped(value: Any) -> Any:
    """Find the mapping of a file in which an array lies; None if it is in memory."""
    ndarray, mmap = objects.loaded("numpy", "ndarray"), objects.loaded("mmap", "mmap")
    for _ in range(VIEWS):
        if objects.is_one(objects.classes_of(value), ndarray):
            value = ndarray.base.__get__(value)
        elif type(value) is memoryview:
            value = value.obj
        else:
            return value if mmap is not None and type(value) is mmap else None
    return None


def _foreign(value: Any, classes: Classes, _: bool) -> str | None:
    """Give shape and type, if the class is what it says: anyone can claim to be from jax."""
    cls = classes[0]
    if objects.loaded(objects.module_of(cls), objects.name_of(cls)) is not cls:
        return None
    if not any("shape" in objects.members_of(one) for one in classes):
        return None
    try:
        dtype = getattr(value, "dtype", None)
        text = samples.title(classes, tuple(value.shape))
        return text if dtype is None else f"{text} {dtype}"
    except BaseException:
        return None


_READERS = {"numpy": _numpy, "torch": tensors.describe, "pandas": frames.describe}

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
    from .samples import Form

FEW = 3  # elements of an array that are no numbers
LONG = 40  # characters of each
HUGE = 10**LONG
SCALARS = frozenset({"Timestamp", "Timedelta", "Period", "NaTType", "NAType"})
SCALARS |= {f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)}
SCALARS |= {"bool_", "bool", "complex64", "complex128", "datetime64", "timedelta64", "void"}
NAMED = 6  # fields of a structured array
VIEWS = 10  # an array may be a view of a view of the file

# Their arrays are told by shape and type: reading values could start work on a GPU.
FOREIGN = frozenset({"cupy", "cupyx", "dask", "jax", "jaxlib", "mlx", "mxnet", "paddle"})
FOREIGN |= {"polars", "pyarrow", "scipy", "tensorflow", "xarray"}


def describe(value: Any, classes: Classes, form: Form) -> str | None:
    """Tell an array or one of its kin; None if it is none. Numbers are read only if `full`."""
    for cls in classes:
        root = objects.module_of(cls).partition(".")[0]
        reader = _READERS.get(root) or (_foreign if root in FOREIGN else None)
        text = reader(value, classes, form) if reader else None
        if text is not None:
            return text
    return None


def _numpy(value: Any, classes: Classes, form: Form) -> str | None:
    ndarray = objects.loaded("numpy", "ndarray")
    if objects.is_one(classes, ndarray):
        return _ndarray(value, classes, ndarray, form)
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


def _ndarray(value: Any, classes: Classes, ndarray: Any, form: Form) -> str:
    shape, dtype = ndarray.shape.__get__(value), ndarray.dtype.__get__(value)
    text = f"{samples.title(classes, shape)} {form.kind(_numpy_type(dtype))}"
    masked = any(objects.name_of(cls) == "MaskedArray" for cls in classes)
    if masked or dtype.kind not in "fiubc":
        return text + (_few(value, ndarray, masked) if form.full and form.signs else "")
    if not (form.full or samples.is_single(shape)):
        return text
    numpy = sys.modules["numpy"]
    try:
        # As a plain array, so that no method of a subclass is called from here on.
        plain = ndarray.view(value, ndarray)
        file = _mapped(value)
        if file is None:
            with numpy.errstate(all="ignore"):
                return text + samples.sampled(plain, dtype.kind, numpy, form)
        if type(file).size(file) < len(file):
            return f"{text}  in a file that was cut short"  # reading it would kill
        cut, label = samples.head(shape, plain.strides)
        with numpy.errstate(all="ignore"):
            few = plain[cut] if cut else plain
            return text + samples.numbers(few, dtype.kind, numpy, form) + label
    except BaseException:  # the interrupt of a stranger's hook is no reason to lose the shape
        return text


def _few(value: Any, ndarray: Any, masked: bool) -> str:
    """Tell how much of an array is masked, or its first elements: who peeks wants to see them."""
    size = samples.count(ndarray.shape.__get__(value))
    if masked:
        mask: Any = objects.instance_dict(value).get("_mask")
        known = type(mask) is ndarray and mask.dtype.kind == "b" and size <= samples.COUNTED
        return f"  {int(mask.sum()):,} of {size:,} masked" if known else ""
    if _mapped(value) is not None:
        return ""
    return first_of(ndarray.view(value, ndarray), size)


def first_of(values: Any, size: int) -> str:
    """Write the first dates, texts, records or objects of a plain array; objects are not asked."""
    if values.dtype.kind not in "MmUSOV" or (values.dtype.kind == "V" and values.dtype.hasobject):
        return ""
    return listed(values.flat[:FEW], size)


def listed(first: Any, size: int) -> str:
    """Write these, which are so many with the others."""
    told = ", ".join(map(_short, first))
    return f"  [{told}{', …' * (size > FEW)}]" if size else "  empty"


def _short(one: Any) -> str:
    """Write a text, number, date or record of numpy's or Python's own; others by their class."""
    kind = type(one)
    if kind in (str, bytes) or objects.is_one(
        objects.classes_of(one), objects.loaded("numpy", "character")
    ):
        whole = one.item() if kind not in (str, bytes) else one
        return repr(whole[:LONG]) + "…" * (len(whole) > LONG)
    if kind in (float, bool, complex, type(None)) or (kind is int and -HUGE < one < HUGE):
        return repr(one)
    module, name = objects.module_of(kind), objects.name_of(kind)
    is_own = module.partition(".")[0] in ("numpy", "pandas") and name in SCALARS
    is_own = is_own and objects.loaded(module, name) is kind  # anyone can claim to be of theirs
    return str(one)[:LONG] if is_own else name


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


def _foreign(value: Any, classes: Classes, form: Form) -> str | None:
    """Give shape and type, if the class is what it says: anyone can claim to be from jax."""
    cls = classes[0]
    # jax says of its arrays that they are of a module where they are not.
    if objects.loaded(objects.module_of(cls), objects.name_of(cls)) is not cls:
        return None
    if not any("shape" in objects.members_of(one) for one in classes):
        return None
    try:
        dtype = getattr(value, "dtype", None)
        text = samples.title(classes, tuple(value.shape))
        text = text if dtype is None else f"{text} {form.kind(str(dtype))}"
        if objects.module_of(cls).startswith("scipy.sparse"):
            return text + _sparse(value, form)
        if form.full and form.signs and objects.name_of(cls) == "ArrayImpl":
            return text + _jax(value, form)
        return text
    except BaseException:
        return None


def _jax(value: Any, form: Form) -> str:
    """Tell the numbers of an array of jax that is in this machine's memory, and done."""
    numpy: Any = sys.modules["numpy"]
    here = all(device.platform == "cpu" for device in value.devices())
    if not here or value.is_deleted() or not value.is_ready():
        return ""
    plain = numpy.asarray(value)  # a view
    if type(plain) is not numpy.ndarray or plain.dtype.kind not in "fiubc":
        return ""
    with numpy.errstate(all="ignore"):
        return samples.sampled(plain, plain.dtype.kind, numpy, form)


def _sparse(value: Any, form: Form) -> str:
    """Tell how many elements of scipy's sparse array are stored, and what these are."""
    text = f" {value.format}" if type(getattr(value, "format", None)) is str else ""
    held = objects.instance_dict(value)
    data: Any = held.get("data")
    ndarray = objects.loaded("numpy", "ndarray")
    if type(held.get("_dict")) is dict:
        stored = len(held["_dict"])
    elif type(data) is ndarray and data.dtype.kind in "fiubc":
        stored = samples.count(data.shape)
    else:
        return text
    size = samples.count(value.shape)
    text += f"  {stored:,} stored" + (f" ({stored / size:.2g} of all)" if size and stored else "")
    if form.full and stored and type(data) is ndarray:
        inner = _ndarray(data, (ndarray,), ndarray, form)
        text += inner.partition(form.kind(_numpy_type(data.dtype)))[2]
    return text


_READERS = {"numpy": _numpy, "torch": tensors.describe, "pandas": frames.describe}

"""What the numbers of an array are, from as few of them as will do.

A *sample* stands in for an array that is too large to be read whole: every so-many-th
element along each dimension, or the head of one that lies in a file. It is a view until it
is small; nothing is ever flattened, copied or reduced at full size.
"""

from __future__ import annotations

import time

from . import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .objects import Classes

SAMPLE = 16_384  # elements read of a large array
HEAD = 4_096  # elements read of one in a file: each page may have to come from a slow disk
INFINITY = float("inf")
COUNTED = 1 << 22  # elements in which all that is not finite is counted
SECONDS = 0.02  # of the processor that this may take: a busy machine must not change a line
PIECE = 1 << 15  # elements that are added up at once
NOT_FINITE = ("nan", "inf", "-inf")
SMALL = 6  # elements that are shown one by one


class Form:
    """How an array is told: with its numbers or without, by words or by signs."""

    __slots__ = ("full", "signs")

    def __init__(self, full: bool, signs: bool = False) -> None:
        self.full = full
        self.signs = signs  # `f32  μ 0.02 σ 1 [-3.1, 3.4]  ✗ 3 NaN`, for a line that is read now

    def kind(self, name: str) -> str:
        """Write the name of a type: `float32`, or `f32` in signs."""
        if not self.signs:
            return name
        for word, letter in SHORT:
            if name.startswith(word) and name[len(word) :].isdecimal():
                return letter + name[len(word) :]
        return name


SHORT = (("float", "f"), ("bfloat", "bf"), ("int", "i"), ("uint", "u"), ("complex", "c"))


def title(classes: Classes, shape: Any) -> str:
    """Write `Tensor[32, 10]`; a size that is only a symbol is left open."""
    sizes = ", ".join(str(size) if type(size) in (int, str) else "?" for size in shape)
    return f"{objects.name_of(classes[0])}[{sizes}]"


def count(shape: Any) -> int:
    """Give the number of elements."""
    product = 1
    for size in shape:
        product *= size
    return product


def is_single(shape: Any) -> bool:
    """Whether there is one element. Symbols are not asked: torch would note the answer."""
    return all(type(size) is int and size == 1 for size in shape)


def sample(shape: Any) -> tuple[Any, str]:
    """Choose every so-many-th element: the longest dimension is thinned first."""
    if count(shape) <= SAMPLE:
        return (), ""
    steps, counts = [1] * len(shape), list(shape)
    while count(counts) > SAMPLE:
        at = counts.index(max(counts))
        # Odd, so that interleaved channels or pairs don't fall into step with it.
        steps[at] = steps[at] * 2 | 1
        counts[at] = -(-shape[at] // steps[at])
    cut = tuple(slice(None, None, step) for step in steps)
    return cut, f"  (of a sample of {count(counts):,})"


def head(shape: Any, strides: Any) -> tuple[Any, str]:
    """Choose elements that lie together at the beginning."""
    if count(shape) <= HEAD:
        return (), ""
    counts = list(shape)
    for at in sorted(range(len(shape)), key=lambda at: -abs(strides[at])):
        others = count(counts) // counts[at]
        counts[at] = max(1, min(counts[at], HEAD // others))
    return tuple(map(slice, counts)), f"  (of the first {count(counts):,})"


def sampled(values: Any, kind: str, library: Any, form: Form) -> str:
    """Tell what the numbers of an array in memory are, of a sample if it is large.

    In signs, what is not finite is counted in all of it, if that takes a few milliseconds.
    """
    cut, label = sample(values.shape)
    if not cut:
        return numbers(values, kind, library, form)
    found = _not_finite(values, library) if form.signs and kind == "f" else None
    told = numbers(values[cut], kind, library, form)
    if found is None:
        return told + label
    counted = _counted(*found, form)
    return told.partition("  ✗")[0] + label + f"  {counted}" * bool(counted)


def _not_finite(values: Any, library: Any) -> tuple[int, int] | None:
    """Count NaN and infinite numbers piece by piece, where a sum says that there are some.

    The pieces are so small that torch starts no threads. None if it takes too long, or does not
    lie in one piece of memory.
    """
    total = count(values.shape)
    if total > COUNTED:
        return None
    if hasattr(library, "ndarray"):
        values = values.transpose(_as_it_lies(values.strides))
        in_one = values.flags.c_contiguous
    else:
        values = values.permute(_as_it_lies(values.stride()))
        in_one = values.is_contiguous()
    if not in_one:
        return None
    flat = values.reshape(-1)
    nan = infinite = 0
    until = time.thread_time() + SECONDS
    for start in range(0, total, PIECE):
        if time.thread_time() > until:
            return None
        piece = flat[start : start + PIECE]
        if getattr(piece.dtype, "itemsize", 4) == 1:  # torch does not add up f8
            piece = piece.to(library.float32)
        whole = float(piece.sum(dtype=library.float32) if _is_half(piece) else piece.sum())
        if whole - whole != 0:
            held = int(library.isnan(piece).sum())
            nan += held
            infinite += count(piece.shape) - int(library.isfinite(piece).sum()) - held
    return nan, infinite


def _as_it_lies(strides: Any) -> list[int]:
    """Give the order of the dimensions in memory: a transposed array is in one piece as well."""
    return sorted(range(len(strides)), key=lambda at: -abs(strides[at]))


def _is_half(values: Any) -> bool:
    """Whether the sum of a few thousand would not fit into its type."""
    return bool(getattr(values.dtype, "itemsize", 4) == 2)  # torch has it since 2.1


def numbers(sample: Any, kind: str, library: Any, form: Form) -> str:
    """Tell what the numbers of a small array are. numpy and torch share the names used here.

    The kind is a letter of numpy's: f(loat), i(nt), u(nsigned), b(ool) or c(omplex).
    """
    total = count(sample.shape)
    if not total:
        return "  empty"
    values = _as_double(sample, library, "complex128" if kind == "c" else "float64")
    shown = _shown(values if kind == "f" else sample, kind) if total <= SMALL else ""
    if not tuple(sample.shape):
        return f" ✗ {shown}" if form.signs and shown in NOT_FINITE else f" {shown}"
    told = [f"{int(values.sum()):,} True"] if kind == "b" else _spread(values, kind, library, form)
    return "".join("  " + one for one in [*told, shown] if one)


def _as_double(sample: Any, library: Any, name: str) -> Any:
    kind = getattr(library, name)
    return sample.astype(kind) if hasattr(library, "ndarray") else sample.to(kind)


def _spread(values: Any, kind: str, library: Any, form: Form) -> list[str]:
    """Tell between which bounds the finite numbers are, and how many are not finite."""
    finite = library.isfinite(values)
    good, nan = int(finite.sum()), int(library.isnan(values).sum())
    infinite = count(values.shape) - good - nan
    title = ""
    if kind == "c":  # how far from 0 they are
        title, kind, values = "|z| ", "f", abs(values)
        finite = library.isfinite(values)
        good = int(finite.sum())
    told = title + _bounds(values, finite, good, kind, library, form) if good else ""
    return [told, _counted(nan, infinite, form)]


def _bounds(values: Any, finite: Any, good: int, kind: str, library: Any, form: Form) -> str:
    # Not `values[finite]`: torch starts its threads for that.
    low = float(library.where(finite, values, INFINITY).min())
    high = float(library.where(finite, values, -INFINITY).max())
    mean = float(library.where(finite, values, 0.0).sum()) / good
    if mean - mean != 0:  # the sum of what a double just holds does not fit
        mean = float((library.where(finite, values, 0.0) / good).sum())
    whole = good == count(values.shape)
    if whole and _written(low, kind) == _written(high, kind):
        return f"all {_written(low, kind)}"
    if not form.signs:
        return f"min {_written(low, kind)} max {_written(high, kind)} mean {mean:.4g}"
    # Divided by the width first: the squares of what a double just holds would not fit.
    width = max(abs(low - mean), abs(high - mean)) or 1.0
    apart = library.where(finite, (values - mean) / width, 0.0)
    spread = width * (float((apart * apart).sum()) / good) ** 0.5
    return f"μ {mean:.3g} σ {spread:.3g} [{_brief(low, kind)}, {_brief(high, kind)}]"


def _counted(nan: int, infinite: int, form: Form) -> str:
    told = " ".join([f"{nan:,} NaN"] * bool(nan) + [f"{infinite:,} inf"] * bool(infinite))
    return f"✗ {told}" if told and form.signs else told


def _shown(values: Any, kind: str) -> str:
    def write(one: Any) -> str:
        if type(one) is list:
            return f"[{', '.join(map(write, one))}]"
        return f"{one:.6g}" if kind == "f" else str(one)

    return write(values.tolist())


def _written(number: float, kind: str) -> str:
    """Write an int without a fraction, as long as a float holds it exactly."""
    return str(int(number)) if kind in "iu" and abs(number) < 2**53 else f"{number:.5g}"


def _brief(number: float, kind: str) -> str:
    return _written(number, kind) if kind in "iu" else f"{number:.3g}"

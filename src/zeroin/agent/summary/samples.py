"""What the numbers of an array are, from as few of them as will do.

A *sample* stands in for an array that is too large to be read whole: every so-many-th
element along each dimension, or the head of one that lies in a file. It is a view until it
is small; nothing is ever flattened, copied or reduced at full size.
"""

from __future__ import annotations

from . import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .objects import Classes

SAMPLE = 16_384  # elements read of a large array
HEAD = 4_096  # elements read of one in a file: each page may have to come from a slow disk
INFINITY = float("inf")
SMALL = 6  # elements that are shown one by one


def title(classes: Classes, shape: Any) -> str:
    """Write `Tensor[32, 10]`; a size that is only a symbol is left open."""
    sizes = ", ".join(str(size) if type(size) is int else "?" for size in shape)
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


def numbers(sample: Any, kind: str, library: Any) -> str:
    """Tell what the numbers of a small array are. numpy and torch share the names used here.

    The kind is a letter of numpy's: f(loat), i(nt), u(nsigned), b(ool) or c(omplex).
    """
    total = count(sample.shape)
    if not total:
        return "  empty"
    values = sample if kind == "c" else _as_double(sample, library)
    shown = _shown(values if kind == "f" else sample, kind) if total <= SMALL else ""
    if not tuple(sample.shape):
        return f" {shown}"
    told = [f"{int(values.sum()):,} True"] if kind == "b" else _spread(values, kind, library)
    return "".join("  " + one for one in [*told, shown] if one)


def _as_double(sample: Any, library: Any) -> Any:
    if hasattr(library, "ndarray"):
        return sample.astype(library.float64)
    return sample.to(library.float64)


def _spread(values: Any, kind: str, library: Any) -> list[str]:
    """Tell between which bounds the finite numbers are, and how many are not finite."""
    finite = library.isfinite(values)
    good, nan = int(finite.sum()), int(library.isnan(values).sum())
    infinite = count(values.shape) - good - nan
    told = []
    if kind != "c" and good:
        # Not `values[finite]`: torch starts its threads for that.
        low = _written(float(library.where(finite, values, INFINITY).min()), kind)
        high = _written(float(library.where(finite, values, -INFINITY).max()), kind)
        mean = float(library.where(finite, values, 0.0).sum()) / good
        same = low == high and good == count(values.shape)
        told = [f"all {low}" if same else f"min {low} max {high} mean {mean:.4g}"]
    counted = [f"{nan:,} NaN"] * bool(nan) + [f"{infinite:,} inf"] * bool(infinite)
    return [*told, " ".join(counted)]


def _shown(values: Any, kind: str) -> str:
    def write(one: Any) -> str:
        if type(one) is list:
            return f"[{', '.join(map(write, one))}]"
        return f"{one:.6g}" if kind == "f" else str(one)

    return write(values.tolist())


def _written(number: float, kind: str) -> str:
    """Write an int without a fraction, as long as a float holds it exactly."""
    return str(int(number)) if kind in "iu" and abs(number) < 2**53 else f"{number:.5g}"

"""Looking at the numbers of a tensor: whether all are finite, how large, which are not.

The first look is a sum, which reads once and keeps nothing: it is finite only if all numbers
are. Where it is not (it may have overflowed itself), the numbers are looked at in pieces, so
that a tensor of gigabytes needs no second one.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PIECE = 1 << 22  # elements looked at in one go
LISTED = 8  # indices of elements that are not finite


def readable(torch: Any, value: Any) -> bool:
    """Whether it is a tensor with numbers of its own that could be NaN."""
    cls = type(value)
    plain = cls is torch.Tensor or cls is torch.nn.Parameter
    if not plain and (not isinstance(value, torch.Tensor) or is_foreign(torch, cls)):
        return False
    if not (value.is_floating_point() or value.is_complex()):
        return False
    kind = value.device.type
    if kind == "meta" or value.numel() == 0 or not _has_numbers(torch, value):
        return False
    return kind != "cuda" or not torch.cuda.is_current_stream_capturing()


def _has_numbers(torch: Any, value: Any) -> bool:
    """Whether there is memory behind it: reading what has none ends the process."""
    if value.is_nested or value._is_zerotensor():
        return False
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        return False
    return value.layout is not torch.strided or bool(value.untyped_storage().nbytes())


def is_foreign(torch: Any, cls: Any) -> bool:
    """Whether a subclass keeps its numbers elsewhere, or only pretends to have some."""
    return cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def is_finite(torch: Any, value: Any) -> bool:
    """Whether all numbers are. Reads once; a second time only if the sum overflowed."""
    if value.layout is not torch.strided:
        value = _stored(torch, value)
        if value is None:
            return True
    total = (value.sum(dtype=torch.float32) if value.element_size() < 4 else value.sum()).item()
    if total - total == 0:
        return True
    return all(bool(torch.isfinite(piece).all()) for piece in pieces(torch, value))


def has_nan(torch: Any, value: Any) -> bool:
    """Whether one of the numbers is NaN."""
    value = value if value.layout is torch.strided else _stored(torch, value)
    if value is None:
        return False
    return any(bool(torch.isnan(piece).any()) for piece in pieces(torch, value))


def _stored(torch: Any, value: Any) -> Any:
    """Give the numbers that a sparse tensor keeps; None for a layout that has no such thing."""
    try:
        return value._values() if value.layout is torch.sparse_coo else value.values()
    except (RuntimeError, NotImplementedError):
        return None


def pieces(torch: Any, value: Any) -> Any:
    """Give the numbers in parts that are small, as views where that can be; as f32 if smaller."""
    value = value.detach()
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    left = [value]
    while left:
        part = left.pop()
        if part.numel() <= PIECE or not part.dim():
            yield part.float() if part.element_size() < 2 else part
            continue
        widest = max(range(part.dim()), key=lambda dim: part.shape[dim])
        left += reversed(part.chunk(2, widest))


def facts(torch: Any, value: Any) -> dict[str, Any]:
    """Count NaN and inf, and give the range of the finite rest."""
    found: dict[str, Any] = {
        "shape": list(value.shape),
        "dtype": str(value.dtype).replace("torch.", ""),
        "device": str(value.device),
        "elements": value.numel(),
        "nan": 0,
        "inf": 0,
        "minus_inf": 0,  # of these
        "min": None,
        "max": None,
    }
    plain = value if value.layout is torch.strided else _stored(torch, value)
    if plain is None or not plain.numel():
        return found
    for piece in pieces(torch, plain):
        _add(torch, found, piece)
    return found


def _add(torch: Any, found: dict[str, Any], piece: Any) -> None:
    if piece.dtype is torch.bool:
        piece = piece.to(torch.uint8)
    low, high = (one.item() for one in torch.aminmax(piece))
    if not math.isfinite(high - low):  # or one that overflowed: then nothing is counted
        found["nan"] += int(torch.isnan(piece).sum())
        found["inf"] += int(torch.isinf(piece).sum())
        found["minus_inf"] += int(torch.isneginf(piece).sum())
        piece = piece[torch.isfinite(piece)]
        if not piece.numel():
            return
        low, high = (one.item() for one in torch.aminmax(piece))
    found["min"] = low if found["min"] is None else min(low, found["min"])
    found["max"] = high if found["max"] is None else max(high, found["max"])


def largest(torch: Any, value: Any) -> float | None:
    """Give max |x| of a strided tensor; None if it is empty or not finite."""
    if value.layout is not torch.strided or value.is_complex():
        return None
    most = 0.0
    for piece in pieces(torch, value):
        low, high = (one.item() for one in torch.aminmax(piece))
        if math.isnan(high - low):  # NaN, or inf - inf
            return None
        most = max(most, -low, high)
    return most if math.isfinite(most) else None


def indices(torch: Any, value: Any, wrong: Any = None) -> list[list[int]]:
    """Give the first indices where it is not finite, or where `wrong` (a function) says so."""
    if value.layout is not torch.strided or value.is_complex():
        return []
    wrong = wrong or (lambda one: ~torch.isfinite(one))
    plain = value.detach()
    if plain.numel() > PIECE and plain.is_contiguous():
        return _indices_in_pieces(plain, wrong)
    plain = plain.float() if plain.element_size() < 2 else plain
    return [list(map(int, row)) for row in wrong(plain).nonzero()[:LISTED].tolist()]


def _indices_in_pieces(plain: Any, wrong: Any) -> list[list[int]]:
    flat = plain.view(-1)
    for start in range(0, flat.numel(), PIECE):
        part = flat[start : start + PIECE]
        found = wrong(part.float() if part.element_size() < 2 else part).nonzero()[:LISTED]
        if found.numel():
            return [_unravelled(start + int(at), plain.shape) for (at,) in found.tolist()]
    return []


def _unravelled(at: int, shape: Any) -> list[int]:
    found: list[int] = []
    for size in reversed(shape):
        at, rest = divmod(at, size)
        found.insert(0, rest)
    return found


def shown(number: float) -> str:
    """Write a number as people do: 0.02, 70,000, 3.4e+38."""
    if not math.isfinite(number):
        return str(number)
    if number == int(number) and abs(number) < 1e7:
        return f"{int(number):,}"
    return f"{number:,.1f}" if 1000 <= abs(number) < 1e7 else f"{number:.4g}"

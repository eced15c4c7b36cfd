"""Tensors that keep their numbers elsewhere than in a plain block of memory.

Sparse, quantized, nested and batched ones, and those that wrap others. Each gives the plain
tensor that its numbers lie in, and the words that say what this is; no method of a subclass
is called, and what would have to be copied at full size is left alone.
"""

from __future__ import annotations

from . import objects, samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .objects import Classes

    # What precedes the numbers, the tensor that has them, and what is said after them.
    Part = tuple[str, Any, str]

PARTS = 3  # of a tensor that wraps others
SIZES = 4_096  # of a nested tensor that are compared


def nested_shape(value: Any, torch: Any) -> list[Any]:
    """Give the sizes of a nested tensor; "2..3" for those that are not the same in each."""
    tensor = torch.Tensor
    held = objects.instance_dict(value)
    offsets: Any = held.get("_offsets")
    at: Any = held.get("_ragged_idx", 1)
    if type(offsets) is tensor:
        sizes = list(tensor.shape.__get__(value))
        sizes[at] = _range(offsets.diff().tolist()) if offsets.numel() <= SIZES else "?"
        return sizes
    each = tensor._nested_tensor_size(value)
    if not each.numel() or each.numel() > SIZES:
        return [tensor.size(value, 0)] + ["?"] * (tensor.dim(value) - 1)
    return [len(each), *map(_range, each.t().tolist())]


def _range(sizes: list[int]) -> Any:
    if not sizes:
        return "?"
    low, high = min(sizes), max(sizes)
    return low if low == high else f"{low}..{high}"


def is_nested(value: Any, tensor: Any) -> bool:
    """Whether it holds tensors of several sizes."""
    return hasattr(tensor, "is_nested") and bool(tensor.is_nested.__get__(value))


def is_plain(value: Any, classes: Classes, torch: Any) -> bool:
    """Whether its numbers are its own, in a block of memory."""
    tensor = torch.Tensor
    if tensor.layout.__get__(value) is not torch.strided or tensor.is_quantized.__get__(value):
        return False
    if is_nested(value, tensor) or _is_transformed(value, torch):
        return False
    return _is_plain_class(classes, tensor)


def _is_transformed(value: Any, torch: Any) -> bool:
    """Whether `vmap` or `grad` of torch.func has it wrapped."""
    functorch = getattr(torch._C, "_functorch", None)
    return functorch is not None and bool(functorch.is_functorch_wrapped_tensor(value))


def parts_of(value: Any, classes: Classes, torch: Any) -> list[Part]:
    """Give what holds its numbers; nothing if there is no such thing, or it would cost much."""
    tensor = torch.Tensor
    if _is_transformed(value, torch):
        return [_unwrapped(value, torch._C._functorch)]
    if not _is_plain_class(classes, tensor):
        return _wrapped(value, tensor)
    if tensor.is_quantized.__get__(value):
        return _quantized(value, torch)
    plain = tensor.detach(value)
    if is_nested(value, tensor):
        return [("", tensor.values(plain), "")]
    layout = tensor.layout.__get__(value)
    if layout is torch._mkldnn:
        small = samples.count(tensor.shape.__get__(value)) <= samples.SAMPLE
        return [("", tensor.to_dense(plain), "")] if small else []
    return [_stored(plain, tensor, coo=layout is torch.sparse_coo)]


def _is_plain_class(classes: Classes, tensor: Any) -> bool:
    """Whether its numbers are its own: a subclass may keep them somewhere else, or have none."""
    dispatcher = objects.owner_of(classes, "__torch_dispatch__")
    return objects.is_one((tensor, *tensor.__bases__), dispatcher)


def _unwrapped(value: Any, functorch: Any) -> Part:
    """Find the tensor that `vmap` and `grad` of torch.func work on."""
    over = []
    while functorch.is_functorch_wrapped_tensor(value):
        at = functorch.maybe_get_bdim(value) if functorch.is_batchedtensor(value) else -1
        value = functorch.get_unwrapped(value)
        over += [str(value.shape[at])] if at >= 0 else []
    return (f"  vmap over {' × '.join(over)}" if over else "", value, "")


def _wrapped(value: Any, tensor: Any) -> list[Part]:
    """Find the tensors that a subclass of another's keeps, by their names there."""
    held = [
        (name, one)
        for name, one in objects.attributes(value)
        if objects.is_one(objects.classes_of(one), tensor)
    ]
    if is_nested(value, tensor):  # its offsets have been told by its shape
        held = [(name, one) for name, one in held if name == "_values"]
        return [("", one, "") for _, one in held]
    own = list(tensor.shape.__get__(value))
    return [
        (f"  {name.strip('_')}{_other(one, own, tensor)}:", one, "") for name, one in held[:PARTS]
    ]


def _other(one: Any, own: list[Any], tensor: Any) -> str:
    """Write the shape of a part, if it is another: the share of this process, say."""
    shape = list(tensor.shape.__get__(one))
    return "" if shape == own else str(shape)


def _quantized(value: Any, torch: Any) -> list[Part]:
    """Turn as many numbers back as are looked at, from the memory that they lie in."""
    tensor = torch.Tensor
    shape, whole = tensor.shape.__get__(value), _whole(tensor.detach(value), torch)
    cut, label = samples.sample(shape)
    scheme = tensor.qscheme(value)
    if scheme in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        scale, zero = tensor.q_scale(value), tensor.q_zero_point(value)
        told = f" scale {scale:.4g} zero {zero}"
    else:
        at = tensor.q_per_channel_axis(value)
        told = f" a scale for each of dimension {at}"
        along = [-1 if dim == at else 1 for dim in range(len(shape))]
        step = cut[at] if cut else slice(None)
        scale = tensor.q_per_channel_scales(value)[step].reshape(along)
        zero = tensor.q_per_channel_zero_points(value)[step].reshape(along)
    if whole is None:
        return [(told, None, "")]
    return [(told, (whole[cut or ...].to(torch.float32) - zero) * scale, label)]


def _whole(value: Any, torch: Any) -> Any:
    """Give the whole numbers of a quantized tensor, as a view; None if several share a byte."""
    tensor = torch.Tensor
    kinds = {torch.qint8: torch.int8, torch.quint8: torch.uint8, torch.qint32: torch.int32}
    kind = kinds.get(tensor.dtype.__get__(value))
    if kind is None:
        return None
    storage, offset = tensor.untyped_storage(value), tensor.storage_offset(value)
    shape, stride = tensor.shape.__get__(value), tensor.stride(value)
    return torch.empty(0, dtype=kind, device="cpu").set_(storage, offset, shape, stride)


def _stored(value: Any, tensor: Any, coo: bool) -> Part:
    """Find what a sparse tensor stores, and how much that is."""
    stored = tensor._values(value) if coo else tensor.values(value)
    held, size = samples.count(stored.shape), samples.count(tensor.shape.__get__(value))
    share = f" ({held / size:.2g} of all)" if size and held else ""
    return (f"  {held:,} stored{share}", stored if held else None, "")

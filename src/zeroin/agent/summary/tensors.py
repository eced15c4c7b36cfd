"""Torch: tensors by shape, type, device and numbers, models by their parts and parameters.

A GPU is never asked: that would wait for all that it still has to do, or fail again.
"""

from __future__ import annotations

import sys

from . import objects, samples, unusual

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .objects import Classes
    from .samples import Form

WORDS = ("dtype", "device", "layout", "memory_format")  # types whose values are just names
NAMED = 6  # parts of a model
DEEP = 3  # tensors that wrap tensors
MODULES = 2_000  # parts of a model that are counted


def describe(value: Any, classes: Classes, form: Form) -> str | None:
    """Tell a tensor or a model; None for what is neither."""
    torch = sys.modules.get("torch")
    if any(classes[0] is objects.loaded("torch", name) for name in WORDS):
        return f"{objects.name_of(classes[0])}({_short(value)})"
    is_tensor = objects.is_one(classes, objects.loaded("torch", "Tensor"))
    if torch is None or not (is_tensor or _has_models_repr(classes)):
        return None
    traced = _pause_tracing(torch, None)
    try:
        # Or a subclass could answer for its tensors, or what we do be a part of `torch.func.grad`.
        with torch._C.DisableTorchFunction(), _outside_of_transforms(torch._C):
            if is_tensor:
                return _tensor(value, classes, torch, form)
            return _model(value, torch.Tensor, form) if form.full else objects.name_of(classes[0])
    finally:
        if traced is not None:
            _pause_tracing(torch, traced)


def _pause_tracing(torch: Any, state: Any) -> Any:
    """Set what `torch.jit.trace` is at, and give what it was: our steps are none of the model's."""
    before = getattr(torch._C, "_get_tracing_state", lambda: None)()
    if before is not state:
        torch._C._set_tracing_state(state)
    return before


def _outside_of_transforms(inner: Any) -> Any:
    """Leave the transforms of torch.func: within, the result of any step is wrapped again."""
    functorch = getattr(inner, "_functorch", None)
    if getattr(functorch, "maybe_current_level", bool)() in (None, False):
        return inner.DisableTorchFunction()  # as it is already
    keys = inner.DispatchKey
    front = inner.DispatchKeySet(keys.FuncTorchDynamicLayerFrontMode)
    back = inner.DispatchKeySet(keys.FuncTorchDynamicLayerBackMode)
    return inner._ExcludeDispatchKeyGuard(front | back)


def _has_models_repr(classes: Classes) -> bool:
    """Whether it is a model, without a repr of the user's own."""
    owner = objects.owner_of(classes, "__repr__")
    is_model = objects.is_one(classes, objects.loaded("torch.nn", "Module"))
    return is_model and objects.module_of(owner).partition(".")[0] == "torch"


def _tensor(value: Any, classes: Classes, torch: Any, form: Form) -> str:
    tensor = torch.Tensor
    about = f" {form.kind(_short(tensor.dtype.__get__(value)))} {tensor.device.__get__(value)}"
    if any(objects.name_of(cls) == "UninitializedTensorMixin" for cls in classes):
        return f"{objects.name_of(classes[0])}{about} not initialised yet"
    nested, layout = unusual.is_nested(value, tensor), tensor.layout.__get__(value)
    shape = _nested_shape(value, torch) if nested else tensor.shape.__get__(value)
    text: str = samples.title(classes, shape) + about
    if nested:
        text += " nested"
    elif layout is not torch.strided:
        text += f" {_short(layout).lstrip('_')}"
    text += " grad" * tensor.requires_grad.__get__(value)
    if not (form.full or samples.is_single(shape)):
        return text
    try:
        return text + _numbers(value, classes, torch, form)
    except BaseException:  # the interrupt of a stranger's mode is no reason to lose the shape
        return text


def _nested_shape(value: Any, torch: Any) -> list[Any]:
    """Give the sizes, which can't be asked for under a stranger's mode."""
    if not _is_ours(value, torch):
        return ["?"] * torch.Tensor.dim(value)
    return unusual.nested_shape(value, torch)


def _numbers(value: Any, classes: Classes, torch: Any, form: Form, depth: int = 0) -> str:
    """Tell the numbers of a tensor, or of those in which its numbers are."""
    if not _is_ours(value, torch):
        return ""
    if unusual.is_plain(value, classes, torch):
        return _plain_numbers(value, torch, form)
    told = ""
    for before, inner, after in unusual.parts_of(value, classes, torch):
        numbers = ""
        if inner is not None and depth < DEEP:
            numbers = _numbers(inner, objects.classes_of(inner), torch, form, depth + 1) + after
        told += before + (" " + numbers.lstrip() if before.endswith(":") else numbers)
    return told


def _plain_numbers(value: Any, torch: Any, form: Form) -> str:
    if _is_freed(value, torch.Tensor):
        return "  storage freed"
    dtype = torch.Tensor.dtype.__get__(value)
    kind = "b" if dtype is torch.bool else "c" if dtype.is_complex else "i"
    kind = "f" if dtype.is_floating_point else kind
    return samples.sampled(torch.Tensor.detach(value), kind, torch, form)


def _short(name: Any) -> str:
    return str(name).replace("torch.", "")


def _is_ours(value: Any, torch: Any) -> bool:
    """Whether it may be read: on no GPU, and with no mode of the user's that would be asked."""
    if torch.Tensor.device.__get__(value).type != "cpu":
        return False
    return not getattr(torch._C, "_len_torch_dispatch_stack", int)()


def _is_freed(value: Any, tensor: Any) -> bool:
    """Whether the storage is gone, as FSDP does with what it keeps elsewhere: reading kills."""
    shape, stride = tensor.shape.__get__(value), tensor.stride(value)
    last = sum((size - 1) * step for size, step in zip(shape, stride))
    needed = (tensor.storage_offset(value) + last + 1) * tensor.element_size(value)
    storage = getattr(tensor, "untyped_storage", tensor.storage)  # the latter before torch 2.0
    return bool(samples.count(shape) and storage(value).nbytes() < needed)


def _model(value: Any, tensor: Any, form: Form) -> str:
    """Count the parameters of a model, and name its first parts."""
    parts = _held(value, "_modules")
    names = [f"{name} {objects.name_of(type(part))}" for name, part in parts[:NAMED]]
    parameters = _parameters(value)
    text = objects.name_of(type(value))
    text += ": " + ", ".join(names + ["…"] * (len(parts) > NAMED)) if names else ""
    total = sum(samples.count(tensor.shape.__get__(one)) for one in parameters)
    text += f"  {total:,} parameters"
    if parameters:
        first = parameters[0]
        kind = form.kind(_short(tensor.dtype.__get__(first)))
        text += f" {kind} {tensor.device.__get__(first)}"
    training = objects.instance_dict(value).get("training")
    return text + ("  training" if training is True else "  eval" if training is False else "")


def _parameters(model: Any) -> list[Any]:
    """List the parameters of a model and its parts, a shared one once."""
    found: dict[int, Any] = {}
    seen, left = {id(model)}, [model]
    while left and len(seen) < MODULES:
        part = left.pop()
        found.update((id(one), one) for _, one in _held(part, "_parameters") if one is not None)
        for _, inner in _held(part, "_modules"):
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                left.append(inner)
    return list(found.values())


def _held(module: Any, name: str) -> list[tuple[Any, Any]]:
    held: Any = objects.instance_dict(module).get(name)
    return list(dict.items(held)) if objects.is_one(objects.classes_of(held), dict) else []

"""How much memory this process has, said in one line."""

from __future__ import annotations

import sys

from ..amounts import size
from ..memory import in_use, peak, resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def words() -> str:
    """`memory 812 MB, peak 1.2 GB, in use 640 MB · 214 tensors 480 MB`."""
    parts = [f"memory {size(resident())}", f"peak {size(peak())}"]
    used = in_use()
    if used is not None:
        parts.append(f"in use {size(used)}")
    text = ", ".join(parts)
    tensors = _tensors()
    return f"{text} · {tensors}" if tensors else text


def _tensors() -> str:
    """Tensors of torch that are alive, if it is loaded; views share what they view."""
    torch: Any = sys.modules.get("torch")
    kind = getattr(torch, "Tensor", None)
    if not isinstance(kind, type):
        return ""
    import gc

    count, seen = 0, {}
    every: list[Any] = gc.get_objects()
    for one in every:
        try:
            if issubclass(type(one), kind):  # what it says itself of its class may run its code
                count += 1
                storage = one.untyped_storage()
                seen[str(one.device), storage.data_ptr()] = storage.nbytes()
        except Exception:  # a proxy that answers for what is gone, or a tensor without storage
            continue
    text = f"{count:,} tensors {size(sum(seen.values()))}"
    cuda = getattr(torch, "cuda", None)
    if cuda is not None and cuda.is_initialized():
        for device in range(cuda.device_count()):
            text += f" · cuda:{device} {size(cuda.memory_allocated(device))}"
            text += f", peak {size(cuda.max_memory_allocated(device))}"
    return text

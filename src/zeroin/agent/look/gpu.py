"""Memory on GPUs, by torch's own counters, where torch is loaded and has begun to use one.

Nothing is waited for: the counters are those of the allocator in this process. Its peak is
reset at the start of a section only where that is wanted: a program that reads
`torch.cuda.max_memory_allocated()` itself reads what was most since then.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEVICES = 16  # of a machine that are looked at


def levels() -> list[int]:
    """Give the bytes in use on each device; none where no GPU is in use."""
    cuda = _cuda()
    return [] if cuda is None else [int(cuda.memory_allocated(at)) for at in _devices(cuda)]


def reset() -> None:
    """Count the peak from now on."""
    cuda = _cuda()
    for at in _devices(cuda) if cuda is not None else ():
        cuda.reset_peak_memory_stats(at)


def peaks() -> list[int]:
    """Give the most bytes in use on each device since the last reset."""
    cuda = _cuda()
    return [] if cuda is None else [int(cuda.max_memory_allocated(at)) for at in _devices(cuda)]


def _devices(cuda: Any) -> range:
    return range(min(int(cuda.device_count()), DEVICES))


def _cuda() -> Any:
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    try:
        return cuda if cuda is not None and cuda.is_initialized() else None
    except Exception:  # half imported
        return None


class Peaks:
    """The peak inside each open section, on each device: what the counters had goes to all."""

    def __init__(self) -> None:
        self.open: list[Any] = []  # with the attributes `gpu_peaks` and `gpu_hidden`

    def begin(self, span: Any, may_reset: bool) -> None:
        """Count for this one from now on."""
        if _cuda() is None:
            return
        self._fold()
        if may_reset:
            reset()
        span.gpu_peaks = levels()
        span.gpu_hidden = [most if most > now else -1 for most, now in zip(peaks(), span.gpu_peaks)]
        self.open.append(span)

    def end(self, span: Any) -> list[int | None]:
        """Give its peaks, None where there was more before; none if no GPU was in use then."""
        if span not in self.open:
            return []
        self._fold()
        self.open = [one for one in self.open if one is not span]
        hidden = span.gpu_hidden + [-1] * len(span.gpu_peaks)
        return [most if most > had else None for most, had in zip(span.gpu_peaks, hidden)]

    def _fold(self) -> None:
        high = peaks() if self.open else []
        for one in self.open:
            had = one.gpu_peaks + [0] * (len(high) - len(one.gpu_peaks))
            one.gpu_peaks = [max(pair) for pair in zip(had, high)] or had

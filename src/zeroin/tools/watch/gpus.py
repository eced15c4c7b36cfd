"""The panel of GPUs: each device, and below it who holds its memory."""

from __future__ import annotations

import time

from zeroin.observe.watch import gpus
from zeroin.tools.watch.things import Panel, Peak, Thing, new_curve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Mapping

    from zeroin.observe.watch.processes import Process

PATIENCE = 5.0  # seconds without an answer until that is said
NONE = "no GPU here: neither nvidia-smi nor rocm-smi is on PATH"


class Gpus:
    """Asked for all panels: that of processes wants to know their memory, too."""

    def __init__(self) -> None:
        tool = gpus.tool()
        self._asker = gpus.Asker(tool) if tool else None
        if self._asker is not None:
            self._asker.start()

    @property
    def answer(self) -> gpus.Answer | None:
        """What was said last."""
        return self._asker.answer if self._asker else None

    @property
    def trouble(self) -> str:
        """Why there is no answer."""
        asker = self._asker
        if asker is None:
            return NONE
        silent = time.monotonic() - asker.asked_at if asker.asked_at > asker.at else 0.0
        if silent > PATIENCE:
            return f"{asker.tool} has not answered for {silent:.0f} s: the driver may hang"
        if asker.error:
            return f"{asker.tool}: {asker.error}"
        return "" if asker.answer else f"asking {asker.tool}"

    def by_process(self) -> dict[int, int]:
        """Bytes of each process on all devices."""
        return self.answer.by_process() if self.answer else {}

    def wait(self, seconds: float) -> None:
        """For the first answer, where there is no second look."""
        if self._asker is not None:
            self._asker.first.wait(seconds)

    def close(self) -> None:
        """Stop asking."""
        if self._asker is not None:
            self._asker.stop()


class GpuPanel:
    """All devices."""

    kind = "gpu"

    def __init__(self, what: str, asked: Gpus) -> None:
        self.what = what
        self.peak = Peak()
        self.peaks: dict[int, Peak] = {}
        self._asked = asked
        self._curves: dict[int, tuple[deque[float], deque[float]]] = {}

    def look(self, stamp: float, processes: Mapping[int, Process]) -> Panel:
        """What was said last."""
        answer = self._asked.answer
        if answer is None:
            return Panel(self.what, self.kind, [], message=self._asked.trouble)
        things: list[Thing] = []
        self.peak.take(sum(gpu.used or 0 for gpu in answer.gpus), stamp)
        for gpu in answer.gpus:
            things.append(self._device(gpu, stamp))
            things += _holders(answer, gpu.device, processes)
        things += _holders(answer, -1, processes)
        message = self._asked.trouble or ("" if things else "it lists no device")
        return Panel(self.what, self.kind, things, number=len(answer.gpus), message=message)

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""
        self.peak, self.peaks = Peak(), {}

    def _device(self, gpu: gpus.Gpu, stamp: float) -> Thing:
        peak = self.peaks.setdefault(gpu.device, Peak())
        peak.take(gpu.used, stamp)
        memory, busy = self._curves.setdefault(gpu.device, (new_curve(), new_curve()))
        memory.append(gpu.used or 0)
        busy.append(gpu.busy or 0.0)
        free = None if gpu.used is None or gpu.total is None else gpu.total - gpu.used
        heat = [f"{gpu.degrees:.0f} °C"] if gpu.degrees is not None else []
        power = [f"{gpu.watts:.0f} W"] if gpu.watts is not None else []
        return Thing(
            f"{gpu.device} {gpu.name}",
            state=", ".join(heat + power) or None,
            cpu=gpu.busy,
            used=gpu.used,
            free=free,
            total=gpu.total,
            peak=int(peak.value),
            curve=memory,
            cpu_curve=busy,
        )


def _holders(answer: gpus.Answer, index: int, processes: Mapping[int, Process]) -> list[Thing]:
    found = [(size, pid) for (device, pid), size in answer.held.items() if device == index]
    things = []
    for size, pid in sorted(found, reverse=True):
        process = processes.get(pid)
        # In a container the driver's numbers are those of the host.
        name = process.command if process else "(not seen from here)"
        things.append(Thing(name, pid=pid, gpu=size, depth=1))
    return things

"""`gpu-free=SIZE[@DEVICE]`: a device on which others have taken all but so much.

A process of ours takes the rest through the CUDA driver, and holds it until the command has ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from zeroin.emulate import values
from zeroin.emulate.part import Backend, Effect, Kind, Limit, Part
from zeroin.errors import UntestableError, UsageError
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.emulate.part import Ending, Scene

SCRIPT = os.path.join(os.path.dirname(__file__), "gpu_holder.py")
SECONDS = 60.0  # for the driver to start
SAYS_NO_MEMORY = (
    "CUDA out of memory",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "OutOfMemoryError",
    "CUDA error",
)


def read(name: str, value: str) -> Limit:
    """`2G`, `10%`, `2G@1`."""
    amount, at, device = value.partition("@")
    if at and not (device.isascii() and device.isdigit()):
        raise UsageError(
            f"--limit {name}={value}: {device!r} is no device", hint=f"write {name}=2G@0"
        )
    limit = values.read_size(name, amount)
    return limit._replace(text=f"{name}={value}", target=device or "0")


class Held(Part):
    """What the process holds."""

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, "memory held through the CUDA driver")
        limit = limits[0]
        wanted = repr(float(limit.amount)) if limit.share else str(int(limit.amount))
        self._process = _start(limit.target, wanted, scene)
        self.helpers = (self._process.pid,)
        self._said = _answer(self._process)
        try:
            self._check(limit)
        except BaseException:
            self.close()
            raise

    def _check(self, limit: Limit) -> None:
        if "short" in self._said:
            raise UsageError(
                f"--limit {limit.text}: only {size(self._said['short'])} of "
                f"{size(self._said['total'])} are free there now",
                hint="take a smaller size, or end what uses the device",
            )
        if "error" in self._said:
            raise UntestableError(f"--limit {limit.text}: {self._said['error']}")

    def effects(self, ending: Ending) -> list[Effect]:
        """The program says when it gets no more."""
        reached = ending.failed and any(words in ending.said for words in SAYS_NO_MEMORY)
        said = self._said
        detail = f"{size(said['free'])} of {size(said['total'])} left free at the start"
        return [Effect(self.limits[0].text, self.backend, reached, detail)]

    def close(self) -> None:
        """It frees all when its stdin closes."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _start(device: str, wanted: str, scene: Scene) -> subprocess.Popen[bytes]:
    """With the command's own environment: devices are numbered by what is visible to it."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", SCRIPT, device or "0", wanted],
        env=dict(scene.env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the command
    )


def _answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Its one line; a driver may hang, so not for ever."""
    import select

    stream = process.stdout
    if stream is None or not select.select([stream], [], [], SECONDS)[0]:
        return {"error": "the CUDA driver does not answer"}
    line = stream.readline()
    said: dict[str, Any] = json.loads(line) if line else {"error": "the CUDA driver crashed"}
    return said


def _lacks(limits: Sequence[Limit], scene: Scene) -> str:
    process = _start(limits[0].target, "probe", scene)
    try:
        return str(_answer(process).get("error") or "")
    finally:
        process.kill()
        process.communicate()


KINDS = {
    "gpu-free": Kind(
        "gpu-free",
        "so much free memory on a CUDA device",
        read,
        (Backend("memory held through the CUDA driver", _lacks, Held),),
    )
}

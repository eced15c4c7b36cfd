"""GPUs, by what their vendors' own commands say: nvidia-smi, else rocm-smi.

They take a tenth of a second or more, and hang when a driver does. So a thread asks them, once
a second at most, and the others go on with what they said last.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACE = 1.0  # seconds between two questions
PATIENCE = 20.0  # seconds for an answer
MIB = 1 << 20
DEVICES = "index,uuid,name,memory.used,memory.total,utilization.gpu,temperature.gpu,power.draw"
HOLDERS = "gpu_uuid,pid,used_gpu_memory"


class Gpu(NamedTuple):
    """One device. None where the device does not tell."""

    device: int
    name: str
    used: int | None  # bytes
    total: int | None
    busy: float | None  # percent of the time
    degrees: float | None  # Celsius
    watts: float | None


class Answer(NamedTuple):
    """All devices, and who holds memory on which: (device, pid) → bytes."""

    gpus: list[Gpu]
    held: dict[tuple[int, int], int]

    def by_process(self) -> dict[int, int]:
        """Bytes of each process, over all devices."""
        found: dict[int, int] = {}
        for (_, pid), size in self.held.items():
            found[pid] = found.get(pid, 0) + size
        return found


class Asker(threading.Thread):
    """Asks again and again until told to stop."""

    def __init__(self, tool: str) -> None:
        super().__init__(name="gpu", daemon=True)
        self.tool = tool
        self.answer: Answer | None = None
        self.error = ""
        self.asked_at = time.monotonic()
        self.at = 0.0  # monotonic; of the last answer
        self.first = threading.Event()
        self._ended = threading.Event()
        self._process: subprocess.Popen[str] | None = None

    def run(self) -> None:
        """Each answer takes the place of the one before."""
        ask = nvidia if "nvidia" in os.path.basename(self.tool) else rocm
        while not self._ended.is_set():
            self.asked_at = time.monotonic()
            try:
                self.answer = ask(self)
                self.error = ""
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                if not self._ended.is_set():
                    self.answer, self.error = None, _said(error)
            self.at = time.monotonic()
            self.first.set()
            self._ended.wait(PACE)

    def stop(self) -> None:
        """End, and whoever is being asked as well."""
        self._ended.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()

    def output(self, *options: str) -> str:
        """What the command prints."""
        words = [self.tool, *options]
        with subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is for us alone
        ) as self._process:
            try:
                text, _ = self._process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                raise
        if self._process.returncode:
            raise subprocess.CalledProcessError(self._process.returncode, words, text)
        return text


def tool() -> str | None:
    """The command that is there."""
    return shutil.which("nvidia-smi") or shutil.which("rocm-smi")


def nvidia(asker: Asker) -> Answer:
    """Two questions, each a table of values."""
    devices = asker.output(f"--query-gpu={DEVICES}", "--format=csv,noheader,nounits")
    gpus, indices = [], {}
    for row in _rows(devices, 8):
        index = int(row[0])
        indices[row[1]] = index
        used, total = (None if v is None else int(v * MIB) for v in map(_number, row[3:5]))
        gpus.append(Gpu(index, row[2], used, total, *map(_number, row[5:8])))
    held: dict[tuple[int, int], int] = {}
    holders = asker.output(f"--query-compute-apps={HOLDERS}", "--format=csv,noheader,nounits")
    for row in _rows(holders, 3):
        size = _number(row[2])
        if row[1].isdigit() and row[0] in indices:
            key = indices[row[0]], int(row[1])
            held[key] = held.get(key, 0) + int((size or 0) * MIB)
    return Answer(gpus, held)


def rocm(asker: Asker) -> Answer:
    """One question, answered as JSON: a card each, and the processes under `system`."""
    options = ("--showproductname", "--showmeminfo", "vram", "--showuse", "--showtemp")
    text = asker.output(*options, "--showpower", "--showpids", "--json")
    said: dict[str, dict[str, Any]] = json.loads(text[text.index("{") :])
    gpus = []
    for card, values in said.items():
        if card.startswith("card") and card[4:].isdigit():
            used, total = (
                _whole(values.get(f"VRAM Total {which}Memory (B)")) for which in ("Used ", "")
            )
            name = str(values.get("Card series") or values.get("Card Series") or card)
            busy = _number(str(values.get("GPU use (%)")))
            degrees = _number(str(values.get("Temperature (Sensor edge) (C)")))
            watts = _number(str(values.get("Average Graphics Package Power (W)")))
            gpus.append(Gpu(int(card[4:]), name, used, total, busy, degrees, watts))
    held = {}
    for key, value in said.get("system", {}).items():
        parts = [part.strip() for part in str(value).split(",")]
        if key.startswith("PID") and key[3:].isdigit() and len(parts) > 2 and parts[2].isdigit():
            # It does not say on which device: -1.
            held[-1, int(key[3:])] = int(parts[2])
    return Answer(gpus, held)


def _rows(text: str, columns: int) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return [row for row in rows if len(row) == columns]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:  # [N/A], [Not Supported]
        return None


def _whole(value: object) -> int | None:
    number = _number(str(value))
    return None if number is None else int(number)


def _said(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.output or "").strip().splitlines()
        return f"exit code {error.returncode}" + (f": {lines[-1]}" if lines else "")
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer for {PATIENCE:.0f} s"
    return str(error)

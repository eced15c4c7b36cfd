"""The machine as a whole: memory, processors, network. A container's own limits count."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple


class Memory(NamedTuple):
    """Bytes; of the container where it has a limit of its own."""

    total: int
    available: int
    swap_total: int
    swap_free: int
    limit: int | None = None  # of the control group we are in
    limit_used: int | None = None


def memory(proc: str = "/proc", groups: str = "/sys/fs/cgroup") -> Memory:
    """As the kernel counts it: what could be had without swapping is available."""
    sizes: dict[str, int] = {}
    with open(f"{proc}/meminfo", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            words = value.split()
            if words:
                sizes[name] = int(words[0]) * 1024
    available = sizes.get("MemAvailable", sizes.get("MemFree", 0))
    limit, used = _group(proc, groups)
    return Memory(
        sizes.get("MemTotal", 0),
        available,
        sizes.get("SwapTotal", 0),
        sizes.get("SwapFree", 0),
        limit,
        used,
    )


def _group(proc: str, groups: str) -> tuple[int | None, int | None]:
    """The limit of our control group, and what counts towards it; file caches do not."""
    try:
        with open(f"{proc}/self/cgroup", encoding="utf-8") as file:
            own = next(line for line in file if line.startswith("0::"))[3:].strip()
        folder = groups + own.rstrip("/")
        with open(f"{folder}/memory.max", encoding="ascii") as file:
            text = file.read().strip()
        if text == "max":
            return None, None
        with open(f"{folder}/memory.current", encoding="ascii") as file:
            used = int(file.read())
        with open(f"{folder}/memory.stat", encoding="ascii") as file:
            cached = sum(int(line.split()[1]) for line in file if line.startswith("inactive_file "))
        return int(text), max(0, used - cached)
    except (OSError, StopIteration, ValueError):
        return None, None


class Ticks(NamedTuple):
    """Processor time so far: busy and in all."""

    busy: int
    whole: int


def processors(proc: str = "/proc") -> list[Ticks]:
    """All together first, then each."""
    found = []
    with open(f"{proc}/stat", "rb") as file:
        for line in file:
            if not line.startswith(b"cpu"):
                break
            # user nice system idle iowait irq softirq steal; guests are in user already
            fields = [int(word) for word in line.split()[1:9]]
            idle = fields[3] + (fields[4] if len(fields) > 4 else 0)
            found.append(Ticks(sum(fields) - idle, sum(fields)))
    return found


def load() -> tuple[float, float, float]:
    """How many wanted a processor: in the last minute, five, fifteen."""
    return os.getloadavg()


def network(proc: str = "/proc") -> dict[str, tuple[int, int]]:
    """Bytes received and sent so far by each interface that ever was used."""
    found = {}
    try:
        with open(f"{proc}/net/dev", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, colon, rest = line.partition(":")
                fields = rest.split()
                if colon and len(fields) >= 9 and (int(fields[0]) or int(fields[8])):
                    found[name.strip()] = int(fields[0]), int(fields[8])
    except OSError:
        pass
    return found

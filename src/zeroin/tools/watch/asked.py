"""From what was asked for on the command line to what is looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from zeroin.errors import UsageError, ZeroinError
from zeroin.tools.watch.gpus import GpuPanel, Gpus
from zeroin.tools.watch.machine import Cpu, Disk, Memory, Net
from zeroin.tools.watch.outputs import File
from zeroin.tools.watch.processes import Choice, Processes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.tools.watch.things import Panel

MACHINE: dict[str, type[Memory | Cpu | Net]] = {
    "memory": Memory,
    "mem": Memory,
    "cpu": Cpu,
    "net": Net,
}
KINDS = (
    "a word of a command line, a PID, all, attempt, gpu, memory, cpu, net, "
    "disk:FOLDER or file:LOG; name:WORD for a program that is called like one of these"
)


class Looked(Protocol):
    """Anything that gives a panel each time."""

    what: str
    kind: str

    def look(self, now: float, stamp: float) -> Panel:
        """One sample."""

    def forget_peaks(self) -> None:
        """Peaks are those from now on."""


Source = Looked | Processes | GpuPanel


def source(what: str, choice: Choice, gpus: Gpus, environ: Mapping[str, str]) -> Source:
    """What one WHAT stands for."""
    kind, colon, rest = what.partition(":")
    if not what.strip():
        raise UsageError("an empty word would be in every command line", hint="zeroin watch all")
    if what in MACHINE:
        return MACHINE[what](what)
    if what in ("gpu", "gpus"):
        return GpuPanel(what, gpus)
    if kind == "disk":
        return Disk(what, _folder(rest or ".", what))
    if kind == "file" and colon:
        return File(what, _file(rest))
    if kind == "attempt":
        return Processes(what, choice, root=_attempt(rest, environ), below_only=True)
    if kind == "name" and colon:
        if not rest:
            raise UsageError("name: needs a word", hint="zeroin watch name:python")
        return Processes(what, choice)
    if what.isascii() and what.isdigit():
        return Processes(what, choice, root=_pid(int(what)))
    return Processes(what, choice)


def _folder(path: str, what: str) -> str:
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(path):
        nearest = path
        while not os.path.isdir(nearest):
            nearest = os.path.dirname(nearest)
        raise ZeroinError(
            f"{what}: there is no such folder", hint=f"the nearest: zeroin watch disk:{nearest}"
        )
    return path


def _file(path: str) -> str:
    if not path:
        raise UsageError("file: needs the path of a file", hint="zeroin watch file:train.log")
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder", hint=f"zeroin watch disk:{path}")
    return path


def _pid(pid: int) -> int:
    if pid == os.getpid():
        raise UsageError(f"process {pid} is zeroin itself")
    if not os.path.isdir(f"/proc/{pid}"):
        hidden = "" if os.path.isdir("/proc/1") else ", or it is hidden from you (hidepid)"
        raise ZeroinError(
            f"there is no process {pid}{hidden}",
            hint=f"what is left of it: zeroin why -p {pid}     as a word: zeroin watch name:{pid}",
        )
    return pid


def _attempt(number: str, environ: Mapping[str, str]) -> int:
    """The recorder of the attempt that runs: all of the attempt is below it."""
    from zeroin.tools.reading import is_running, open_record

    with open_record(os.getcwd(), environ) as record:
        if number and number != "last":
            found = [record.store.resolve(number)]
        else:
            found = record.store.attempts(limit=20)
    running = [attempt for attempt in found if is_running(attempt)]
    if not running:
        which = f"attempt {number}" if number else "no attempt of this folder"
        raise ZeroinError(
            f"{which} {'does not run' if number else 'runs'}",
            hint="start one: zeroin run -- python train.py",
        )
    return int(running[0].driver.partition(":")[0])

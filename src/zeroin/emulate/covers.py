"""`readonly=PATH` and `shm=SIZE`: other mounts for the command alone."""

from __future__ import annotations

import os

from zeroin.emulate import kernel, values
from zeroin.emulate.fullness import Fullness
from zeroin.emulate.handle import Handle
from zeroin.emulate.part import Backend, Effect, Kind, Part, open_folder
from zeroin.errors import UsageError
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Limit, Scene
    from zeroin.emulate.watch import Watch

SHM = "/dev/shm"  # noqa: S108 - the one that programs use
SAYS_READ_ONLY = ("Read-only file system", "EROFS")
SAYS_FULL = ("No space left on device", "Bus error", "SIGBUS", "out of shared memory")


class _Cover(Part):
    """Tells what was said when it failed."""

    spaces = kernel.NEW_MOUNTS
    says: tuple[str, ...] = ()

    def effects(self, ending: Ending) -> list[Effect]:
        reached = ending.failed and any(words in ending.said for words in self.says)
        return [Effect(limit.text, self.backend, reached) for limit in self.limits]


class ReadOnly(_Cover):
    """What can be read and not changed."""

    order = 50  # after all that is mounted below
    says = SAYS_READ_ONLY

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "read-only mount")
        self.path = limits[0].target
        self.covers = (self.path,)

    def enter(self, *, apart: bool) -> None:
        """A mount of its own on the same place, unless it is one already."""
        del apart
        if self.path != "/":
            fd = open_folder(self.path)
            kernel.bind(fd, self.path)
            os.close(fd)
        kernel.set_read_only(self.path, on=True)


class SharedMemory(_Cover):
    """A small /dev/shm, empty at first."""

    order = 40
    says = SAYS_FULL
    covers = fills = (SHM,)

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "tmpfs on /dev/shm")
        self._handle = Handle()

    def enter(self, *, apart: bool) -> None:
        """Hide the real one."""
        del apart
        room = f"size={int(self.limits[0].amount)},mode=1777"
        kernel.mount("tmpfs", SHM, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, room)
        fd = os.open(SHM, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._handle.pass_on(fd)
        os.close(fd)

    def watch(self) -> Watch | None:
        """How full it gets: what is shared is soon given back."""
        return Fullness(SHM)

    def effects(self, ending: Ending) -> list[Effect]:
        """What it used, and what it has not given back."""
        found = super().effects(ending)
        if not self._handle.take():  # it was never started
            return found
        (limit,) = self.limits
        used = min(self._handle.used(), int(limit.amount))
        most = min(ending.told.get("peak", 0), int(limit.amount))
        much = f"up to {size(most)}, " if most > used else ""
        if used < limit.amount and (SHM in ending.full or most >= limit.amount):
            much = f"it had no room left{ending.full.get(SHM, '')}; "
        detail = f"{much}{size(used)} of {size(limit.amount)} used at the end"
        return [one._replace(detail=detail) for one in found]

    def close(self) -> None:
        """Without a descriptor of ours the memory is free."""
        self._handle.close()


def _check_path(limit: Limit, scene: Scene) -> Limit:
    return limit._replace(target=values.real_path(limit, scene, folder=False))


def _check_shm(limit: Limit, scene: Scene) -> Limit:
    del scene
    if not os.path.isdir(SHM):
        raise UsageError(f"--limit {limit.text}: there is no {SHM} here")
    now = os.statvfs(SHM)
    whole = now.f_blocks * now.f_frsize
    if limit.share:
        limit = limit._replace(amount=int(limit.amount * whole))
    if limit.amount > whole:
        raise UsageError(
            f"--limit {limit.text}: {SHM} has only {size(whole)}", hint="take a smaller size"
        )
    return limit


def _lacks_read_only(limits: Sequence[Limit], scene: Scene) -> str:
    part = ReadOnly(limits, scene)
    return kernel.trial(part.spaces, lambda apart: part.enter(apart=apart))


def _lacks_shm(limits: Sequence[Limit], scene: Scene) -> str:
    part = SharedMemory(limits, scene)
    try:
        return kernel.trial(part.spaces, lambda apart: part.enter(apart=apart))
    finally:
        part.close()


KINDS = {
    "readonly": Kind(
        "readonly",
        "a file or folder that can't be changed",
        values.read_path,
        (Backend("read-only mount", _lacks_read_only, ReadOnly, fails_well=True),),
        _check_path,
    ),
    "shm": Kind(
        "shm",
        "so much shared memory, as small containers have it",
        values.read_size,
        (Backend("tmpfs on /dev/shm", _lacks_shm, SharedMemory, fails_well=True),),
        _check_shm,
    ),
}

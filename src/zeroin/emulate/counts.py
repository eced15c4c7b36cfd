"""`files=N`, `processes=N` and `cores=N`: few of what is counted."""

from __future__ import annotations

import os
import resource

from zeroin.emulate import cgroups, kernel, values
from zeroin.emulate.grouped import SCOPE, V1, V2, Grouped
from zeroin.emulate.part import Backend, Effect, Kind, Part
from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Limit, Scene

OPEN = 3  # stdin, stdout and stderr
SAYS_FILES = ("Too many open files", "EMFILE")
SAYS_PROCESSES = (
    "Resource temporarily unavailable",
    "can't start new thread",
    "annot fork",
    "BlockingIOError",
    "EAGAIN",
)


class _Count(Part):
    """Tells by what was said whether it was reached."""

    says: tuple[str, ...] = ()

    @property
    def amount(self) -> int:
        """How many."""
        return int(self.limits[0].amount)

    def effects(self, ending: Ending) -> list[Effect]:
        """Nobody tells but the program."""
        reached = ending.failed and any(words in ending.said for words in self.says)
        return [Effect(limit.text, self.backend, reached) for limit in self.limits]


class Files(_Count):
    """Open files of each process."""

    says = SAYS_FILES

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "RLIMIT_NOFILE")

    def last(self) -> None:
        """Inherited by all that it starts."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.amount, self.amount))


def _check_files(limit: Limit, scene: Scene) -> Limit:
    del scene
    if limit.amount <= OPEN:
        raise UsageError(
            f"--limit {limit.text}: {OPEN} files are open before a program starts",
            hint="an interpreter needs 6 or more: --limit files=64",
        )
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if os.geteuid() == 0:  # who may have more than that, up to what the kernel counts
        with open("/proc/sys/fs/nr_open", encoding="ascii") as file:
            most = int(file.read())
    if limit.amount > most:
        raise UsageError(
            f"--limit {limit.text}: you may open {most} at most, so it is less already"
        )
    return limit


class _Tasks(Grouped, _Count):
    """Processes and threads of the tree, in a control group."""

    controller = "pids"
    word = "pids"

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> dict[str, object]:
        """What is written to the group."""
        return {"pids.max": int(limits[0].amount)}

    def effects(self, ending: Ending) -> list[Effect]:
        """The group has counted how often it said no."""
        refused = cgroups.numbers(self._group.folder, "pids.events").get("max", 0)
        were = "was" if refused == 1 else "were"
        detail = f"{refused} more {were} refused" if refused else "no more were wanted"
        return [Effect(self.limits[0].text, self.backend, ending.failed and refused > 0, detail)]


class Tasks1(_Tasks):
    """Version 1."""

    way = V1


class Tasks2(_Tasks):
    """Version 2."""

    way = V2


class TasksScope(_Tasks):
    """Likewise, made by systemd."""

    way = SCOPE


class OwnTasks(_Count):
    """Of our user in a namespace of its own, in which nobody else's count."""

    spaces = kernel.NEW_USER
    says = SAYS_PROCESSES

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "RLIMIT_NPROC in a user namespace")

    def last(self) -> None:
        """Inherited by all that it starts."""
        resource.setrlimit(resource.RLIMIT_NPROC, (self.amount, self.amount))


def _lacks_own(limits: Sequence[Limit], scene: Scene) -> str:
    del limits, scene
    if os.geteuid() == 0:
        return "the kernel does not hold root to it"
    return kernel.trial(kernel.NEW_USER, lambda _: None)


class Cores(_Count):
    """The first of those that we may use."""

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        del scene
        super().__init__(limits, "CPU affinity")

    def before(self) -> None:
        """Inherited by all that it starts."""
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: self.amount])


def _check_cores(limit: Limit, scene: Scene) -> Limit:
    del scene
    here = len(os.sched_getaffinity(0))
    if limit.amount > here:
        raise UsageError(f"--limit {limit.text}: there are {here} here, so it is less already")
    return limit


def _always(limits: Sequence[Limit], scene: Scene) -> str:
    del limits, scene
    return ""


KINDS = {
    "files": Kind(
        "files",
        "so many open files in each process",
        values.read_count,
        (Backend("RLIMIT_NOFILE", _always, Files),),
        _check_files,
    ),
    "processes": Kind(
        "processes",
        "so many processes and threads in all",
        values.read_count,
        (
            TasksScope.backend_of(),
            Tasks2.backend_of(),
            Tasks1.backend_of(),
            Backend("RLIMIT_NPROC in a user namespace", _lacks_own, OwnTasks),
        ),
    ),
    "cores": Kind(
        "cores",
        "so many processors",
        values.read_count,
        (Backend("CPU affinity", _always, Cores),),
        _check_cores,
    ),
}

"""Running a command under limits: each by the first back-end that works here.

Whatever is set up for them ends with the run: what the command has started is ended, and a guard
(`limit_guard`) does the same if the driver is killed.
"""

from __future__ import annotations

import os

from zeroin.emulate import kernel, registry
from zeroin.emulate.folders import LimitFolders, missing_folders
from zeroin.emulate.groups_left import LeftGroups
from zeroin.emulate.part import Ending, Scene, open_folder
from zeroin.errors import UntestableError
from zeroin.run import tree
from zeroin.run.agent_order import hand_order
from zeroin.run.limit_guard import MARK, LimitGuard
from zeroin.run.spawn import become, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.emulate.part import Effect, Limit
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.apart import View

COVERING = frozenset(("disk", "inodes"))  # kinds whose folder is made if it is not there
GROUPED = frozenset(("memory", "processes", "cpu"))  # kinds that have a control group's back-end


class Limited:
    """The limits of one run. Close it in any case."""

    def __init__(
        self,
        cycle: Cycle,
        env: Mapping[str, str],
        folder: str,
        order: AgentOrder | None = None,
    ) -> None:
        self._cycle = cycle
        self._folders = [folder] if folder else []  # where agents deliver
        self._order = order  # for the agents, if there are any
        self._guard: LimitGuard | None = None
        self._early: LimitGuard | None = None  # until that one is there
        self._told: Mapping[str, Any] | None = None  # once the guard is dismissed
        self._name = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._given = env
        self._made = LimitFolders()
        tree.adopt_orphans()
        self._prepare(hopeful=True)

    def _guard_early(self, limits: Sequence[Limit]) -> None:
        """Before a group or a folder is made there is somebody to remove it if we are killed."""
        missing = [
            path
            for limit in limits
            if limit.name in COVERING
            for path in missing_folders(os.path.join(self._cycle.cwd, limit.target))
        ]
        if self._early is None and (missing or GROUPED.intersection(one.name for one in limits)):
            parts = (LeftGroups(self._name),)
            self._early = LimitGuard(parts, self._name, (), list(dict.fromkeys(missing)), wait=True)
            tree.HELPERS.add(self._early.pid)

    def _release_early(self, *, clean: bool = False) -> None:
        if self._early is not None:
            if clean:
                self._early.clean_up()
            else:
                self._early.close()
            tree.HELPERS.discard(self._early.pid)
            self._early = None

    def _prepare(self, *, hopeful: bool) -> None:
        """Choose the back-ends."""
        limits = registry.parse_all(self._cycle.limits)
        self._guard_early(limits)
        scene = Scene(self._cycle.cwd, self._given, self._name, self._made)
        try:
            self._parts = registry.choose(limits, scene, hopeful=hopeful)
        except BaseException:
            self._made.remove()
            self._release_early(clean=True)  # Ctrl-C may have come when a group was half made
            raise
        self._parts.sort(key=lambda part: part.order)
        own = {key: value for part in self._parts for key, value in part.env.items()}
        self._env = {**self._given, **own, MARK: self._name}
        if self._order is not None:
            order = self._order._replace(
                full_folders=tuple(path for part in self._parts for path in part.fills),
                memory_error=any(part.memory_error for part in self._parts),
            )
            self._env = hand_order(order, self._folders[0], self._env)
        tree.HELPERS.update(pid for part in self._parts for pid in part.helpers)

    def _watch(self, pid: int) -> None:
        for part in self._parts:
            part.started(pid)
        try:
            made, wait = self._made.made, self._early is not None
            self._guard = LimitGuard(self._parts, self._name, self._folders, made, wait=wait)
        except OSError as error:
            raise UntestableError(f"the limits can't be watched: {error}") from None
        tree.HELPERS.add(self._guard.pid)
        self._release_early()

    def starting(self, view: View | None = None) -> Callable[[int, int], int]:
        """What `Run.execute` takes as `start`."""

        def start(out: int, err: int) -> int:
            pid, told = self._become(view, out, err)
            if told:  # now it is known: the next back-end, if there is one
                self.close()
                self._prepare(hopeful=False)
                pid, told = self._become(view, out, err)
            if told:
                backends = dict.fromkeys(part.backend for part in self._parts)
                raise registry.cant_be_had(
                    " --limit ".join(self._cycle.limits), f"{', '.join(backends)}: {told}"
                )
            return pid

        return start

    def _become(self, view: View | None, out: int, err: int) -> tuple[int, str]:
        cycle = self._cycle
        command = (*(word for part in self._parts for word in part.wrap), *cycle.command)
        find(cycle.command[0], cycle.cwd, self._env)
        program = find(command[0], cycle.cwd, self._env)
        # Right after that fork, another one is cheap: what we write to is copied once for both.
        return become(
            program,
            command,
            cycle.cwd,
            self._env,
            out,
            err,
            lambda: self._enter(view),
            self._watch,
        )

    def _enter(self, view: View | None) -> None:
        """In the command's process: namespaces, then what is mounted, then the rest."""
        for part in self._parts:
            part.before()
        spaces = kernel.NEW_MOUNTS if view is not None else 0
        for part in self._parts:
            spaces |= part.spaces
        apart = kernel.isolate(spaces) if spaces else False
        covered = [path for part in self._parts for path in part.covers]
        shared = [path for path in self._folders if _is_below(path, covered)]
        opened = [(path, open_folder(path)) for path in shared]
        if view is not None:
            from zeroin.run.apart import cover

            cover(view, apart=apart)
        for part in self._parts:
            part.enter(apart=apart)
        for path, fd in opened:
            kernel.bind(fd, path)
            kernel.set_read_only(path, on=False)
            os.close(fd)
        for part in self._parts:
            part.last()

    def finish(self, failed: bool, said: str, full: Mapping[str, str], keep: str) -> list[Effect]:
        """End what is left of the command; what each limit did, as they were asked for."""
        told = self._end()
        several = sum(part.keeps for part in self._parts) > 1
        found = []
        for number, part in enumerate(self._parts):
            place = keep
            if keep and several and part.keeps:
                place = os.path.join(keep, part.covers[0].lstrip("/"))
            ending = Ending(failed, said, told.get(str(number), {}), full, place)
            found += part.effects(ending)
        asked = list(self._cycle.limits)
        return sorted(found, key=lambda one: asked.index(one.limit) if one.limit in asked else 0)

    def _end(self) -> Mapping[str, Any]:
        """All that runs; and hear what the guard has to tell."""
        if self._guard is not None and self._told is None:
            if tree.descendants(os.getpid()):
                tree.end(os.getpid())
            self._told = self._guard.told()
        return self._told or {}

    def close(self) -> None:
        """Leave nothing; the guard goes last."""
        self._end()
        for part in self._parts:
            part.close()
            tree.HELPERS.difference_update(part.helpers)
        self._made.remove()
        if self._guard is not None:
            self._guard.close()
            tree.HELPERS.discard(self._guard.pid)
            self._guard = self._told = None
        self._release_early()
        self._parts = []


def _is_below(path: str, covered: Sequence[str]) -> bool:
    return any(f"{path}/".startswith(f"{one.rstrip('/')}/") for one in covered)

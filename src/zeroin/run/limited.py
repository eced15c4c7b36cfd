"""Running a command under limits: each by the first back-end that works here.

Whatever is set up for them ends with the run: what the command has started is ended, and a guard
(`limit_guard`) does the same if the driver is killed.
"""

from __future__ import annotations

import os

from zeroin.emulate import kernel, registry
from zeroin.emulate.part import Ending, Scene, open_folder
from zeroin.errors import UntestableError
from zeroin.run import tree
from zeroin.run.limit_guard import MARK, LimitGuard
from zeroin.run.spawn import become, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.emulate.part import Effect
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run

FILLS = "ZEROIN_ROOM"  # for the agent, in a way that needs nothing loaded to be read


def execute(
    run: Run,
    cycle: Cycle,
    env: Mapping[str, str],
    *,
    view: View | None = None,
    keep: str = "",
    **how: Any,
) -> Ended:
    """`Run.execute` under the limits of the cycle; `Ended.limits` says what they did."""
    folders = [run.inbox.folder] if run.inbox is not None else []
    limited = Limited(cycle, env, folders)
    try:
        start = limited.starting(view)
        ended = run.execute(cycle.command, cycle.cwd, env, start=start, **how)
        if run.inbox is not None:
            run.inbox.drain()
        code = os.waitstatus_to_exitcode(ended.status)
        failed = code != 0 and not ended.interrupted
        effects = limited.finish(failed, _said(run, code), _full(run), keep)
        return ended._replace(limits=tuple(effects), survivors=0)
    finally:
        limited.close()


def _said(run: Run, code: int) -> str:
    """All that may tell what it failed of."""
    recent = [run.keeper.recent(name) for name in ("err", "tty", "out")]
    messages = run.inbox.messages if run.inbox is not None else []
    crashes = [
        f"{link['type']}: {link['message']}"
        for message in messages
        if message["kind"] == "crash"
        for link in message["chain"]
    ]
    faults = run.inbox.faults() if run.inbox is not None else ""
    return "\n".join([*recent, *crashes, faults, "SIGBUS" if code == -7 else ""])


def _full(run: Run) -> dict[str, str]:
    """Folders that were seen to be full, and where that was first."""
    found: dict[str, str] = {}
    for message in run.inbox.messages if run.inbox is not None else []:
        if message["kind"] == "full":
            where = message["where"]
            name = f" at {os.path.basename(where[0])}:{where[1]}" if where else ""
            found.setdefault(message["folder"], name)
    return found


class Limited:
    """The limits of one run. Close it in any case."""

    def __init__(self, cycle: Cycle, env: Mapping[str, str], folders: Sequence[str] = ()) -> None:
        self._cycle = cycle
        self._folders = folders
        self._guard: LimitGuard | None = None
        self._told: Mapping[str, Any] | None = None  # once the guard is dismissed
        self._name = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._given = env
        tree.adopt_orphans()
        self._prepare(hopeful=True)

    def _prepare(self, *, hopeful: bool) -> None:
        """Choose the back-ends."""
        limits = registry.parse_all(self._cycle.limits)
        scene = Scene(self._cycle.cwd, self._given, self._name)
        self._parts = registry.choose(limits, scene, hopeful=hopeful)
        self._parts.sort(key=lambda part: part.order)
        own = {key: value for part in self._parts for key, value in part.env.items()}
        fills = [path for part in self._parts for path in part.fills]
        if fills:
            own[FILLS] = ":".join(os.fsencode(path).hex() for path in fills)
        self._env = {**self._given, **own, MARK: self._name}
        tree.HELPERS.update(pid for part in self._parts for pid in part.helpers)

    def _watch(self, pid: int) -> None:
        for part in self._parts:
            part.started(pid)
        try:
            self._guard = LimitGuard(self._parts, self._name, self._folders)
        except OSError as error:
            raise UntestableError(f"the limits can't be watched: {error}") from None
        tree.HELPERS.add(self._guard.pid)

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
        """All that runs, and the guard, which has something to tell then."""
        if self._guard is not None and self._told is None:
            if tree.descendants(os.getpid()):
                tree.end(os.getpid())
            self._told = self._guard.told()
        return self._told or {}

    def close(self) -> None:
        """Leave nothing."""
        self._end()
        for part in self._parts:
            part.close()
            tree.HELPERS.difference_update(part.helpers)
        if self._guard is not None:
            self._guard.close()
            tree.HELPERS.discard(self._guard.pid)
            self._guard = self._told = None
        self._parts = []


def _is_below(path: str, covered: Sequence[str]) -> bool:
    return any(f"{path}/".startswith(f"{one.rstrip('/')}/") for one in covered)

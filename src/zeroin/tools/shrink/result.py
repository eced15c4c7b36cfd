"""Putting what is left beside the payload, and saying how small it is."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from zeroin.tools.shrink.report import Shrunk
from zeroin.tools.shrink.world import ARGS, ENV

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.axes.payload.group import Group, Member
    from zeroin.cycle import Cycle
    from zeroin.tools.shrink.world import Source, World


class Results:
    """Where they go."""

    def __init__(self, world: World, cycle: Cycle, out: str) -> None:
        self._world = world
        self._cycle = cycle
        self._out = out

    def write(self, before: Group, after: Group, made: str, count: int) -> list[Shrunk]:
        """Put the first ones there, by way of a folder of ours."""
        self._world.write(after, made)
        found = []
        for number, source in enumerate(self._world.sources[:count]):
            target = self._target(source)
            _put(self._world.place(number, made), target, is_folder=source.is_folder)
            old, new = _of(before, number), _of(after, number)
            is_one = not source.is_folder
            found.append(
                Shrunk(
                    source.path,
                    self.shown(target),
                    old[0].payload.noun if is_one else "file",
                    sum(one.payload.size for one in old),
                    sum(one.payload.size for one in new),
                    old[0].payload.parts if is_one else len(old),
                    sum(one.payload.parts for one in new) if is_one else len(new),
                )
            )
        return found + _words(before, after)

    def shown(self, path: str) -> str:
        """As the user would name it."""
        inside = path.startswith(os.path.join(self._cycle.cwd, ""))
        return os.path.relpath(path, self._cycle.cwd) if inside else path

    def targets(self) -> list[str]:
        """All places that they go to."""
        return [self._target(source) for source in self._world.sources]

    def _target(self, source: Source) -> str:
        if self._out and len(self._world.sources) == 1:
            return os.path.join(self._cycle.cwd, self._out)
        stem, end = os.path.splitext(source.full)
        return f"{stem}.min{end}"

    def command(self, payloads: Sequence[Shrunk]) -> list[str]:
        """What shows it: the command with the results in the place of the payloads."""
        cwd, command = self._cycle.cwd, list(self._cycle.command)
        for one in payloads:
            if one.path == ARGS[1:]:
                command = [command[0], *shlex.split(one.text)]
        new = {os.path.join(cwd, one.path): one.result for one in payloads if one.result}
        return [new.get(os.path.join(cwd, word), word) for word in command]


def _put(made: str, target: str, *, is_folder: bool) -> None:
    if not is_folder:
        shutil.copy(made, target)
        return
    if os.path.isdir(target):
        shutil.rmtree(target)
    shutil.copytree(made, target)


def _of(group: Group, number: int) -> list[Member]:
    return [one for one in group.members if one.name.startswith(f"{number}/")]


def _words(before: Group, after: Group) -> list[Shrunk]:
    """What is no file."""
    left = {one.name: one.payload for one in after.members}
    return [
        Shrunk(
            one.name[1:],
            "",
            one.payload.noun,
            one.payload.size,
            left[one.name].size,
            one.payload.parts,
            left[one.name].parts,
            shlex.join(left[one.name].words),  # type: ignore[attr-defined]
        )
        for one in before.members
        if one.name in (ARGS, ENV)
    ]

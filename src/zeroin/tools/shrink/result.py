"""Putting what is left beside the payload, and saying how small it is."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from typing import TYPE_CHECKING

from zeroin.axes.payload.words import Words
from zeroin.errors import UntestableError
from zeroin.tools.shrink.report import Shrunk
from zeroin.tools.shrink.world import ARGS

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
        self.notes: list[str] = []

    def write(self, before: Group, after: Group, made: str, count: int) -> list[Shrunk]:
        """Put the first ones there, by way of a folder of ours."""
        self._world.write(after, made)
        found = []
        for number, source in enumerate(self._world.sources[:count]):
            target = self._put(source, self._world.place(number, made))
            old, new = _of(before, number), _of(after, number)
            is_one = not source.is_folder
            found.append(
                Shrunk(
                    source.path,
                    target,
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
        return os.path.join(self._cycle.cwd, self._name(source))

    def _name(self, source: Source) -> str:
        """As the user would name it: beside the payload, as that was given."""
        if self._out and len(self._world.sources) == 1:
            return self._out
        stem, end = os.path.splitext(source.path.rstrip("/"))
        return f"{stem}.min{end}"

    def _put(self, source: Source, made: str) -> str:
        """Where it is then: what was searched for so long must not be lost to a full disk."""
        try:
            _copy(made, self._target(source))
            return self._name(source)
        except OSError as error:
            folder = tempfile.mkdtemp(prefix="zeroin-result-")
            kept = os.path.join(folder, os.path.basename(self._target(source)))
            reason = os.strerror(error.errno or 0).lower()
            try:
                _copy(made, kept)
            except OSError:
                os.rmdir(folder)
                raise UntestableError(
                    f"{self._name(source)} can't be written: {reason}",
                    hint="make room; the same command finds it again, quicker",
                ) from None
            self.notes.append(f"{self._name(source)} can't be written: {reason}")
            return kept

    def command(self, payloads: Sequence[Shrunk]) -> list[str]:
        """What shows it: the command with the results in the place of the payloads."""
        cwd, command = self._cycle.cwd, list(self._cycle.command)
        for one in payloads:
            if one.path == ARGS[1:]:
                command = [command[0], *shlex.split(one.text)]
        new = {os.path.join(cwd, one.path): one.result for one in payloads if one.result}
        command = [new.get(os.path.join(cwd, word), word) for word in command]
        if self._cycle.limits:  # without them it does not fail
            limits = [word for limit in self._cycle.limits for word in ("--limit", limit)]
            command = ["zeroin", "run", *limits, "--", *command]
        return command


def _copy(made: str, target: str) -> None:
    """All of it, in the place of what is there; or nothing."""
    fresh = f"{target}.{os.getpid()}"
    try:
        if os.path.isdir(made):
            shutil.copytree(made, fresh)
            if os.path.isdir(target):
                shutil.rmtree(target)
        else:
            shutil.copy(made, fresh)
        os.replace(fresh, target)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def _of(group: Group, number: int) -> list[Member]:
    return [one for one in group.members if one.name.startswith(f"{number}/")]


def _words(before: Group, after: Group) -> list[Shrunk]:
    """What is no file."""
    found = []
    left = {one.name: one.payload for one in after.members}
    for one in before.members:
        words = left.get(one.name)
        if isinstance(words, Words):
            counts = (one.payload.size, words.size, one.payload.parts, words.parts)
            told = shlex.join(words.words)
            found.append(Shrunk(one.name[1:], "", words.noun, *counts, told))
    return found

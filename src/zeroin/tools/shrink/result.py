"""Putting what is left beside the payload, and saying how small it is."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile

from zeroin.axes.payload import packings
from zeroin.axes.payload.words import Words
from zeroin.errors import UntestableError, UsageError
from zeroin.tools.shrink import reproduce
from zeroin.tools.shrink.report import Shrunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zeroin.axes.payload.group import Group, Member
    from zeroin.cycle import Cycle
    from zeroin.tools.shrink.report import ShrinkOptions
    from zeroin.tools.shrink.world import Source, World


class Results:
    """Where they go."""

    def __init__(self, world: World, cycle: Cycle, options: ShrinkOptions) -> None:
        self._world = world
        self._cycle = cycle
        self._count = len(options.paths)  # the others are folded into the first
        self._names = _names(world.sources[: self._count], cycle.cwd, options.out)
        self._check()
        self.notes: list[str] = []

    def _check(self) -> None:
        """What is there already must not be what they are made of."""
        given = [os.path.realpath(os.path.join(self._cycle.cwd, w)) for w in self._cycle.command]
        given += [source.full for source in self._world.sources]
        for name in self._names:
            if name == "-":
                raise UsageError("-o -: it goes into a file", hint="name one with -o")
            target = os.path.realpath(os.path.join(self._cycle.cwd, name))
            if target in given:
                raise UsageError(f"{name}: that is what it is made of", hint="name another with -o")
        if len(set(self._names)) < len(self._names):
            raise UsageError(
                f"several payloads would be called {os.path.basename(self._names[0])}",
                hint="without -o each result lies beside its payload",
            )

    def write(self, before: Group, after: Group, made: str) -> list[Shrunk]:
        """Put them there, by way of a folder of ours."""
        self._world.write(after, made)
        found = []
        for number, source in enumerate(self._world.sources[: self._count]):
            target = self._put(self._names[number], self._world.place(number, made))
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
        """As the user would name it from where he is."""
        here = os.getcwd()
        full = os.path.normpath(os.path.join(self._cycle.cwd, path))
        if not os.path.isabs(path) and here == self._cycle.cwd:
            return path
        return os.path.relpath(full) if full.startswith(os.path.join(here, "")) else full

    def targets(self) -> list[str]:
        """All places that they go to."""
        return [os.path.join(self._cycle.cwd, name) for name in self._names]

    def _put(self, name: str, made: str) -> str:
        """Where it is then: what was searched for so long must not be lost to a full disk."""
        target = os.path.join(self._cycle.cwd, name)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _copy(made, target)
            return self.shown(name)
        except OSError as error:
            folder = tempfile.mkdtemp(prefix="zeroin-result-")
            kept = os.path.join(folder, os.path.basename(target))
            reason = os.strerror(error.errno or 0).lower()
            try:
                _copy(made, kept)
            except OSError:
                os.rmdir(folder)
                raise UntestableError(
                    f"{self.shown(name)} can't be written: {reason}",
                    hint="make room; the same command finds it again, quicker",
                ) from None
            self.notes.append(f"{self.shown(name)} can't be written: {reason}")
            return kept

    def command(
        self,
        payloads: Sequence[Shrunk],
        environ: Mapping[str, str],
        shows: Callable[[tuple[str, ...], frozenset[int]], bool],
    ) -> list[str]:
        """What shows it: the command with the results in the place of the payloads.

        A command that is given the names of some `shows` whether these are what it reads and all
        that matters; one that has a payload's name built in gets the result in that very place.
        """
        cycle, places = self._cycle, self._places(payloads)
        words = tuple(reproduce.name_results(cycle, payloads, places))
        named = reproduce.find_named(cycle, payloads, places)
        if not places or (named and shows(words, named)):
            return reproduce.command(cycle, payloads, places, environ)
        targets = (self._from_cwd(source.full) for source in self._world.sources)
        swaps = list(zip(places.values(), targets, strict=False))
        return reproduce.put_in_place(reproduce.command(cycle, payloads, {}, environ), swaps)

    def _places(self, payloads: Sequence[Shrunk]) -> dict[str, str]:
        """Payloads that are files by where they are, and their results, as the command sees them.

        There is one for each of the first sources, in their order.
        """
        cwd, places = self._cycle.cwd, {}
        files = [one for one in payloads if one.result]
        for one, name in zip(files, self._names, strict=False):
            moved = one.result != self.shown(name)
            full = os.path.normpath(os.path.join(cwd, one.path))
            places[full] = one.result if moved else name
        return places

    def _from_cwd(self, full: str) -> str:
        below = os.path.relpath(full, os.path.realpath(self._cycle.cwd))
        return full if below.startswith("..") else below


def _names(sources: Sequence[Source], cwd: str, out: str) -> list[str]:
    """As the user would name them: beside each payload, as that was given, if not elsewhere."""
    names = [_beside(one) for one in sources]
    if not out:
        return names
    if len(names) == 1 and not out.endswith("/") and not os.path.isdir(os.path.join(cwd, out)):
        return [out]
    return [os.path.join(out, os.path.basename(name)) for name in names]


def _beside(source: Source) -> str:
    """`train.min.csv`, but `shop_min` for a package: it has to be imported by that name."""
    if source.is_folder and os.path.isfile(os.path.join(source.full, "__init__.py")):
        return f"{source.path.rstrip('/')}_min"
    return packings.beside(source.path, "min", is_folder=source.is_folder)


def _copy(made: str, target: str) -> None:
    """All of it, in the place of what is there; or nothing."""
    fresh = f"{target}.{os.urandom(6).hex()}"  # a name that no clone can have a link at
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

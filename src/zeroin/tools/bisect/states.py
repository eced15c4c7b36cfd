"""Two recorded attempts, as all that differed between them before they were started."""

from __future__ import annotations

import os

from zeroin.axes.changes import groups, words
from zeroin.axes.changes.choice import Change, Choice
from zeroin.axes.changes.code import Code, File
from zeroin.errors import UntestableError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.tools.again import cycle_of, environment_of
from zeroin.tools.compare import compare
from zeroin.tools.masking import Mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.record.store import Attempt
    from zeroin.tools.bisect.installed import Installed
    from zeroin.tools.reading import Reading

SUBMODULE = "160000"


class State(NamedTuple):
    """One of the two."""

    attempt: Attempt
    cycle: Cycle  # without variables,
    env: dict[str, str]  # which are all here


class States:
    """The one that works, the one that fails, and the changes from the first to the second."""

    def __init__(
        self, reading: Reading, good: Attempt, bad: Attempt, environ: Mapping[str, str]
    ) -> None:
        self.good, self.bad = (_state(reading, one, environ) for one in (good, bad))
        self.root = good.root or good.cwd
        self._shadow = reading.shadow(good)
        for one in (good, bad):
            if one.code is None:
                raise ZeroinError(
                    f"the code of attempt {one.id} was not kept",
                    hint="see why: zeroin show " + str(one.id),
                )
        self.code = self._code(str(good.code), str(bad.code))
        self._swaps = words.swaps(self.good.cycle.command, self.bad.cycle.command)
        self._settings = [
            name
            for name in ("seed", "sync", "reset", "cwd")
            if getattr(self.good.cycle, name) != getattr(self.bad.cycle, name)
        ]
        difference = compare(reading.store, self._shadow, good, bad)
        self.packages = difference.packages
        self.left_out = [*(good.facts.get("left_out") or ()), *(bad.facts.get("left_out") or ())]
        self.elsewhere = _elsewhere(good, bad)
        self._variables = [change.name for change in difference.env]
        self._others = len(self._swaps) + len(self._settings) + len(self._variables)
        self._places = list(_places(reading, bad, self.root))
        self.installed, self.not_varied = self._installed(reading, environ)

    def _installed(
        self, reading: Reading, environ: Mapping[str, str]
    ) -> tuple[Installed | None, str]:
        """The packages, if they differ and can be had; else why not."""
        if not self.packages:
            return None, ""
        from zeroin.tools.bisect.installed import Installed

        attempts = (self.good.attempt, self.bad.attempt)
        told = [reading.store.get(one.packages) or {} for one in attempts]
        # The index and our folders are those of now, the Python is that of then.
        env = {**self.good.env, **environ, "PATH": self.good.env.get("PATH", os.defpath)}
        try:
            return Installed.between(self.good.cycle, env, attempts, told), ""
        except ZeroinError as error:
            return None, error.message

    def _code(self, old: str, new: str) -> Code:
        before, after = self._shadow.entries(old), self._shadow.entries(new)
        paths = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        sides = [
            {path: side[path] for path in paths if path in side and side[path][0] != SUBMODULE}
            for side in (before, after)
        ]
        blobs = sorted({blob for side in sides for _, blob in side.values()})
        content = self._shadow.blobs(blobs) if blobs else {}
        files = [
            {path: File(mode, content[blob]) for path, (mode, blob) in side.items()}
            for side in sides
        ]
        return Code(files[0], files[1])

    # --- what differs -------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many changes there are."""
        return self._first_package + (self.installed.count if self.installed else 0)

    @property
    def _first_package(self) -> int:
        return len(self.code.edits) + self._others

    def whole(self) -> Choice:
        """All changes: code, words of the command, settings, variables, packages."""
        first, count = self._first_package, self.count
        levels = groups.levels(self.code, self._places, count - len(self.code.edits))
        if self.installed is not None:
            if first:
                levels.insert(0, [list(range(first)), list(range(first, count))])
            levels.append([[first + one for one in some] for some in self.installed.groups()])
        return Choice.whole(count, levels)

    def packages_of(self, made: Iterable[int]) -> frozenset[int]:
        """Those of the packages, as they number themselves."""
        first = self._first_package
        return frozenset(one - first for one in made if one >= first)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.installed is not None:
            self.installed.close()

    def change(self, number: int) -> Change:
        """One of them."""
        if number < len(self.code.edits):
            return self.code.change(number)
        number -= len(self.code.edits)
        if number < len(self._swaps):
            return words.change(self.good.cycle.command, self._swaps[number])
        number -= len(self._swaps)
        if number < len(self._settings):
            name = self._settings[number]
            old, new = (_said(getattr(one.cycle, name)) for one in (self.good, self.bad))
            return Change("folder" if name == "cwd" else f"--{name}", old, new, "setting")
        number -= len(self._settings)
        if number >= len(self._variables) and self.installed is not None:
            return self.installed.change(number - len(self._variables))
        name = self._variables[number]
        return Change(name, self.good.env.get(name), self.bad.env.get(name), "variable")

    # --- making some of it --------------------------------------------------------------------

    def fill(self, folder: str) -> None:
        """The code that works, into a new folder."""
        from zeroin.record.code import CodeError

        try:
            self._shadow.checkout(str(self.good.attempt.code), folder)
        except CodeError as error:
            raise UntestableError(f"the code can't be put into {folder}: {error}") from None

    def ignored(self) -> list[str]:
        """What git ignores of the project, at the top."""
        return [entry.rstrip("/") for entry in self._shadow.ignored()]

    def files(self, made: Collection[int]) -> dict[str, File | None]:
        """All files that differ, with some of the edits."""
        return {path: self.code.mixed(path, made) for path in self.code.paths}

    def cycle(self, made: Collection[int]) -> tuple[Cycle, dict[str, str]]:
        """What to run, with some of the changes, and all its variables."""
        at = len(self.code.edits)
        mine = {number - at for number in made if number >= at}
        command = words.swapped(self.good.cycle.command, self._swaps, mine)
        cycle, env = self.good.cycle._replace(command=command), dict(self.good.env)
        at = len(self._swaps)
        for number, name in enumerate(self._settings, at):
            if number in mine:
                cycle = cycle._replace(**{name: getattr(self.bad.cycle, name)})
                for variable in _set_by(name):
                    _take(env, self.bad.env, variable)
        at += len(self._settings)
        for number, variable in enumerate(self._variables, at):
            if number in mine:
                _take(env, self.bad.env, variable)
        return cycle, env


def _state(reading: Reading, attempt: Attempt, environ: Mapping[str, str]) -> State:
    env = environment_of(reading, attempt, environ)
    cycle = cycle_of(attempt, env, Mask(reading.store.salt, environ))
    return State(attempt, cycle._replace(env={}), env)


def _take(env: dict[str, str], other: Mapping[str, str], name: str) -> None:
    if name in other:
        env[name] = other[name]
    else:
        env.pop(name, None)


def _set_by(setting: str) -> tuple[str, ...]:
    """Variables that an option sets: they go with it."""
    from zeroin.run.environment import SYNC

    return {"sync": tuple(SYNC), "seed": ("PYTHONHASHSEED",)}.get(setting, ())


def _said(value: Any) -> str | None:
    if isinstance(value, bool):
        return "on" if value else None
    if isinstance(value, tuple):
        return "; ".join(value) or None
    return None if value is None else str(value)


def _elsewhere(good: Attempt, bad: Attempt) -> list[str]:
    """Packages installed as editable whose code differs as well."""
    old, new = (one.facts.get("code_elsewhere") or {} for one in (good, bad))
    return [root for root in sorted({*old, *new}) if old.get(root) != new.get(root)]


def _places(reading: Reading, bad: Attempt, root: str) -> Any:
    """The lines of the project that the failure went through."""
    evidence = reading.store.get(bad.evidence) or {}
    for crash in evidence.get("crashes") or ():
        for link in crash.get("chain") or ():
            for frame in link.get("frames") or ():
                path = str(frame.get("file", ""))
                if path.startswith(root + "/"):
                    below = os.path.relpath(path, root)
                    yield groups.Place(below, int(frame.get("line") or 0), str(frame.get("name")))

"""What a search over packages works with: the command's Python, uv, the store, folders of ours."""

from __future__ import annotations

import os

from zeroin.digest import digest
from zeroin.record import place as places
from zeroin.run import copies, interpreter
from zeroin.run.composed import Part, compose
from zeroin.run.dists import installed
from zeroin.run.environment import users
from zeroin.run.package_cache import CacheUse
from zeroin.run.pins import Store
from zeroin.run.uv import Uv
from zeroin.tools import config
from zeroin.tools.bisect.packages import SEEN, Rig, cannot_be_apart, noted, view_of
from zeroin.tools.bisect.tries import Tries
from zeroin.tools.folders import OwnFolder, quick_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.packages import Mix
    from zeroin.tools.bisect.report import Axis, BisectOptions, Teller

PREFIX = "zeroin-bisect-"


class Setting:
    """Made once for a search; `close` leaves nothing behind but the store."""

    def __init__(self, cycle: Cycle, environ: Mapping[str, str], python: str = "") -> None:
        self.cycle = cycle._replace(command=tuple(interpreter.unwrapped(cycle.command)))
        self.given = cycle.command
        self.environ = environ
        env = users(cycle, environ)
        if python:
            self.python = interpreter.at(python, cycle.cwd, env)
        else:
            self.python = interpreter.of(cycle.command, cycle.cwd, env)
        self.installed = installed(self.python.sites)
        self.uv = Uv(env, cycle.cwd)
        place = places.find(cycle.cwd, environ)
        self.notes: list[str] = []
        bound = config.load(place.root, environ, self.notes.append).cache_max
        self._cache = CacheUse(environ, bound)
        self.store = Store(self.uv, self.python, environ)
        self.root = place.root or cycle.cwd
        self._kept = os.path.join(place.folder, "bisect")
        self._own = OwnFolder(PREFIX, quick_base())
        self.folder = self._own.path
        self._base = ""

    @property
    def base(self) -> str:
        """The Python of an environment that holds what is installed: uv may ask it anything."""
        if not self._base:
            whole = [Part(site) for site in self.python.sites]
            self._base = compose(os.path.join(self.folder, "base"), self.python, whole).python
        return self._base

    def rig(self, mix: Callable[[str], Mix]) -> Rig:
        """For workers."""
        store = self.store.folder
        rig = Rig(self.folder, self.python, self.cycle, self.environ, store, self.root, mix)
        reason = cannot_be_apart(self.folder, self.root)
        if reason:
            copies.check(view_of(self.root, self.folder))
            self.notes.append(f"each try had a copy of {self.root}, without namespaces: {reason}")
            rig = rig._replace(apart=False)
        return rig

    def tries(
        self, axis: Axis, options: BisectOptions, teller: Teller, timeout: float | None
    ) -> Tries:
        """The tries of one question; those of an interrupted search are gone on from."""
        return Tries(axis, options, teller, os.path.join(self._kept, axis.key), timeout)

    def key(self, options: BisectOptions, *question: object) -> str:
        """The same for the same question about the same files."""
        pins = sorted((one.name, one.version) for one in self.installed.values())
        files = sorted(_stamps(self.cycle.cwd, self.cycle.command))
        asked = options.question
        return digest(
            repr((self.cycle.key(), self.python.executable, pins, files, asked, *question))
        )

    @property
    def was_imported(self) -> bool:
        """Whether any try has imported what is in question."""
        folder = os.path.join(self.folder, SEEN)
        names = os.listdir(folder) if os.path.isdir(folder) else ()
        return any(noted(self.folder, name).get("loaded") for name in names)

    def without(self, names: Sequence[str]) -> list[Part]:
        """What is installed but for some."""
        return [Part(site, frozenset(names)) for site in self.python.sites]

    def close(self) -> None:
        """Leave nothing behind."""
        self._cache.close()
        self._own.close()


def _stamps(cwd: str, command: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The state of the scripts here and of what the command names: after an edit, ask again."""
    beside = [name for name in os.listdir(cwd) if name.endswith(".py")]
    for word in {*beside, *(word.partition("::")[0] for word in command)}:
        path = os.path.join(cwd, word)
        if os.path.isfile(path):
            now = os.stat(path)
            yield path, now.st_size, now.st_mtime_ns

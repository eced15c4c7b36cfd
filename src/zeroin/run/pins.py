"""A store of packages, one folder for each release, from which environments are composed.

What is in it was installed once by uv, without what it needs, and is never changed again but for
its bytecode. A folder gets its name when it is complete, so several of us may fill the store.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from zeroin.digest import digest
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.run.composed import Part
from zeroin.run.dists import installed
from zeroin.run.leftovers import hold_folder, remove_left
from zeroin.run.package_cache import MAKING, PINS, cache_folder, mark_used
from zeroin.run.uv import UvError, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zeroin.errors import ZeroinError
    from zeroin.run.dists import Dist
    from zeroin.run.interpreter import Python
    from zeroin.run.uv import Uv

AT_ONCE = 6  # most of it is waiting for the index
FEW = 4  # so many and more are installed in one go


class Pin(NamedTuple):
    """One release of one package."""

    name: str  # in its one spelling
    version: str
    source: str = ""  # an address, if it does not come from the index
    folder: str = ""  # where it is installed already, if it is taken from there

    @property
    def requirement(self) -> str:
        """As uv is told."""
        return f"{self.name} @ {self.source}" if self.source else f"{self.name}=={self.version}"

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Store:
    """For one interpreter."""

    def __init__(self, uv: Uv, python: Python, environ: Mapping[str, str]) -> None:
        self._uv = uv
        self._python = python
        self.folder = os.path.join(cache_folder(environ), PINS, python.tag)
        try:
            os.makedirs(self.folder, exist_ok=True)
            self._clear()
        except OSError as error:
            raise UntestableError(
                f"{self.folder}: {os.strerror(error.errno or 0).lower()}",
                hint="set XDG_CACHE_HOME to a folder that can be written to",
            ) from None

    def _clear(self) -> None:
        """Those go whose makers were killed."""
        remove_left(self.folder, MAKING)

    def place(self, pin: Pin) -> str:
        """Where it lies, or would."""
        own = f"-{digest(pin.source, 6)}" if pin.source else ""
        # The name says to whoever reads a path that this is nobody's own code.
        return os.path.join(self.folder, f"{pin.name}-{pin.version}{own}", "site-packages")

    def has(self, pin: Pin) -> bool:
        """Whether it is there."""
        return bool(pin.folder) or os.path.isdir(self.place(pin))

    def part(self, pin: Pin) -> Part:
        """To compose with; installed if it is not there yet."""
        if pin.folder:
            return Part(pin.folder, only=pin.name)
        place = self.place(pin)
        if not os.path.isdir(place):
            self._install(pin, os.path.dirname(place))
        mark_used(os.path.dirname(place))
        return Part(place, is_own=True)

    def fill(self, pins: Iterable[Pin]) -> dict[Pin, ZeroinError]:
        """Install what is not there, many at once; what can't be, and why."""
        from zeroin.errors import ZeroinError

        failed: dict[Pin, ZeroinError] = {}

        def get(pin: Pin) -> None:
            try:
                self.part(pin)
            except ZeroinError as error:
                failed[pin] = error

        missing = [pin for pin in pins if not self.has(pin)]
        if missing:
            self._uv.sources()  # once, before there are many
            for batch in _batches(missing):
                self._install_many(batch)
            with ThreadPoolExecutor(AT_ONCE) as pool:  # what is left of them
                list(pool.map(get, missing))
        return failed

    def _install_many(self, pins: list[Pin]) -> None:
        """All of them in one go, then each into its folder; where one can't be, none is there."""
        if len(pins) < FEW:
            return
        made, lock = self._making()
        try:
            whole = os.path.join(made, "all")
            self._uv.install_alone(self._python.base, [pin.requirement for pin in pins], whole)
            here = installed([whole])
            claims = Counter(top for one in here.values() for top in _tops(one))
            for pin in pins:
                if pin.name in here and here[pin.name].version == pin.version:
                    own = os.path.join(made, pin.name)
                    _take_out(here[pin.name], os.path.join(own, "site-packages"), claims)
                    if not self.has(pin):
                        os.rename(own, os.path.dirname(self.place(pin)))
        except (UvError, OSError):
            return  # one by one, it will be seen which one it is
        finally:
            shutil.rmtree(made, ignore_errors=True)
            os.close(lock)

    def _making(self) -> tuple[str, int]:
        """A folder to install into, and the lock that says that we are at it."""
        while True:
            made = tempfile.mkdtemp(prefix=f"{MAKING}{os.getpid()}-", dir=self.folder)
            lock = hold_folder(made)
            if lock is not None:
                return made, lock

    def _install(self, pin: Pin, target: str) -> None:
        made, lock = self._making()
        try:
            self._uv.install_alone(
                self._python.base, [pin.requirement], os.path.join(made, "site-packages")
            )
            os.rename(made, target)
        except OSError as error:
            if not os.path.isdir(target):  # another one was quicker: as good as ours
                why = os.strerror(error.errno or 0).lower()
                raise UntestableError(f"{pin} can't be kept in {self.folder}: {why}") from None
        finally:
            shutil.rmtree(made, ignore_errors=True)
            os.close(lock)


def _batches(pins: list[Pin]) -> list[list[Pin]]:
    """Such that no package is twice in one."""
    found: list[dict[str, Pin]] = []
    for pin in pins:
        free = next((one for one in found if pin.name not in one), None)
        if free is None:
            found.append({pin.name: pin})
        else:
            free[pin.name] = pin
    return [list(one.values()) for one in found]


def _tops(one: Dist) -> set[str]:
    return {path.partition("/")[0] for path in one.files()}


def _take_out(one: Dist, target: str, claims: Mapping[str, int]) -> None:
    """Move what is its own; what others have a share in is moved file by file, or copied."""
    os.makedirs(target)
    for top in _tops(one):
        if claims[top] == 1:
            os.rename(os.path.join(one.site, top), os.path.join(target, top))
    for path in one.files():
        if claims[path.partition("/")[0]] > 1 and not path.startswith(".."):
            os.makedirs(os.path.dirname(os.path.join(target, path)), exist_ok=True)
            shutil.copy2(os.path.join(one.site, path), os.path.join(target, path))


def pin_of(name: str, version: str) -> Pin:
    """From the index."""
    return Pin(normal(name), version)

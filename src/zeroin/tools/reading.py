"""Opening the record to read it: what `log`, `show`, `diff`, `again` and `gc` begin with."""

from __future__ import annotations

import os
import shlex

from zeroin.errors import StoreError
from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.record.store import Store
from zeroin.run import tree
from zeroin.tools.recorder import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    from zeroin.record.code import Shadow
    from zeroin.record.place import Place
    from zeroin.record.store import Attempt


class Reading(NamedTuple):
    """A project's record. Use as a context manager."""

    place: Place
    store: Store
    warn: Callable[[str], object] = str  # hears at the end what was damaged and left out

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        for fault in dict.fromkeys(self.store.faults):
            self.warn(f"the record in {self.place.folder}: {fault}")
        self.store.close()

    def shadow(self, attempt: Attempt | None = None) -> Shadow:
        """The code of this project's attempts."""
        from zeroin.record.code import Shadow

        root = self.place.root or (attempt.cwd if attempt else self.place.folder)
        return Shadow(self.place.folder, root)

    def output_folder(self, attempt: Attempt) -> str:
        """Where that attempt's output lies."""
        return os.path.join(self.place.folder, "attempts", str(attempt.id))


def open_record(
    cwd: str, environ: Mapping[str, str], warn: Callable[[str], object] = str
) -> Reading:
    """The record that `run` would write to from here."""
    place = places.find(cwd, environ)
    if place.root is None and not os.path.exists(os.path.join(place.folder, places.STORE)):
        raise StoreError(
            "nothing has been recorded in this folder yet, and outside of projects each folder "
            "has a record of its own",
            hint=_describe_others(os.path.abspath(cwd), environ),
        )
    try:
        return Reading(place, Store(place.folder, create=False), warn)
    except StoreError as error:
        if not place.note:
            raise
        raise StoreError(
            f"{place.note}, and {error.message}", hint=place.hint or error.hint
        ) from None


def _describe_others(cwd: str, environ: Mapping[str, str]) -> str:
    """Name the record that is probably meant: the old shared one, or that of a folder above."""
    shared = os.path.join(places.own_state(environ), places.SHARED)
    if os.path.exists(os.path.join(shared, places.STORE)):
        store = Store(shared, create=False)
        try:
            older = sum(attempt.cwd == cwd for attempt in store.attempts())
        finally:
            store.close()
        if older:
            said = "an attempt" if older == 1 else f"{older} attempts"
            where = f"cd {shlex.quote(shared)} && zeroin log"
            return f"{said} of it from when all folders shared one: {where}"
    above = os.path.dirname(cwd)
    while above != os.path.dirname(above):
        if os.path.exists(os.path.join(places.find(above, environ).folder, places.STORE)):
            return f"that of the folder above: cd {shlex.quote(above)} && zeroin log"
        above = os.path.dirname(above)
    return "record one: zeroin run -- COMMAND"


def is_running(attempt: Attempt) -> bool:
    """No outcome yet, and its recorder lives."""
    if attempt.outcome is not None:
        return False
    pid = attempt.driver.partition(":")[0]
    alive = pid.isdigit() and identity(int(pid)) == attempt.driver
    return alive and not tree.is_zombie(int(pid))

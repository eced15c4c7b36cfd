"""Opening the record to read it: what `log`, `show`, `diff`, `again` and `gc` begin with."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.record.store import Store
from zeroin.run import tree
from zeroin.tools.recorder import identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from zeroin.record.code import Shadow
    from zeroin.record.place import Place
    from zeroin.record.store import Attempt


class Reading(NamedTuple):
    """A project's record. Use as a context manager."""

    place: Place
    store: Store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.store.close()

    def shadow(self, attempt: Attempt | None = None) -> Shadow:
        """The code of this project's attempts."""
        from zeroin.record.code import Shadow

        root = self.place.root or (attempt.cwd if attempt else self.place.folder)
        return Shadow(self.place.folder, root)

    def output_folder(self, attempt: Attempt) -> str:
        """Where that attempt's output lies."""
        return os.path.join(self.place.folder, "attempts", str(attempt.id))


def open_record(cwd: str, environ: Mapping[str, str]) -> Reading:
    """The record that `run` would write to from here."""
    place = places.find(cwd, environ)
    return Reading(place, Store(place.folder, create=False))


def is_running(attempt: Attempt) -> bool:
    """No outcome yet, and its recorder lives."""
    if attempt.outcome is not None:
        return False
    pid = attempt.driver.partition(":")[0]
    alive = pid.isdigit() and identity(int(pid)) == attempt.driver
    return alive and not tree.is_zombie(int(pid))

"""Installed packages as changes between two attempts: tries have them as the one or the other had.

Nothing is installed in the user's environment: each try gets one that is put together of releases.
"""

from __future__ import annotations

import os

from zeroin.axes.changes.choice import Change
from zeroin.errors import ZeroinError
from zeroin.run.composed import compose
from zeroin.tools.bisect import described
from zeroin.tools.bisect.mixes import Mixes
from zeroin.tools.bisect.packages import inside
from zeroin.tools.bisect.setting import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.record.store import Attempt
    from zeroin.run.composed import Composed

APART = "these packages can't be installed together"


class Installed:
    """The packages that differ, numbered; what is not `made` of the changes is put back."""

    def __init__(self, setting: Setting, mixes: Mixes) -> None:
        self._setting = setting
        self._mixes = mixes
        self._graph, _ = mixes.graph()
        self.count = len(mixes.changes)
        self.notes = [*mixes.notes, *setting.notes]

    @classmethod
    def between(
        cls,
        cycle: Cycle,
        env: Mapping[str, str],
        attempts: Sequence[Attempt],
        recorded: Sequence[Mapping[str, str]],
    ) -> Installed:
        """Those of two attempts; an error says why they can't be varied."""
        pythons = [one.facts.get("python") or {} for one in attempts]
        versions = {one.get("version", "") for one in pythons}
        if len(versions) > 1:
            raise ZeroinError(f"Python itself was another: {' and '.join(sorted(versions))}")
        setting = Setting(cycle, env, _executable(pythons))
        try:
            old, new = (
                described.of_attempt(f"attempt {attempt.id}", told, setting)
                for attempt, told in zip(attempts, recorded, strict=True)
            )
            old, new = described.with_own(old, new, setting)
            mixes = Mixes(setting, old.packages, new.packages)
            mixes.fill()
            return cls(setting, mixes)
        except BaseException:
            setting.close()
            raise

    def change(self, number: int) -> Change:
        """For people."""
        one = self._mixes.changes[number]
        return Change(one.name, one.old or None, one.new or None, "package")

    def why_not(self, made: Collection[int]) -> str:
        """Why they can't be so; "" if they can."""
        back = self._put_back(made)
        return "" if self._graph.with_needed(back) == back else APART

    def groups(self) -> list[list[int]]:
        """What one has to put back together, or what is needed by it."""
        left, found = set(range(self.count)), []
        while left:
            some = {min(left)}
            while True:
                more = {*self._graph.with_needed(some), *self._graph.with_needing(some)}
                if more == some:
                    break
                some = more
            found.append(sorted(some))
            left -= some
        return found

    def inside(
        self, cycle: Cycle, env: Mapping[str, str], made: Iterable[int], own: str
    ) -> tuple[Cycle, Composed]:
        """The same cycle in an environment with these changes, which is made in that folder."""
        name = self._mixes.name(self._put_back(frozenset(made)))
        parts = self._mixes.mix(name).parts
        python = self._setting.python
        composed = compose(os.path.join(own, "env"), python, parts)
        return inside(cycle, composed, python, env), composed

    def _put_back(self, made: Collection[int]) -> frozenset[int]:
        return frozenset(range(self.count)) - frozenset(made)

    def close(self) -> None:
        """Leave nothing behind."""
        self._setting.close()


def _executable(pythons: Iterable[Mapping[str, str]]) -> str:
    """The newest one that is still there; else the one that the command would start now."""
    known = [one.get("executable", "") for one in pythons]
    return next((path for path in reversed(known) if os.access(path, os.X_OK)), "")

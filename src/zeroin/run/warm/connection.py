"""The lines to agents: who is at the other end of each, and what becomes of one that ends."""

from __future__ import annotations

import functools

from zeroin.run.aside import Aside
from zeroin.run.warm.lines import Listener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from zeroin.run.warm.holder import Holder
    from zeroin.run.warm.lines import Line
    from zeroin.run.warm.standby import Standby
    from zeroin.run.warm.table import Runner, Snapshot

    # Who is at the other end; None for a program, and for who has not said so yet.
    Role: TypeAlias = Snapshot | Runner | Holder | Standby | None


class Connection:
    """All lines of one engine.

    `take` gets each message with its line, `lost` who was at the end of a line that has ended.
    """

    def __init__(
        self,
        folder: str,
        take: Callable[[Line, dict[str, Any]], None],
        lost: Callable[[Role], None],
    ) -> None:
        self._take = take
        self._lost = lost
        self._roles: dict[Line, Role] = {}
        self._listener = Listener(folder)
        self.aside = Aside()  # only what agents say, for when nothing else may be heard
        self.aside.add(self._listener.fileno(), self._answer)

    def _answer(self) -> None:
        while (line := self._listener.accept()) is not None:
            self._roles[line] = None
            self.aside.add(line.fileno(), functools.partial(self._hear, line))

    def _hear(self, line: Line) -> None:
        for message in line.read():
            if line in self._roles:
                try:
                    self._take(line, message)
                except (TypeError, ValueError, LookupError, OverflowError):
                    line.ended = True  # no agent says such things
        if line.ended:
            self.hang_up(line)

    def is_open(self, line: Line) -> bool:
        """Whether nobody has hung up yet."""
        return line in self._roles

    def role_of(self, line: Line) -> Role:
        """Who is at the other end of an open line."""
        return self._roles[line]

    def assign_role(self, line: Line, role: Role) -> None:
        """Remember who is at the other end."""
        self._roles[line] = role

    def hang_up(self, line: Line) -> None:
        """End a line, from either side: so does the process there, unless it runs."""
        if line not in self._roles:
            return
        role = self._roles.pop(line)
        self.aside.remove(line.fileno())
        line.close()
        self._lost(role)

    def hang_up_all(self) -> None:
        """End all lines, and take no more calls."""
        for line in list(self._roles):
            self.hang_up(line)
        self._listener.close()

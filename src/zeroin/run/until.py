"""A run that is over once one of its processes has said so.

With a grace that process ends by itself; the others might wait for it for ever, as the ranks of a
training do, so that all are ended then. Without one, all are ended at once.
"""

from __future__ import annotations

from zeroin.run.execute import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper


class Until(Run):
    """Ends all processes some time after a final message."""

    def __init__(
        self,
        keeper: Keeper,
        inbox: Inbox | None,
        timeout: float | None,
        is_final: Callable[[dict[str, Any]], bool],
        grace: float,
    ) -> None:
        super().__init__(keeper, inbox, timeout)
        self.is_final = is_final
        self.grace = grace
        self._heard = 0
        self._end_at: float | None = None

    def _turn(self, timeout: float, exited: int) -> bool:
        done = super()._turn(timeout, exited)
        messages = self.inbox.messages if self.inbox is not None else []
        for message in messages[self._heard :]:
            if self._end_at is None and self.is_final(message):
                self._end_at = self._now() + self.grace
        self._heard = len(messages)
        if self._end_at is not None and not self.stopped and self._now() >= self._end_at:
            self.stop(*(() if self.grace else (0,)))
        return done

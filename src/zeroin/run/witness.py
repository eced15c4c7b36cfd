"""`Witness`: somebody who takes part in a trial without being its launcher.

A witness asks the agent for something before the command starts, hears what the agents tell,
looks at the processes now and then, and may end the run once it has seen enough.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended, Run
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper

OFTEN_ENOUGH = 0.05  # seconds between two looks at a command, unless a witness wants them sooner


class Witness:
    """Every method does nothing: a witness defines those that it needs."""

    may_stop = False  # whether it may end the run: then orphans of the command become ours

    @property
    def holds(self) -> bool:
        """Whether it holds the program still now, and the clock of its time-out with it."""
        return False

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:  # noqa: ARG002
        """Add what it wants to the order of the agents, and what that needs to `env`."""
        return order

    def begin(self, process: Run) -> None:
        """Take notice that the command is running."""

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take what an agent has told."""

    def turn(self, now: float) -> None:
        """Act on the time: called after each event, `now` in seconds since the start."""

    def next_look(self, total: int) -> float:  # noqa: ARG002 - for those who define it
        """Say how many seconds later it wants to look again, at so much memory."""
        return OFTEN_ENOUGH

    def look(self, now: float, total: int, members: Callable[[], Sequence[int]]) -> None:
        """Look at the processes: their memory in bytes, and who they are."""

    def take_signal(self, number: int, *, passed_on: bool) -> None:
        """Take notice of a signal to us, which was or was not passed on to the command."""

    def take_stacks(self) -> tuple[list[Any], str] | None:
        """Give the stacks at the time-out and what they mean; None to leave that to others."""
        return None

    def end(self) -> None:
        """Stop looking: the command has ended."""

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:
        """Read what the agents left in the folder of the inbox, which goes next."""

    def trim_output(self, text: str) -> str:
        """Give the end of the output without lines that are ours: the rest tells what failed."""
        return text

    def correct(self, ended: Ended) -> Ended:
        """Give how the run ended, with what only this witness knows of it."""
        return ended


class Until(Witness):
    """Ends the run some time after a final message.

    With a grace the process that sent it ends by itself; the others might wait for it for ever,
    as the ranks of a training do, so that all are ended then. Without one all are ended at once.
    """

    may_stop = True

    def __init__(self, is_final: Callable[[Mapping[str, Any]], bool], grace: float) -> None:
        self._is_final = is_final
        self._grace = grace
        self._process: Run | None = None
        self._end_at: float | None = None

    def begin(self, process: Run) -> None:
        """See `Witness`."""
        self._process = process

    def hear(self, message: Mapping[str, Any]) -> None:
        """See `Witness`."""
        if self._process is not None and self._end_at is None and self._is_final(message):
            self._end_at = self._process.now() + self._grace

    def turn(self, now: float) -> None:
        """See `Witness`."""
        process = self._process
        if process is None or self._end_at is None or process.stopped or now < self._end_at:
            return
        process.stop(*(() if self._grace else (0.0,)))

"""Starting programs with the agent in them, and taking its messages as the driver would."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from bench.measure import Ended, spawn, wait
from zeroin.run.agent_order import AgentOrder, hand_order
from zeroin.run.environment import lead_to_agent
from zeroin.run.inbox import Inbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from bench.scene import Scene


class Listener:
    """One inbox for many programs; those without the agent go the same way, for fairness."""

    def __init__(self, scene: Scene) -> None:
        self.cwd = scene.make("outside")
        self.bare = scene.env
        self.inbox = Inbox()
        self.env: dict[str, str] = {}
        self.ask_agents(AgentOrder())

    def ask_agents(self, order: AgentOrder) -> None:
        """Let the programs that are started next have this order."""
        env = lead_to_agent(self.bare, debugger=False)
        self.env = hand_order(order, self.inbox.folder, env)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.inbox.close()

    def run(
        self,
        words: Sequence[str],
        *,
        agent: bool,
        look: Callable[[int], object] | None = None,
        every: float = 0.01,
    ) -> tuple[Ended, bytes, list[dict[str, Any]]]:
        """Run one program to its end: how it ended, what it wrote, what its agent said."""
        reading, writing = os.pipe()
        pid = spawn(words, self.env if agent else self.bare, self.cwd, {1: writing})
        os.close(writing)
        try:
            ended = wait(
                pid,
                {self.inbox.socket.fileno(): self._take},
                look=(lambda: look(pid)) if look else None,
                every=every,
            )
            written = os.read(reading, 1 << 16)
        finally:
            os.close(reading)
        self.inbox.drain()
        messages, self.inbox.messages[:] = list(self.inbox.messages), []
        return ended, written, messages

    def _take(self) -> None:
        """Read one message whole: a program waits until a long one is taken."""
        fd = self.inbox.accept()
        while fd is not None and self.inbox.owns(fd) and self.inbox.read(fd):
            pass

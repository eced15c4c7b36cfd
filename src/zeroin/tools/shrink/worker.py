"""What a worker does: the command with one payload after the other, each time in a fresh view."""

from __future__ import annotations

import contextlib
import os

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.run.agent_order import AgentOrder
from zeroin.run.launch import pick_launcher
from zeroin.tools.search.quiet_trial import run_quiet_trial
from zeroin.tools.shrink.clues import texts_of
from zeroin.tools.shrink.opens import Used
from zeroin.tools.shrink.warm import PayloadLauncher
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.run.apart import View


class Order(NamedTuple):
    """One try."""

    command: tuple[str, ...]
    env: Mapping[str, str | None]
    timeout: float | None
    warm: bool = False  # from where the payload is first used, if that can be
    full: bool = False  # with what it says about its failure


class Tryer:
    """In the process of a worker."""

    def __init__(self, cycle: Cycle, environ: Mapping[str, str], view: View) -> None:
        self._cycle = cycle
        self._environ = environ
        self._view = view
        self._warm: PayloadLauncher | None = None

    def tried(self, order: Order) -> Answer:
        """Run it once."""
        cycle = self._cycle._replace(command=order.command, env=order.env, timeout=order.timeout)
        # Resets are run from the start, each time; limits would count what a snapshot took.
        is_warm = order.warm and not cycle.reset and not cycle.limits and not self._view.copied
        if is_warm and self._warm is None:
            self._warm = PayloadLauncher(self._view)
        warm = self._warm if is_warm else None
        launcher = warm or pick_launcher(cycle, self._shared_view())
        folders = [path for _, path in self._view.instead if order.full and os.path.isdir(path)]
        try:
            with Used(folders) if folders else contextlib.nullcontext() as used:
                asked = AgentOrder(brief=not order.full)
                trial = run_quiet_trial(cycle, launcher, self._environ, asked)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        clues = texts_of(trial.messages, trial.outcome.headline) if order.full else ()
        if warm is None:
            told = [f"limit {one.limit} by {one.backend}" for one in trial.ended.limits]
            names = used.names if used is not None else ()
            return Answer(trial.outcome, about=told, clues=clues, used=names)
        return Answer(trial.outcome, "", "", warm.resumed, warm.reason, clues=clues)

    def _shared_view(self) -> View:
        """The view, in which the folder of the engine is everybody's if there is one."""
        return self._view if self._warm is None else self._warm.view

    def close(self) -> None:
        """End what is kept."""
        if self._warm is not None:
            self._warm.close()

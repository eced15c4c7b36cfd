"""What a worker does: the command with one payload after the other, each time in a fresh view."""

from __future__ import annotations

import contextlib
import os

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.run import copies, limited
from zeroin.tools.quiet import Quiet, with_resets
from zeroin.tools.shrink.clues import texts_of
from zeroin.tools.shrink.opens import Used
from zeroin.tools.shrink.warm import Warm, starting
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.execute import Ended, Run
    from zeroin.run.inbox import Inbox


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
        self._view = view
        self._quiet = Quiet(environ)
        self._warm: Warm | None = None

    def tried(self, order: Order) -> Answer:
        """Run it once."""
        cycle = self._cycle._replace(command=order.command, env=order.env, timeout=order.timeout)
        warm_too = order.warm and not cycle.reset  # they are run from the start, each time
        cycle = with_resets(cycle)
        if self._view.copied:
            cycle = copies.made(self._view, cycle)
        if warm_too and self._warm is None:
            self._warm = Warm(self._view)
        warm = self._warm if warm_too else None

        def conduct(run: Run, env: dict[str, str], inbox: Inbox, how: dict[str, Any]) -> Ended:
            if cycle.limits:
                view = None if self._view.copied else self._seen(inbox)
                return limited.execute(run, cycle, env, view=view, **how)
            if self._view.copied:
                return run.execute(cycle.command, cycle.cwd, env, **how)
            view = self._seen(inbox)
            if warm is not None:
                return warm.execute(run, cycle, env, inbox, view, how)
            return run.execute(
                cycle.command, cycle.cwd, env, start=starting(cycle, env, view), **how
            )

        folders = [path for _, path in self._view.instead if order.full and os.path.isdir(path)]
        try:
            with Used(folders) if folders else contextlib.nullcontext() as used:
                outcome, seen = self._quiet.run(cycle, conduct, brief=not order.full)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        clues = texts_of(seen.messages, outcome.headline) if order.full else ()
        if warm is None:
            told = [f"limit {one.limit} by {one.backend}" for one in seen.ended.limits]
            names = used.names if used is not None else ()
            return Answer(outcome, about=told, clues=clues, used=names)
        return Answer(outcome, "", "", warm.resumed, warm.reason, clues=clues)

    def _seen(self, inbox: Inbox) -> View:
        shared = [inbox.folder]
        if self._warm is not None:
            shared.append(self._warm.engine.folder)
        return self._view._replace(as_is=(*self._view.as_is, *shared))

    def close(self) -> None:
        """End what is kept."""
        if self._warm is not None:
            self._warm.engine.close()

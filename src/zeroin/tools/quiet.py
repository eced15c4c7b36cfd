"""Runs that are not recorded and whose output nobody sees: only how they end is asked."""

from __future__ import annotations

import os
import shlex

from zeroin.cycle import Kind
from zeroin.errors import UNTESTABLE
from zeroin.run import environment
from zeroin.run.execute import Ended, Run
from zeroin.tools.recorder import Recorder
from zeroin.tools.run import Options, execute, outcome_of, stacks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.tools.run import Seen

    # Starts the command, given its environment, where its agents deliver, and how it is run.
    Conduct = Callable[[Run, dict[str, str], Inbox, dict[str, Any]], Ended]


RESET_FAILED = "the reset failed:"


class Quiet:
    """In the process of a worker."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._nothing = os.open(os.devnull, os.O_RDWR)

    def run(
        self,
        cycle: Cycle,
        conduct: Conduct,
        only: Callable[[Seen], Seen] | None = None,
        *,
        brief: bool = True,
    ) -> tuple[Outcome, Seen]:
        """How it ends, and what was seen of it; `only` leaves out what is not to be judged."""
        env = environment.users(cycle, self._environ)

        def start(keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
            if inbox is None:
                raise ValueError("there is always an agent here")
            how: dict[str, Any] = {
                "targets": (self._nothing, self._nothing),
                "take_stacks": lambda: stacks_of(inbox),
            }
            return conduct(Run(keeper, inbox, cycle.timeout), env, inbox, how)

        while True:
            recorder = Recorder(cycle, self._environ, keep=False)
            seen = execute(cycle, env, Options(brief=brief, record=False, conduct=start), recorder)
            if not seen.ended.stopped:
                break
            # Nobody but the warm engine stops these runs: one that was resumed has found out that
            # it can't go on soundly. That is no outcome. The snapshot is gone, so the next run
            # goes on from an older one, and at last from none.
        outcome = outcome_of(cycle, env, only(seen) if only is not None else seen, recorder)
        if seen.ended.interrupted:
            outcome = outcome._replace(kind=Kind.UNFINISHED)
        return outcome, seen


def with_resets(cycle: Cycle) -> Cycle:
    """What puts the world back is run where the command is: it sees the same files.

    One that fails ends the try as untestable, and says which it was.
    """
    if not cycle.reset:
        return cycle
    lines = "".join(map(_guarded, cycle.reset))
    words = ("/bin/sh", "-c", f'{lines}exec "$0" "$@"')
    return cycle._replace(command=(*words, *cycle.command), reset=())


def _guarded(line: str) -> str:
    """Make a line of shell that runs a reset, without our agent, and ends all if it fails."""
    complaint = shlex.quote(f"{RESET_FAILED} {line}")
    failed = f"printf '%s\\n' {complaint} >&2; exit {UNTESTABLE}"
    return f"( unset ZEROIN_AGENT\n{line}\n) >&2 || {{ {failed}; }}\n"

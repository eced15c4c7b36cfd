"""`Cycle`: everything that is fixed before the command starts."""

from __future__ import annotations

from zeroin.digest import digest
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Cycle(NamedTuple):
    """Put the world back, then run one command with a known environment.

    `env` holds this run's own changes to the environment; None takes a variable away.
    """

    command: tuple[str, ...]
    cwd: str
    env: Mapping[str, str | None] = {}
    reset: tuple[str, ...] = ()
    restore: tuple[str, ...] = ()
    timeout: float | None = None
    seed: int | None = None
    sync: bool = False
    limits: tuple[str, ...] = ()  # as they were asked for: "disk=/data:50M"
    at: tuple[str, ...] = ()  # probes, likewise: "train.py:41 peek=x"

    def key(self) -> str:
        """Name the cycle: two runs of the same command in the same folder are one cycle.

        Settings are left out, so that `--restore` puts back the same first state when only a
        variable was changed between two attempts.
        """
        return digest("\0".join((self.cwd, *self.command)))

"""The words that the loop and whoever shows it exchange."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from zeroin.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle import Outcome
    from zeroin.emulate.part import Effect
    from zeroin.errors import ZeroinError
    from zeroin.tools.loop.saves import Broken


class Order(Enum):
    """What the user may ask for between two runs."""

    RUN = "run"
    COLD = "cold"
    VERIFY = "verify"
    DEBUG = "debug"
    HELP = "help"
    QUIT = "quit"


class LoopOptions(NamedTuple):
    """How to loop, beside what to run."""

    once: bool = False
    verify: bool = False
    strict: bool = False  # never patch, only go back
    lenient: bool = False  # resume at the failure: not what a cold run would give
    budget: int | None = None  # bytes for snapshots
    standby: bool = True  # run ahead in the background where there can be no snapshots
    stdin: str | None = None  # a file that the program reads, instead of our own stdin
    profile: int = 0  # statements to show, those that took longest
    targets: tuple[int, int] = (1, 2)


class Statement(NamedTuple):
    """What a statement took, with the short ones right before it."""

    file: str
    line: int
    end_line: int  # where the last of them begins
    source: str
    times: int
    sampled: bool  # it was run more often: too often to be seen each time
    seconds: float  # without the user's own functions that it called
    share: float  # of all that was measured
    memory: int  # bytes that the program holds more after it, or less


class Iteration(NamedTuple):
    """One run of the loop."""

    n: int
    outcome: Outcome
    status: int = 0  # as wait(2) gives it
    attempt: int | None = None
    mode: str | None = None  # "cold", "resumed", "standby", "from-failure"; None: nothing ran
    resumed_at: str | None = None  # "train.py:88"
    saved: float = 0.0  # seconds
    reason: str = ""  # why it was cold, or went back further, or was stopped
    snapshots: int = 0
    snapshot_bytes: int = 0
    gate: str = ""  # since which line there are no snapshots, and why
    never: bool = False  # there are none from the very start
    stopped: bool = False  # by a save
    broken: Broken | None = None
    verified: bool | None = None
    verify_seconds: float | None = None
    difference: str = ""  # between this and the cold run
    cold_attempts: tuple[int, ...] = ()  # those it was compared with
    warnings: tuple[str, ...] = ()
    profile: tuple[Statement, ...] = ()
    limits: tuple[Effect, ...] = ()


class LoopEnd(NamedTuple):
    """Why the loop is over."""

    last: Iteration | None
    differed: bool = False  # a verified run was not what a cold run gave
    signal: int = 0


class Desk(Protocol):
    """Where the user's orders come from, while no program runs."""

    def open(self, *, after_run: bool) -> None:
        """Listen: the terminal is ours. What came during a run was meant for the program."""

    def close(self) -> None:
        """The terminal is the program's, as it was."""

    def fileno(self) -> int:
        """What to poll; -1 when there is nothing to wait for."""

    def terminal(self) -> tuple[int, int, int] | None:
        """Descriptors to speak with the user, if there is one."""

    def read(self) -> Sequence[Order]:
        """What has been asked for since."""


class Teller(Protocol):
    """Who shows what happens."""

    def iteration(self, done: Iteration, *, more: bool) -> None:
        """A run is over; with `more`, its verification comes next."""

    def verified(self, done: Iteration) -> None:
        """It has been compared with a cold run."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def error(self, error: ZeroinError) -> None:
        """A run could not be made; the loop goes on."""

    def waiting(self) -> None:
        """Keys count again, after something else had the terminal."""

    def help(self) -> None:
        """Which keys there are."""

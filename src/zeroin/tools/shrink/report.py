"""What `shrink` is asked for, what it tells on the way, and what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from zeroin.cycle.signature import Strength
from zeroin.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle import Outcome


class ShrinkOptions(NamedTuple):
    """How to search, and what counts as the same failure."""

    paths: tuple[str, ...]
    strength: Strength = Strength.NORMAL
    match: str = ""
    exit_code: int | None = None
    interesting: str = ""  # a script that says so itself, by exit code 0
    inline: bool = False  # fold the modules that the script imports into it
    args: bool = False  # the command's own words get fewer as well
    env: bool = False  # and the variables
    jobs: int = 1
    cold: bool = False  # each try from the start
    fresh: bool = False  # forget what an earlier search has found out
    confidence: float = 0.99
    out: str = ""  # where the result goes; a folder, if there are several


class Baseline(NamedTuple):
    """How it fails as it is."""

    outcomes: tuple[Outcome, ...]
    headline: str
    signature: str
    times: int  # of the runs
    repeats: int  # a try, so that a miss is a miss
    seconds: float = 0.0  # of a whole run
    warm_seconds: float | None = None  # from where the payload is used; None if it can't be
    cold_because: str = ""
    wanted: str = ""  # what the user takes for the failure, if it was not seen


class OtherFailure(NamedTuple):
    """Another bug that was met on the way."""

    signature: str
    headline: str
    times: int
    example: str  # where a payload is kept that shows it


class Shrunk(NamedTuple):
    """One payload before and after."""

    path: str
    result: str  # where it is written; "" if it is no file
    noun: str
    bytes_before: int
    bytes_after: int
    parts_before: int
    parts_after: int
    text: str = ""  # what is left, if it is no file: words of a command


class Step(NamedTuple):
    """It became smaller: when, and how small."""

    tries: int
    seconds: float
    bytes_now: int


class ShrinkReport(NamedTuple):
    """The answer."""

    verdict: str  # found, unconfirmed, not-reproduced, independent, interrupted
    baseline: Baseline
    tries: int
    resumed: int  # answers that an earlier search had found
    seconds: float
    warm: bool
    confirmed: bool
    others: Sequence[OtherFailure]
    payloads: Sequence[Shrunk]
    command: Sequence[str]  # that shows the result,
    cwd: str  # run in this folder
    notes: Sequence[str] = ()
    steps: Sequence[Step] = ()


class Progress(NamedTuple):
    """How far it is."""

    tries: int
    seconds: float
    bytes_before: int
    bytes_now: int
    parts_before: int
    parts_now: int
    noun: str
    others: int


class Teller(Protocol):
    """Who is told on the way."""

    def baseline(self, baseline: Baseline) -> None:
        """How it fails."""

    def progress(self, progress: Progress) -> None:
        """Often; never needed."""

    def note(self, text: str) -> None:
        """Something to know."""

"""What `bisect` is asked for, what it tells on the way, and what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from zeroin.cycle.signature import Strength
from zeroin.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.cycle import Outcome, Verdict
    from zeroin.tools.workers import Servant


class BisectOptions(NamedTuple):
    """How to search, and what counts as the same failure."""

    strength: Strength = Strength.NORMAL
    match: str = ""
    exit_code: int | None = None
    fixed: bool = False  # look for what repaired it
    repeat: int = 0  # runs a try; 0: as many as it takes
    confidence: float = 0.95  # where it fails only sometimes
    jobs: int = 1
    cold: bool = False  # each try from the start
    fresh: bool = False  # forget what an earlier search has found out
    max_runs: int = 0  # then it stops, whatever is known by then; 0: no such limit
    warm: bool = False  # from snapshots, without finding out whether that pays
    by_place: bool = False  # the same exception in the same function counts, in whatever words

    @property
    def question(self) -> BisectOptions:
        """What the answers of tries depend on, without how many of them are made."""
        return self._replace(jobs=0, fresh=False, max_runs=0, warm=False)

    @property
    def says_what(self) -> bool:
        """Whether the user said what counts as the same failure."""
        plain = self.strength is Strength.NORMAL and self.exit_code is None
        return bool(self.match) or not plain


class Axis(Protocol):
    """What varies: candidates by their names, and who tries one."""

    noun: str  # of one candidate
    key: str  # the same for the same question

    def label(self, name: str) -> str:
        """A candidate as a line calls it."""

    def servant(self, slot: int) -> Servant:
        """In a worker's process: who tries `TrialOrder`s there."""


class TrialOrder(NamedTuple):
    """What a worker is told."""

    name: str
    timeout: float | None = None
    cold: bool = False
    bound: float | None = None  # seconds, if it is to go on from a snapshot or to leave one


class Tried(NamedTuple):
    """One try that is over."""

    name: str
    label: str
    verdict: Verdict | None  # None while nobody knows what to look for
    outcome: Outcome | None
    reason: str = ""  # why it could not be tested
    again: bool = False  # it had been tried before
    fixed: bool = False  # what works is what is looked for


class Progress(NamedTuple):
    """How far it is."""

    tried: Tried
    between: int  # candidates that are left
    tries: int  # so far,
    tries_left: float  # and about so many more
    seconds_left: float
    noun: str = ""  # of one candidate


class Ends(NamedTuple):
    """How it goes at both ends."""

    good: str
    bad: str
    good_headline: str  # "" if it works
    bad_headline: str
    signature: str
    between: int
    rate: float = 1.0  # how often it fails at the bad end
    fixed: bool = False  # it fails at the good end, and works at the bad one
    at_once: int = 1  # tries
    noun: str = ""  # of one candidate


class Skipped(NamedTuple):
    """A candidate that tells nothing."""

    name: str
    reason: str


class Culprit(NamedTuple):
    """A change that it takes."""

    name: str
    old: str | None  # None: there was nothing
    new: str | None
    about: Mapping[str, Any] = {}


class BisectReport(NamedTuple):
    """The answer."""

    axis: str
    verdict: str  # found, range, not-reproduced, interrupted
    headline: str = ""
    signature: str = ""
    first_bad: str = ""
    last_good: str = ""
    candidates: Sequence[str] = ()  # where only a range can be told
    skipped: Sequence[Skipped] = ()
    culprits: Sequence[Culprit] = ()
    tries: int = 0
    resumed: int = 0
    seconds: float = 0.0
    confidence: float = 1.0
    confirmed: bool = False
    fixed: bool = False
    why: str = ""  # it is not reproduced
    hint: str = ""
    about: Mapping[str, Any] = {}  # what there is to tell of the answer
    notes: Sequence[str] = ()
    flaky: bool = False  # runs of the same thing told different things


class Teller(Protocol):
    """Who is told on the way."""

    def ends(self, ends: Ends) -> None:
        """Both ends are known."""

    def progress(self, progress: Progress) -> None:
        """A try is over."""

    def note(self, text: str) -> None:
        """Something to know."""

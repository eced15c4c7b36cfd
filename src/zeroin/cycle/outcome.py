"""`Outcome`: what came of one run of a cycle."""

from __future__ import annotations

from enum import Enum

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle.crash import Crash, Spot
    from zeroin.cycle.signature import Signature


class Kind(Enum):
    """The one word for how a run ended, as `--json` says it."""

    PASSED = "passed"
    FAILED = "failed"
    HANG = "hang"
    LIMIT = "limit"
    KILLED = "killed"
    UNFINISHED = "unfinished"


class Explanation(NamedTuple):
    """What failed, for comparing and for reading."""

    kind: Kind
    signature: Signature | None = None
    headline: str = ""
    crash: Crash | None = None  # the one that tells most

    @property
    def spot(self) -> Spot | None:
        """Where its exception was raised."""
        if self.crash is None:
            return None
        from zeroin.cycle.crash import spot_of

        return spot_of(self.crash)


class Outcome(NamedTuple):
    """How it ended, what failed, and what it cost."""

    kind: Kind
    exit_code: int | None = None
    signature: Signature | None = None
    headline: str = ""  # for people: with file, numbers and paths as they were
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    spot: Spot | None = None  # where an exception was raised

    @property
    def failed(self) -> bool:
        """Whether there is something to debug: every failure has a signature.

        What the user interrupted has none.
        """
        return self.signature is not None

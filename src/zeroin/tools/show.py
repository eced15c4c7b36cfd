"""`show`: one attempt, whole."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple
from zeroin.tools.recorder import LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.record.store import Attempt
    from zeroin.tools.compare import Difference
    from zeroin.tools.reading import Reading


class ShowReport(NamedTuple):
    """All that is kept of an attempt."""

    attempt: Attempt
    running: bool
    environment: dict[str, str]
    packages: dict[str, str]
    evidence: dict[str, Any]
    same_as: list[int]
    previous: int | None
    changed: Difference | None
    output: bytes
    log: str | None  # the file of its log records, if it was run with --log


def show(reading: Reading, name: str) -> ShowReport:
    """Look one attempt up."""
    from zeroin.run import keep
    from zeroin.tools.reading import is_running

    attempt = reading.store.resolve(name)
    previous, changed = since_previous(reading, attempt)
    return ShowReport(
        attempt,
        is_running(attempt),
        reading.store.get(attempt.environment) or {},
        reading.store.get(attempt.packages) or {},
        reading.store.get(attempt.evidence) or {},
        reading.store.same_failure(attempt.signature, attempt.id) if attempt.signature else [],
        previous,
        changed,
        keep.text(reading.output_folder(attempt)),
        log_of(reading, attempt),
    )


def log_of(reading: Reading, attempt: Attempt) -> str | None:
    """The file of an attempt's log records; None if it has none."""
    path = os.path.join(reading.output_folder(attempt), LOG)
    return path if os.path.exists(path) else None


def since_previous(reading: Reading, attempt: Attempt) -> tuple[int | None, Difference | None]:
    """The attempt before, and what changed since."""
    from zeroin.tools.compare import compare

    previous = reading.store.previous(attempt)
    if previous is None:
        return None, None
    return previous.id, compare(reading.store, reading.shadow(attempt), previous, attempt)

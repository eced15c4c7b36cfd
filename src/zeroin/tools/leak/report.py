"""What `leak` found, as data."""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.observe.trend import Trend
    from zeroin.tools.run import RunReport


class Place(NamedTuple):
    """What repeats: a loop, a function, or the whole run."""

    kind: str
    file: str
    line: int
    name: str
    times: int


class Leak(NamedTuple):
    """The whole answer. `verdict` is "leaks", "fills", "steady", "cycles" or "unknown"."""

    verdict: str
    place: Place | None
    trends: dict[str, Trend]
    grown: list[str]  # what of it leaks: "in_use", "fds", ...
    who: dict[str, Any] | None  # of the second run
    run: RunReport  # the first one
    pid: int
    reason: str = ""  # why nothing can be told: in all, or ("silent") about who holds it

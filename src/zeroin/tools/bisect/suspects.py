"""How suspicious each change is, by what a run has loaded: it saves tries, and decides nothing."""

from __future__ import annotations

import re

from zeroin.named import NamedTuple
from zeroin.run.uv import normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from zeroin.axes.envs.needs import Change

STRANGE, LOADED, SHOWN = 0.2, 3.0, 10.0  # not loaded; loaded; in the traceback or the message
_WORD = re.compile(r"[A-Za-z_][\w.-]*")


class Traces(NamedTuple):
    """What a run has left."""

    loaded: Collection[str] = ()  # packages
    shown: Collection[str] = ()  # packages that the traceback goes through


def chances(changes: Sequence[Change], seen: Sequence[Traces], headline: str) -> list[float]:
    """Of each change to be at fault, as a number beside those of the others."""
    words = {
        normal(part) for word in _WORD.findall(headline) for part in (word, word.split(".")[0])
    }
    loaded = {name for one in seen for name in one.loaded}
    shown = {name for one in seen for name in one.shown} | words
    found = []
    for change in changes:
        weight = SHOWN if change.name in shown else LOADED if change.name in loaded else STRANGE
        found.append(weight * _jump(change.old, change.new))
    return found


def _jump(old: str, new: str) -> float:
    """The larger the step, the more may have changed."""
    if not old or not new:
        return 1.0
    before, after = old.split("."), new.split(".")
    if before[0] != after[0]:
        return 2.0
    return 1.0 if before[1:2] != after[1:2] else 0.5

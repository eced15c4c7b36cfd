"""Candidates that fail in the same place with other words: a message is part of what changes.

Only what is left over of a search is looked at so: as long as the words tell failures apart, an
answer is never made of two failures that only have their place in common.
"""

from __future__ import annotations

from zeroin.cycle import Verdict
from zeroin.tools.bisect.judge import ByLine, ByPlace
from zeroin.tools.bisect.ordered import Ordered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from zeroin.tools.bisect.report import BisectOptions
    from zeroin.tools.bisect.row import Found
    from zeroin.tools.bisect.tries import Tries

SHOWN = 3  # names in a note


def in_other_words(
    tries: Tries, row: Sequence[str], found: Found, options: BisectOptions
) -> tuple[Found, tuple[str, ...]]:
    """The answer if failures in the same place count as the same; and which count by that.

    The program stays as it is here, only what it imports changes: the place is a line.
    """
    if found.verdict != "range":
        return found, ()
    left = row[row.index(found.good) + 1 : row.index(found.bad)]
    again = lambda: Ordered(tries, [found.good, *left, found.bad], options).find()  # noqa: E731
    return searched_again(tries, left, found, options, again, ByLine)


def searched_again(
    tries: Tries,
    left: Iterable[str],
    found: Found,
    options: BisectOptions,
    again: Callable[[], Found],
    kind: type[ByPlace] = ByPlace,
) -> tuple[Found, tuple[str, ...]]:
    """Likewise for any search that has left some over."""
    judge, told = tries.judge, alike(tries, left, options, kind)
    if judge is None or not told:
        return found, ()
    tries.judge = kind(*judge)
    inner = again()
    tries.judge = judge
    if inner.verdict not in ("found", "range"):
        return found, ()
    return inner._replace(note=note(tries, told)), told


def alike(
    tries: Tries, names: Iterable[str], options: BisectOptions, kind: type[ByPlace] = ByPlace
) -> tuple[str, ...]:
    """Those that told nothing by their words, but do by their place."""
    judge = tries.judge
    if judge is None or options.says_what:
        return ()
    wider = kind(*judge)
    return tuple(
        name
        for name in names
        if tries.verdict(name) is Verdict.OTHER
        and wider.verdict(tries.outcomes.get(name, [None])[-1]) is not Verdict.OTHER
    )


def note(tries: Tries, names: Sequence[str]) -> str:
    """Which count by their place alone."""
    labels = [tries.axis.label(name) for name in names[:SHOWN]]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    told = f"{', '.join(labels)}{more} ({tries.why(names[0])})"
    return f"in the same place, but in other words: {told}"

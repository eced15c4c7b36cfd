"""Looking for one that works, where only a bad one was named."""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.tools.bisect.tries import Tries

BETWEEN = 15  # candidates that are looked at where each step back went too far


class Walked(NamedTuple):
    """What was found."""

    good: str  # "" if nothing works
    bad: str  # the last one that fails in the same way
    otherwise: str  # the newest that fails in another way


def walk(tries: Tries, row: Sequence[str], *, fixed: bool, at_once: int = 1) -> Walked:
    """Back along a row whose first has been run: each step twice as far as the one before.

    A step may lead past all that work, to where something else is broken: then what lies between
    is looked at.
    """
    baseline = tries.outcomes[row[0]][-1]
    bad, otherwise = 0, ""

    def tried(places: Sequence[int]) -> int | None:
        """The first of them that works."""
        nonlocal bad, otherwise
        names = [row[place] for place in places]
        tries.run([name for name in names if not tries.is_known(name)])
        for place, name in zip(places, names, strict=True):
            seen = tries.outcomes.get(name)
            if seen is None:
                continue
            if seen[-1].failed is fixed:
                return place
            if str(seen[-1].signature) == str(baseline.signature):
                bad = max(bad, place)
            else:
                otherwise = otherwise or name
        return None

    def found(places: Sequence[int]) -> int | None:
        for start in range(0, len(places), at_once):
            good = tried(places[start : start + at_once])
            if good is not None:
                return good
        return None

    good = found(list(_steps(len(row))))
    if good is None:
        known = {place for place, name in enumerate(row) if tries.is_known(name)}
        behind = min((place for place in known if place > bad), default=len(row))
        left = [*spread(bad + 1, behind), *spread(behind, len(row))]
        good = found([place for place in left if place not in known][:BETWEEN])
    if good is None:
        return Walked("", row[bad], otherwise)
    # One that fails in the same way may be older than one that works.
    newer = [place for place in range(good) if _is_same(tries, row[place], str(baseline.signature))]
    return Walked(row[good], row[max(newer)], otherwise)


def _is_same(tries: Tries, name: str, signature: str) -> bool:
    seen = tries.outcomes.get(name)
    return seen is not None and str(seen[-1].signature) == signature


def _steps(count: int) -> Iterator[int]:
    """To the last one of all."""
    step = 1
    while step < count:
        yield step
        step *= 2
    if count > 1 and count - 1 != step // 2:
        yield count - 1


def spread(first: int, behind: int) -> list[int]:
    """All between, so that the first few are spread out well."""
    found: list[int] = []
    ranges = [(first, behind)]
    while ranges:
        start, stop = ranges.pop(0)
        if start < stop:
            middle = (start + stop) // 2
            found.append(middle)
            ranges += [(start, middle), (middle + 1, stop)]
    return found

"""How many questions each way of reducing asks, on the same parts and the same rules.

No command is run: a rule says at once whether some of n parts are enough. Beside ours stand ddmin
(Zeller and Hildebrandt), ProbDD (Wang and others), and the deletion of blocks that get smaller by
half (as lithium does it). Each remembers what it has asked, so that only new questions count.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from bench.report import Row
from zeroin.search import asking
from zeroin.search.fewest import Fewest
from zeroin.search.ranges import members

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

    Rule = Callable[[frozenset[int]], bool]

FULL = 6_000  # questions after which a way is given up


def measure(_: Scene) -> list[Row]:
    """A row a rule."""
    return [_compared(name, count, rule) for name, count, rule in _rules()]


def _rules() -> list[tuple[str, int, Rule]]:
    drawn = random.Random(1)
    some = frozenset(drawn.sample(range(1000), 10))
    many = frozenset(drawn.sample(range(1000), 100))
    chain = sorted(drawn.sample(range(400), 12))
    return [
        ("1 of 5,000", 5000, lambda kept: 3141 in kept),
        ("2 of 5,000", 5000, lambda kept: {1234, 4000} <= kept),
        ("10 of 1,000, anywhere", 1000, lambda kept: some <= kept),
        ("10 of 1,000, side by side", 1000, lambda kept: set(range(500, 510)) <= kept),
        ("100 of 1,000", 1000, lambda kept: many <= kept),
        ("5 of 200, the others need their neighbour", 200, _needs_neighbours),
        ("a chain: each needs the one before", 400, lambda kept: _is_chain(kept, chain)),
        ("either of two", 1000, lambda kept: 100 in kept or {900, 901} <= kept),
        ("an even number of parts, one of 300", 300, lambda k: 77 in k and len(k) % 2 == 0),
    ]


def _needs_neighbours(kept: frozenset[int]) -> bool:
    """As a definition and its uses: what uses something without it breaks in another way."""
    whole = all(one - 1 in kept for one in kept if one % 4 == 3)
    return whole and {19, 18, 99, 98, 160} <= kept


def _is_chain(kept: frozenset[int], chain: list[int]) -> bool:
    """A later one must not be there without all before it; the first is what matters."""
    there = [one in kept for one in chain]
    return there[0] and there == sorted(there, reverse=True)


def _compared(name: str, count: int, rule: Rule) -> Row:
    found = {way: _asked(run, count, rule) for way, run in WAYS.items()}
    ours = found["ours"]
    others = ", ".join(f"{way} {_told(one)}" for way, one in found.items() if way != "ours")
    return Row(
        name,
        f"{ours['questions']:>5,} questions, {ours['left']} left",
        others,
        values=found,
    )


def _told(one: dict[str, int]) -> str:
    asked = f"{one['questions']:,}" if one["questions"] < FULL else f"over {FULL:,}"
    return f"{asked} ({one['left']} left)"


class _EnoughError(Exception):
    pass


def _asked(run: Callable[[int, Rule], frozenset[int]], count: int, rule: Rule) -> dict[str, int]:
    known: dict[frozenset[int], bool] = {}
    best = frozenset(range(count))

    def ask(kept: frozenset[int]) -> bool:
        nonlocal best
        if kept not in known:
            if len(known) >= FULL:
                raise _EnoughError
            known[kept] = rule(kept)
            if known[kept] and len(kept) < len(best):
                best = kept
        return known[kept]

    try:
        run(count, ask)
    except _EnoughError:
        pass
    return {"questions": len(known), "left": len(best)}


def _ours(count: int, ask: Rule) -> frozenset[int]:
    done = asking.run(Fewest.of(count), lambda parts: ask(frozenset(members(parts))))
    return frozenset(members(done.kept))


def _ddmin(count: int, ask: Rule) -> frozenset[int]:
    kept, pieces = list(range(count)), 2
    while len(kept) >= 2:
        size = -(-len(kept) // pieces)
        blocks = [kept[at : at + size] for at in range(0, len(kept), size)]
        chosen: list[int] | None = None
        for block in blocks:
            if ask(frozenset(block)):
                chosen, pieces = block, 2
                break
        else:
            for block in blocks:
                rest = [one for one in kept if one not in set(block)]
                if ask(frozenset(rest)):
                    chosen, pieces = rest, max(pieces - 1, 2)
                    break
        if chosen is not None:
            kept = chosen
        elif pieces < len(kept):
            pieces = min(len(kept), 2 * pieces)
        else:
            break
    return frozenset(kept)


def _probdd(count: int, ask: Rule, start: float = 0.1) -> frozenset[int]:
    """Each part has a chance of being needed; the set that promises most is left out."""
    chance = dict.fromkeys(range(count), start)
    while True:
        order = sorted((one for one in chance if chance[one] < 1), key=lambda one: chance[one])
        out, safe, best = [], 1.0, 0.0
        for one in order:
            safe *= 1 - chance[one]
            if (len(out) + 1) * safe <= best:
                break
            out.append(one)
            best = len(out) * safe
        if not out:
            return frozenset(chance)
        if ask(frozenset(chance) - frozenset(out)):
            for one in out:
                del chance[one]
            continue
        fails = 1.0
        for one in out:
            fails *= 1 - chance[one]
        for one in out:
            chance[one] = 1.0 if len(out) == 1 else min(1.0, chance[one] / (1 - fails))


def _halving(count: int, ask: Rule) -> frozenset[int]:
    kept, size = list(range(count)), count
    while size >= 1:
        at, gone = 0, False
        while at < len(kept):
            rest = kept[:at] + kept[at + size :]
            if ask(frozenset(rest)):
                kept, gone = rest, True
            else:
                at += size
        if size > 1 or not gone:
            size //= 2
    return frozenset(kept)


WAYS: dict[str, Any] = {"ours": _ours, "ddmin": _ddmin, "ProbDD": _probdd, "halving": _halving}

"""What works is run again until it was hardly luck: a failure may show only sometimes."""

from __future__ import annotations

from zeroin.cycle import Verdict
from zeroin.search import sure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from zeroin.tools.bisect.tries import Tries

MOST = 12  # runs of one: it may also end in other ways, which tell nothing


def until_sure(tries: Tries, names: Iterable[str], confidence: float) -> float:
    """Run those that work as often as it takes, and tell how sure it is that they all do.

    It ends early where runs of the same thing differ: then all has to be looked at again.
    """
    working = [name for name in dict.fromkeys(names) if tries.verdict(name) is Verdict.PASSED]
    while True:
        failed = sum(tries.verdicts(name).count(Verdict.SAME) for name in tries.outcomes)
        lucky = {
            name: sure.luck(failed, tries.verdicts(name).count(Verdict.PASSED)) for name in working
        }
        doubt = sum(lucky.values())
        again = [
            name
            for name, chance in lucky.items()
            if chance > (1 - confidence) / len(lucky) and tries.runs(name) < MOST
        ]
        if doubt <= 1 - confidence or not again or any(map(tries.is_flaky, working)):
            return max(0.0, 1 - doubt)
        tries.run(again, cold=True)

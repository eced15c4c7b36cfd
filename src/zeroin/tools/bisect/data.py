"""`bisect data`: which rows of a new file break what worked with the old one."""

from __future__ import annotations

from zeroin.axes.changes.choice import Choice
from zeroin.axes.changes.rows import Rows
from zeroin.errors import UsageError
from zeroin.tools.bisect.replaced import Mixture, bisect_mixture, opened, places_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller


def bisect_data(
    cycle: Cycle,
    names: tuple[str, str],
    at: str,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """In each try, the old file with some of the new rows is in the place that is read."""
    two = opened(*names, cycle.cwd)
    rows = Rows(*two.contents, names)
    if not rows.swaps:
        raise UsageError(
            f"{names[0]} and {names[1]} have the same rows",
            hint="it takes one that works and one that fails",
        )
    replaced = places_of(two, at, cycle)
    hold = "holds" if len(replaced) == 1 else "hold"
    teller.note(f"in each try, {' and '.join(replaced)} {hold} a mixture of the two")
    mixture = Mixture(
        "data",
        "row",
        names,
        Choice.whole(len(rows.swaps)),
        rows.change,
        rows.content,
        replaced,
    )
    return bisect_mixture(mixture, cycle, options, environ, teller, two.contents)

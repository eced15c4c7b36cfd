"""`bisect settings`: which key of a file of settings, or which variable, breaks it."""

from __future__ import annotations

from zeroin.axes.changes.choice import Change, Choice
from zeroin.axes.changes.settings import Settings
from zeroin.errors import UsageError
from zeroin.search.ranges import members
from zeroin.tools.bisect.replaced import Mixture, bisect_mixture, opened, places_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.axes.changes.choice import Ranges
    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller


def bisect_settings(
    cycle: Cycle,
    names: tuple[str, str],
    at: str,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Two files; in each try a mixture of them is in the place that the command reads."""
    two = opened(*names, cycle.cwd)
    settings = Settings(*two.contents, names)
    if not settings.changes:
        raise _equal(names)
    replaced = places_of(two, at, cycle)
    hold = "holds" if len(replaced) == 1 else "hold"
    teller.note(f"in each try, {' and '.join(replaced)} {hold} a mixture of the two")
    mixture = Mixture(
        "settings",
        "setting",
        names,
        Choice.whole(len(settings.changes)),
        lambda number: settings.changes[number],
        lambda made: settings.content(frozenset(members(made))),
        replaced,
        valid=lambda made: settings.is_valid(frozenset(members(made))),
    )
    return bisect_mixture(mixture, cycle, options, environ, teller, two.contents)


def bisect_variables(
    cycle: Cycle,
    names: tuple[str, str],
    sets: tuple[Mapping[str, str], Mapping[str, str]],
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Two sets of variables."""
    old, new = sets
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if not changed:
        raise _equal(names)

    def variables(made: Ranges) -> dict[str, str | None]:
        found: dict[str, str | None] = dict(old)
        for number in members(made):
            found[changed[number]] = new.get(changed[number])
        for name in changed:
            found.setdefault(name, None)  # as if nobody had set it
        return found

    def change(number: int) -> Change:
        name = changed[number]
        return Change(name, old.get(name), new.get(name), "variable")

    mixture = Mixture(
        "settings",
        "variable",
        names,
        Choice.whole(len(changed)),
        change,
        None,
        variables=variables,
    )
    return bisect_mixture(mixture, cycle, options, environ, teller, sets)


def _equal(names: tuple[str, str]) -> UsageError:
    return UsageError(
        f"{names[0]} and {names[1]} say the same", hint="it takes one that works and one that fails"
    )

"""Limits that depend on what was recorded: `memory=90%` is of the last passing attempt's peak."""

from __future__ import annotations

from zeroin.emulate import registry, values
from zeroin.errors import StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.emulate.part import Limit

OF_THE_PEAK = ("memory", "memory-error")


def resolved(cycle: Cycle, environ: Mapping[str, str]) -> Cycle:
    """With the peak beside each share of it; UsageError where a limit can't be meant."""
    limits = registry.parse_all(cycle.limits)
    texts = [_resolved(limit, cycle, environ).text for limit in limits]
    return cycle._replace(limits=tuple(texts))


def with_value(text: str, value: int) -> str:
    """The same limit with another size: what a search over sizes tries next."""
    return values.with_amount(registry.parse(text), value).text


def _resolved(limit: Limit, cycle: Cycle, environ: Mapping[str, str]) -> Limit:
    if not limit.share or limit.name not in OF_THE_PEAK:
        return limit
    peak = peak_of(cycle, environ)
    if not peak:
        raise UsageError(
            f"--limit {limit.text}: a share of what? No attempt of this command has passed yet",
            hint="run it without the limit first, or give a size: --limit memory=2G",
        )
    return values.of_whole(limit, peak)


def peak_of(cycle: Cycle, environ: Mapping[str, str], *, passed: bool = True) -> int:
    """Of the last attempt (that passed), of this very command or else of its program."""
    from zeroin.record import place as places
    from zeroin.record.store import Store
    from zeroin.tools.recorder import program_of

    try:
        store = Store(places.find(cycle.cwd, environ).folder, create=False)
    except StoreError:
        return 0
    try:
        return store.last_peak(cycle.key(), program_of(cycle.command), passed=passed)
    finally:
        store.close()

"""`zeroin gc`."""

from __future__ import annotations

import os

from zeroin.errors import StoreError
from zeroin.fronts import words
from zeroin.fronts.cli.options import add_json, here
from zeroin.fronts.cli.parsing import Parser
from zeroin.record import place as places
from zeroin.run.package_cache import collect_cache
from zeroin.tools import config
from zeroin.tools.gc import KEEP, collect, drop_gone_records
from zeroin.tools.reading import open_record
from zeroin.tools.sizes import parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.run.package_cache import CacheReport
    from zeroin.tools.gc import GcReport

EXAMPLES = f"""\
  zeroin gc                  down to the bounds of the settings (store_max, cache_max)
  zeroin gc --to 100M        the oldest attempts go first; the last {KEEP} always stay
  zeroin gc --cache-to 0     empty the cache of searches
"""


def parser() -> Parser:
    """All options of `gc`."""
    p = Parser(
        "gc",
        "Keep the record of this project below a size, and the packages and environments that\n"
        "searches share (~/.cache/zeroin) below another one. What is in use stays.",
        "[options]",
        EXAMPLES,
    )
    p.add_argument("--to", metavar="SIZE", help="how large the record may be: 100M, 2GiB")
    p.add_argument("--cache-to", metavar="SIZE", help="how large the cache may be")
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Collect."""
    given = parser().parse_args(args)
    cwd = here()
    settings = config.load(places.find(cwd, os.environ).root, os.environ, words.warn)
    record_bound = parse_size(given.to) if given.to else settings.store_max
    cache_bound = parse_size(given.cache_to) if given.cache_to else settings.cache_max
    report, missing = _collect_record(cwd, record_bound)
    gone = drop_gone_records(os.environ)
    cache = collect_cache(os.environ, cache_bound)
    if given.json:
        words.put_json(_as_data(report, gone, cache, cache_bound))
        return 0
    words.put(_describe_record(report) if report else missing)
    if report and report.note:
        words.warn(report.note)
    if gone:
        whose = "record of a folder that is" if len(gone) == 1 else "records of folders that are"
        words.put(f"removed the {whose} gone: {', '.join(map(words.tilde, gone))}")
    if said := _describe_cache(cache, cache_bound):
        words.put(said)
    return 0


def _collect_record(cwd: str, bound: int) -> tuple[GcReport | None, str]:
    """What was taken from the record; None and the reason if there is no record here."""
    try:
        with open_record(cwd, os.environ, words.warn) as reading:
            return collect(reading.store, reading.shadow(), bound), ""
    except StoreError as error:
        if os.path.exists(os.path.join(places.find(cwd, os.environ).folder, places.STORE)):
            raise
        return None, error.message


def _describe_record(report: GcReport) -> str:
    if report.removed:
        said = (
            f"took {_count(len(report.removed), 'attempt')} "
            f"({words.numbers(sorted(report.removed))}): "
            f"{words.size(report.before)} → {words.size(report.after)}"
        )
    else:
        said = f"nothing to take: the record holds {words.size(report.after)}"
    if report.after <= report.bound:
        return said
    parts = ", ".join(f"{one.name} {words.size(one.size)}" for one in report.parts if one.size)
    return (
        f"{said}, which is more than {words.size(report.bound)}: the last {KEEP} attempts always "
        "stay, and so does code of the last two hours, which a run may be using\n"
        f"  what takes the room: {parts}"
    )


def _describe_cache(cache: CacheReport, bound: int) -> str:
    where = words.tilde(cache.folder)
    if cache.is_busy:
        return (
            f"the cache of searches ({where}) holds {words.size(cache.before)}: "
            "nothing was taken, since a search is using it"
        )
    if cache.removed:
        return (
            f"took {_count(cache.removed, 'package or environment')} from the cache of searches "
            f"({where}): {words.size(cache.before)} → {words.size(cache.after)}"
        )
    if not cache.before:
        return ""
    return (
        f"nothing to take: the cache of searches ({where}) holds {words.size(cache.after)}, "
        f"and may hold {words.size(bound)}"
    )


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number} {what.replace(' or ', 's or ')}s"


def _as_data(
    report: GcReport | None, gone: list[str], cache: CacheReport, cache_bound: int
) -> dict[str, Any]:
    return {
        "schema": 1,
        "removed": report.removed if report else [],
        "before": report.before if report else 0,
        "after": report.after if report else 0,
        "parts": [one._asdict() for one in report.parts] if report else [],
        "note": report.note if report else "",
        "gone": gone,
        "cache": {
            "folder": cache.folder,
            "before": cache.before,
            "after": cache.after,
            "bound": cache_bound,
            "removed": cache.removed,
            "is_busy": cache.is_busy,
        },
    }

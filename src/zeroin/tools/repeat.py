"""`run --repeat`, `--until-fail`: how often does it fail, and in which ways?"""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.tools.run import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zeroin.cycle import Cycle
    from zeroin.cycle.oracle import Rate
    from zeroin.tools.run import Options, RunReport

MOST = 1_000_000  # --until-fail without a number


class RepeatReport(NamedTuple):
    """All runs' outcomes in short: failures with their rates, and one example of each."""

    runs: int
    passed: int
    rates: list[Rate]
    examples: dict[str, RunReport]
    last: RunReport
    seconds: list[float]  # of each run


def repeat(
    cycle: Cycle,
    options: Options,
    environ: Mapping[str, str],
    *,
    times: int,
    until_fail: bool,
    on_run: Callable[[RunReport], None],
) -> RepeatReport:
    """Run until there is enough to say, or the user has seen enough."""
    outcomes = []
    examples: dict[str, RunReport] = {}
    while True:
        report = run(cycle, options, environ)
        on_run(report)
        if report.interrupted and not report.outcome.failed:
            break  # by the user: it says nothing about the program
        outcomes.append(report.outcome)
        if report.outcome.signature is not None:
            examples.setdefault(str(report.outcome.signature), report)
        enough = len(outcomes) >= times or (until_fail and report.outcome.failed)
        if enough or report.interrupted:
            break
    from zeroin.cycle.oracle import failure_rates

    passed = sum(not outcome.failed for outcome in outcomes)
    took = [outcome.seconds for outcome in outcomes]
    return RepeatReport(len(outcomes), passed, failure_rates(outcomes), examples, report, took)

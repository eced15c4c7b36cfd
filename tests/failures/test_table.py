"""Sameness and difference of signatures, over all pairs of a table of real failures.

A signature is equal when the same failure happens under other circumstances (moved lines, other
folders, pids, ports, addresses, dates), and differs for everything a person would call another.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict

import pytest

import support
import warm_libraries
from left_out import HEAVY, heavy

from .circumstances import VARIANTS
from .running import BY_NAME, Job, Ledger, importable, left_running, missing
from .table import FAILURES, TWINS, Failure, Twins

pytestmark = pytest.mark.slow

AT_ONCE = 3

# Pure Python, and told from the printed traceback alone: the program ran without the agent.
UNAIDED = [
    "key-label",
    "key-labels",
    "key-int-3",
    "key-int-7",
    "key-nested-config",
    "attribute-layer1",
    "attribute-layer2",
    "attribute-none",
    "zero-total",
    "zero-spread",
    "recursion",
    "chain-from-key",
    "chain-from-value",
    "chain-context",
    "group-value-type",
    "group-value-key",
    "logged-load",
    "logged-save",
    "import-name",
    "import-circular",
    "module-missing-one",
    "module-missing-two",
    "module-build-reader",
    "syntax-script",
    "syntax-module",
    "syntax-indentation",
    "package-main",
    "says-pid",
    "says-port",
    "says-date-in-words",
    "says-address",
    "says-temporary-file",
    "says-checkout",
    "says-set",
    "pool-map-tokenize",
    "pool-map-embed",
    "unittest-assert-two",
    "unittest-assert-pair",
]


def heavy_needs(*failures: Failure) -> list[pytest.MarkDecorator]:
    """Mark the rows whose libraries only a full run has."""
    needs = {need for failure in failures for need in failure.needs} & HEAVY
    return [heavy(*needs)] if needs else []


by_name = pytest.mark.parametrize(
    "failure",
    [pytest.param(row, id=row.name, marks=heavy_needs(row)) for row in FAILURES],
)
by_twins = pytest.mark.parametrize(
    "twins",
    [
        pytest.param(
            twins,
            id=f"{twins.one}~{twins.other}",
            marks=heavy_needs(BY_NAME[twins.one], BY_NAME[twins.other]),
        )
        for twins in TWINS
    ],
)
unaided = pytest.mark.parametrize("name", UNAIDED)


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Run the whole table, both variants, once; the workers of pytest-xdist share the work."""
    base = tmp_path_factory.getbasetemp()
    shared = "PYTEST_XDIST_WORKER" in os.environ
    folder = (base.parent if shared else base) / "f"
    folder.mkdir(exist_ok=True)
    ledger = Ledger(str(folder))
    if importable(support.libs_python(), "torch"):  # once, before several threads ask for it
        warm_libraries.find_executable(warm_libraries.TORCH)
    ledger.collect(all_jobs(), at_once=1 if shared else AT_ONCE)
    return ledger


def all_jobs() -> list[Job]:
    """Return the runs that this machine can do."""
    names = [failure.name for failure in FAILURES if not missing(failure)]
    jobs = [Job(name, variant) for name in names for variant in VARIANTS]
    return jobs + [Job(name, variant, agent=False) for name in UNAIDED for variant in VARIANTS]


def require(failure: Failure) -> None:
    """Skip the test where the row cannot run; in CI every library has to be there."""
    reason = missing(failure)
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def by_signature(ledger: Ledger, names: list[str], *, agent: bool = True) -> dict[str, set[str]]:
    """Return which rows have each signature, in any variant."""
    found = defaultdict(set)
    for name in names:
        for variant in VARIANTS:
            found[str(ledger.get(name, variant, agent=agent).signature)].add(name)
    return found


def differ(found: dict[str, set[str]], why: str = "two failures, one signature") -> None:
    """Fail with every signature that several rows have, a line each."""
    shared = {signature: sorted(names) for signature, names in found.items() if len(names) > 1}
    if shared:
        lines = [f"{', '.join(names)}:\n  {signature}" for signature, names in shared.items()]
        pytest.fail("\n".join([why, *lines]), pytrace=False)


def test_the_table_is_well_formed() -> None:
    """Every row has its own name and its own program, and twins name rows that exist."""
    programs = [(*failure.command, *sorted(failure.files.items())) for failure in FAILURES]
    assert len(BY_NAME) == len(FAILURES) == len(set(programs))
    assert {name for twins in TWINS for name in twins[:2]} <= set(BY_NAME)


@by_name
def test_fails_as_expected(ledger: Ledger, failure: Failure) -> None:
    """The failure is seen as one, and its signature names what the user would name."""
    require(failure)
    for variant in VARIANTS:
        ran = ledger.get(failure.name, variant)
        assert ran.outcome in ({"hang"} if failure.timeout else {"failed", "killed"}), ran.output
        assert failure.expect in (ran.signature or ""), ran.output


@by_name
def test_same_under_other_circumstances(ledger: Ledger, failure: Failure) -> None:
    """The same failure has the same signature, wherever and whenever it happens."""
    require(failure)
    first, second = (ledger.get(failure.name, variant) for variant in VARIANTS)
    assert first.signature == second.signature
    if failure.varies:
        shown = [re.findall(failure.varies, ran.output) for ran in (first, second)]
        assert all(shown), "the program did not print what varies"
        assert shown[0] != shown[1], "the circumstances did not change the message"


@by_twins
def test_twins_differ(ledger: Ledger, twins: Twins) -> None:
    """Two failures that look alike and are not the same have different signatures."""
    for name in (twins.one, twins.other):
        require(BY_NAME[name])
    differ(by_signature(ledger, [twins.one, twins.other]), twins.why)


def test_all_pairs_differ(ledger: Ledger) -> None:
    """No two rows of the table share a signature."""
    names = [failure.name for failure in FAILURES if not missing(failure)]
    differ(by_signature(ledger, names))


@unaided
def test_same_without_the_agent(ledger: Ledger, name: str) -> None:
    """The printed traceback alone gives the same signature under other circumstances."""
    first, second = (ledger.get(name, variant, agent=False) for variant in VARIANTS)
    assert first.signature == second.signature
    assert BY_NAME[name].expect in (first.signature or ""), first.output


def test_all_pairs_differ_without_the_agent(ledger: Ledger) -> None:
    """The printed traceback alone tells these rows apart."""
    differ(by_signature(ledger, UNAIDED, agent=False))


def test_nothing_is_left_running(ledger: Ledger) -> None:
    """Every program was ended with all that it had started, the hanging ones too."""
    for job in all_jobs():  # other workers of pytest-xdist may still be at theirs
        ledger.get(job.name, job.variant, agent=job.agent)
    assert left_running(ledger.folder) == []

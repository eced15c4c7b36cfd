"""Real example scripts behave the same stepped as plainly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import stepped
import stepped_examples

import run_size
import support

if TYPE_CHECKING:
    from pathlib import Path

ENOUGH = 150 if run_size.ACCEPTANCE else 15  # must run to their end, for the test to tell something
FEW = 70  # are tried in an ordinary run


@pytest.mark.slow
@pytest.mark.limit(3600)
def test_same_as_plain(tmp_path: Path, record_property) -> None:
    """Examples from source distributions print, fail and end as without the stepper."""
    try:
        stepped_examples.fetch(full=run_size.ACCEPTANCE)
    except stepped_examples.FetchError as error:
        if support.IN_CI:
            raise
        pytest.skip(f"needs source distributions: {error}")
    names = stepped_examples.scripts(full=run_size.ACCEPTANCE)
    if not run_size.ACCEPTANCE:
        names = names[:FEW]
    done = stepped.map_some(lambda name: stepped_examples.compare(name, tmp_path), names)
    ran = sum(one.ran for one in done)
    unfit = [f"{one.name}: {one.unfit}" for one in done if one.unfit]
    record_property("ran", ran)
    print(f"{len(done)} tried, {ran} ran to their end, {len(unfit)} left out")
    differences = [one.difference for one in done if one.difference]
    if differences:
        pytest.fail(
            f"{len(differences)} of {len(done)} differ:\n" + "\n".join(differences), pytrace=False
        )
    assert ran >= ENOUGH, "\n".join(unfit)

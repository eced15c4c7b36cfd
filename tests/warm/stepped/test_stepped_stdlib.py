"""The standard library's own test files say the same stepped as plainly, test by test."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import pytest
import stepped
import stepped_stdlib

import run_size
import support

if TYPE_CHECKING:
    from pathlib import Path

# What may differ, and why: (file, test, reason). A test stands here only if it looks at something
# that no user's program can expect to be the same when it is stepped.
EXPLAINED: list[tuple[str, str, str]] = [
    ("frame", "test_sneaky_frame_object", "counts the allocations up to a garbage collection"),
]

VERSIONS = support.chosen_versions()
ORDINARY = [VERSIONS[0], VERSIONS[-1]]


def explained(name: str, test: str) -> bool:
    """Tell whether the table has a reason for a test that differs."""
    return any(file == name and re.search(what, test) for file, what, _ in EXPLAINED)


@pytest.mark.slow
@pytest.mark.limit(3600)
@pytest.mark.parametrize("version", VERSIONS if run_size.ACCEPTANCE else ORDINARY)
def test_same_as_plain(version: str, tmp_path: Path) -> None:
    """Each test of each file passes, fails or is skipped as it is without the stepper."""
    python = support.interpreters()[version]
    if not stepped_stdlib.library(python):
        pytest.skip(f"{python} came without its own tests")
    paths = stepped_stdlib.files(
        python, stepped_stdlib.FILES if run_size.ACCEPTANCE else stepped_stdlib.QUICK
    )
    jobs = [functools.partial(complain, path, python, tmp_path) for path in paths]
    differences = stepped.all_differences(jobs)
    if differences:
        pytest.fail(
            f"{len(differences)} of {len(paths)} files differ:\n" + "\n".join(differences),
            pytrace=False,
        )


def complain(path: str, python: str, base: Path) -> str | None:
    """Say which tests of a file differ without a reason; None if none does."""
    name = path.rpartition("/test_")[2].removesuffix(".py")
    differ = stepped_stdlib.compare(path, python, base)
    left = {test: pair for test, pair in differ.items() if not explained(name, test)}
    if not left or (len(left) < len(differ) and left.keys() == {"exit code"}):
        return None
    lines = [f"    {test}: {plain} / {told}" for test, (plain, told) in left.items()]
    return "\n".join([f"{name}: plain / stepped", *lines[:40]])


def test_every_reason_is_one() -> None:
    """The table names files that are run, and says why of each."""
    for file, _, reason in EXPLAINED:
        assert file in stepped_stdlib.FILES
        assert len(reason) > 20

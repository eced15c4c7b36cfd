"""Projects with tests that fail."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import pytests

if TYPE_CHECKING:
    from pathlib import Path


def make_suite(folder: Path, python: str) -> pytests.Suite:
    """Make a project whose pytest is imported already when it starts."""
    suite = pytests.Suite(folder, python)
    suite.runner = pytests.find_runner(python)
    return suite


@pytest.fixture
def suite(tmp_path: Path) -> pytests.Suite:
    """A project, and the pytest that runs this test."""
    return make_suite(tmp_path, sys.executable)


@pytest.fixture(params=list(pytests.OTHERS))
def any_suite(tmp_path: Path, request: pytest.FixtureRequest) -> pytests.Suite:
    """A project, and each pytest that we work with in turn."""
    return make_suite(tmp_path, pytests.interpreter(request.param))

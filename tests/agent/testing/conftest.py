"""Projects with tests that fail."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import pytests

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def suite(tmp_path: Path) -> pytests.Suite:
    """A project, and the pytest that runs this test."""
    return pytests.Suite(tmp_path, sys.executable)


@pytest.fixture(params=list(pytests.OTHERS))
def any_suite(tmp_path: Path, request: pytest.FixtureRequest) -> pytests.Suite:
    """A project, and each pytest that we work with in turn."""
    return pytests.Suite(tmp_path, pytests.interpreter(request.param))

"""`pytest --zeroin`, where zeroin is installed beside pytest.

Loaded at every start of pytest: it holds the options and nothing else. What they turn on lives
in `zeroin.agent.testing`, and works without an installation under `zeroin run -- pytest`. There
the agent has it already, and tells the driver, which records the tests.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.tools.tests import FailingTests

_agent = "_zeroin_agent" if "_zeroin_agent" in sys.modules else "zeroin.agent"
_entry: Any = import_module(f"{_agent}.testing.entry")
pytest_addoption, pytest_configure = _entry.pytest_addoption, _entry.pytest_configure


def _recorder(folder: str, environ: dict[str, str]) -> FailingTests:
    """Where failing tests go; needs the Python that the record needs."""
    from zeroin.tools.tests import FailingTests

    return FailingTests(folder, environ)


if _agent == "zeroin.agent":
    _entry.make_recorder = _recorder

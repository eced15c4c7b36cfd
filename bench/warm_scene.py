"""Which interpreter has the libraries that a user's program would, and which it has."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bench.scene import Scene

NAMES = ("numpy", "pandas", "torch")
OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".venvs", "heavy")


class Libraries(NamedTuple):
    """An interpreter and what it can import."""

    path: str
    names: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether it can be used."""
        return name in self.names

    @property
    def lack(self) -> str:
        """Why something is left out."""
        return "neither ZEROIN_TEST_LIBS nor .venvs/heavy has it (make setup FULL=1)"


def libraries(scene: Scene) -> Libraries:
    """The one that ZEROIN_TEST_LIBS names, that of `make setup`, or the one we run on."""
    given = os.environ.get("ZEROIN_TEST_LIBS", "")
    for path in filter(None, (given, os.path.join(OURS, "bin", "python"))):
        found = _names(path, scene.env)
        if found:
            return Libraries(path, found)
    return Libraries(os.path.realpath(scene.python), frozenset())


def _names(python: str, env: dict[str, str]) -> frozenset[str]:
    ask = f"from importlib.util import find_spec as f; print(*[n for n in {NAMES} if f(n)])"
    try:
        asked = subprocess.run(
            [python, "-c", ask], env=env, capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(asked.stdout.split())

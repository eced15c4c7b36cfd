"""From where the repository's packages would be imported."""

from __future__ import annotations

import contextlib
import os
import subprocess

from zeroin.errors import ZeroinError
from zeroin.run.cutter import interpreter
from zeroin.run.environment import users
from zeroin.tools.provided import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle

# Where modules would come from, one a line; "/" for those that are not found.
FIND = """\
import sys
from importlib.machinery import PathFinder
for name in sys.argv[1:]:
    spec = PathFinder.find_spec(name)
    print((spec and spec.origin) or "/")
"""


PATIENCE = 10.0  # seconds
INSTALLED = "/site-packages/"  # also of an environment that lies in the repository


class Whereabouts:
    """Whether Python, as it would be started, finds the repository's packages elsewhere or not.

    It is only a guess that saves a run: each try tells what it has really loaded. Python is
    asked while other things are done, and waited for only if the command speaks of it.
    """

    def __init__(self, root: str, cycle: Cycle, environ: Mapping[str, str]) -> None:
        self._root = root
        self._process: subprocess.Popen[str] | None = None
        self._patience = PATIENCE if any("py" in word for word in cycle.command) else 0.0
        self._names = names = names_in(root)
        if names:
            with contextlib.suppress(ZeroinError, OSError):
                self._process = subprocess.Popen(
                    [interpreter(cycle, environ), "-c", FIND, *names],
                    cwd=cycle.cwd,
                    env=users(cycle, environ),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )

    def elsewhere(self) -> dict[str, str]:
        """The packages that are not found in the repository, and where they are; "/" if nowhere."""
        if self._process is None:
            return {}
        try:
            told, _ = self._process.communicate(timeout=self._patience)
        except subprocess.TimeoutExpired:
            return {}
        here = os.path.realpath(self._root) + "/"
        pairs = zip(self._names, told.splitlines(), strict=False)
        return {
            name: path
            for name, path in pairs
            if not os.path.realpath(path).startswith(here) or INSTALLED in path
        }

    def close(self) -> None:
        """It need not be known any more."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            self._process.communicate()

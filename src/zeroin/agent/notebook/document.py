"""The notebook's file, where it is known: the order of the cells, and what stands in them now.

The kernel is not told where its notebook lies; Jupyter's server and VS Code say so in a variable.
The file is as old as the last save, so it is believed only about cells that it has.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = ("__vsc_ipynb_file__", "__session__")
BIGGEST = 100_000_000  # bytes of a file that is read


class Document:
    """The code cells, as they were saved last."""

    def __init__(self, names: Any) -> None:
        self._names = names  # the session's
        self._stamp: tuple[str, int] = ("", 0)
        self.cells: list[tuple[str, str]] = []  # id and source
        self.saved = 0.0
        self.seen: set[str] = set()  # ids that the file has had

    def path(self) -> str:
        """Where it lies; "" if that is not known."""
        told = [self._names.get(name) for name in NAMES] + [os.environ.get("JPY_SESSION_NAME")]
        for one in told:
            if type(one) is str and one.endswith(".ipynb"):
                for path in (one, os.path.basename(one)):
                    if os.path.isfile(path):
                        return os.path.abspath(path)
        return ""

    def read(self) -> bool:
        """Read it if it has changed; whether there is one."""
        path = self.path()
        if not path:
            self.cells = []
            return False
        try:
            about = os.stat(path)
            stamp = (path, about.st_mtime_ns)
            if stamp != self._stamp and about.st_size < BIGGEST:
                with open(path, encoding="utf-8") as file:
                    self.cells = list(_code_cells(json.load(file)))
                self._stamp = stamp
                self.saved = about.st_mtime
                self.seen.update(name for name, _ in self.cells if name)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return bool(self.cells)  # it is being written: what we have is good enough
        return True

    def place(self, key: str, source: str) -> int | None:
        """The position of a cell: by its id, else by its text if no other has the same."""
        for at, (name, _) in enumerate(self.cells):
            if name and name == key:
                return at
        same = [at for at, (_, text) in enumerate(self.cells) if text.strip() == source.strip()]
        return same[0] if len(same) == 1 else None


def _code_cells(data: Any) -> Any:
    for cell in data["cells"]:
        if cell.get("cell_type") == "code":
            source = cell.get("source", "")
            text = source if type(source) is str else "".join(source)
            yield str(cell.get("id", "")), text

"""What each name means in each function: local, in a cell, from outside, or global."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .points import Function


class Scopes:
    """The compiler's own symbol tables of one source text, by function."""

    def __init__(self, source: bytes | str, filename: str) -> None:
        import _symtable  # type: ignore[import-not-found]

        self._kinds = _symtable
        self._tables: dict[tuple[str, int], Any] = {}
        self._bound: dict[int, Any] = {}
        self._collect(_symtable.symtable(source, filename, "exec"))

    def _collect(self, table: Any) -> None:
        for child in table.children:
            self._tables[child.name, child.lineno] = child
            self._collect(child)

    def bind(self, functions: Iterable[Function]) -> None:
        """Find each function's table while its place is still the one in the source."""
        self._bound = {id(f): self._tables.get((f.name, f.lineno)) for f in functions}

    def names(self, function: Function) -> dict[str, str]:
        """Each name of a function's own, and its kind: local, cell, free or global."""
        table = self._bound[id(function)]
        if table is None:
            return {}
        kinds = self._kinds
        words = {
            kinds.LOCAL: "local",
            kinds.CELL: "cell",
            kinds.FREE: "free",
            kinds.GLOBAL_EXPLICIT: "declared global",
        }
        return {
            name: words.get((flags >> kinds.SCOPE_OFF) & kinds.SCOPE_MASK, "global")
            for name, flags in table.symbols.items()
        }

    def cells(self, function: Function) -> list[str]:
        """Names that closures share."""
        kinds = self.names(function)
        return sorted(name for name, kind in kinds.items() if kind in ("cell", "free"))

"""Every other copy of a module: on the path, beside it, in the project, in other environments."""

from __future__ import annotations

import os

from zeroin.observe.which import dists, folders
from zeroin.observe.which.compare import compare
from zeroin.tools.which.report import Copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Others:
    """Looks for them from one folder."""

    def __init__(self, cwd: str, root: str, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.root = root
        self.env = env
        self.found: dict[str, Copy] = {}

    def of(self, located: dict[str, Any], about: dict[str, Any]) -> list[Copy]:
        """Of the module that an interpreter located; each file once, the nearest first."""
        file, module = located["file"], located["module"]
        sites = [one for one in about["path"] if dists.is_site(one)]
        for one in located["elsewhere"]:
            self._add(file, one["file"], "path", one["entry"], sites, one["kind"])
        for path in located["beside"]:
            self._add(file, path, "beside", os.path.dirname(path), sites)
        if located["kind"] in ("builtin", "frozen") or _in_stdlib(file, about["stdlib"]):
            return self._all(file)
        bases = [
            *folders.checkouts(self.cwd, self.root),
            *folders.environments(self.cwd, self.root, self.env),
        ]
        for base in bases if module else []:
            for path in folders.copies(module, base.folder):
                self._add(file, path, base.kind, base.of, [base.folder])
        return self._all(file)

    def _add(
        self, file: str, other: str, where: str, of: str, sites: list[str], kind: str = "module"
    ) -> None:
        real = os.path.realpath(other)
        if not other or real in self.found or real == os.path.realpath(file):
            return
        if where == "path" and (os.path.join(self.root, "") in other) and not dists.site_of(other):
            where = "checkout"
        dist = dists.owner(other, sites)
        self.found[real] = Copy(other, where, of, dist, compare(file, other), kind)

    def _all(self, file: str) -> list[Copy]:
        return [one for one in self.found.values() if one.file != file]


def _in_stdlib(file: str, stdlib: str) -> bool:
    return file.startswith(os.path.join(stdlib, "")) and not dists.site_of(file)

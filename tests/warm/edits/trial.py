"""A loop whose files are edited again and again, and a folder in which the same is run cold."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from . import rows, running

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "0x[0-9a-f]+"  # of a function whose destructor has failed
TOO_LONG = 3.0  # seconds: an edit that made an endless loop


class Trial:
    """A loop, and beside it a folder in which the same is run plainly."""

    def __init__(
        self,
        base: Path,
        drivers: running.Drivers,
        python: str,
        files: dict[str, str],
        pace: str = "often",
    ) -> None:
        row = rows.Row("random", "random", {"pace": pace}, [files])
        self.row = row
        self.files = files
        (base / "warm").mkdir()
        (base / "cold").mkdir()
        self.warm = running.Project(base / "warm", python, row)
        self.cold = running.Project(base / "cold", python, row)
        self.loop = running.Loop(drivers, base / "warm", self.warm.request())
        self.modes: list[str] = []

    def first(self) -> list[str]:
        """The first run."""
        return self._compare(0, self.cold.run_plainly())

    def save(self, files: dict[str, str]) -> list[str] | None:
        """What differs after a save; None for one that can't be compared."""
        self.cold.edit(self.files, files)
        try:
            ran = self.cold.run_plainly(TOO_LONG)
        except subprocess.TimeoutExpired:
            self.cold.edit(files, self.files)
            return None
        self.warm.edit(self.files, files)
        self.files = files
        return self._compare(1, ran)

    def close(self) -> None:
        """No more runs."""
        self.loop.close()

    def _compare(self, number: int, cold: running.Ran) -> list[str]:
        told, (out, err), faults = self.loop.settle(0 if number else running.PATIENCE)
        if told is None and not faults:  # a file that nobody uses any more
            self.loop.say("run")
            told, (out, err), faults = self.loop.settle()
        if told is None:
            return [*faults, "there was no run"]
        ran = running.Ran(told["exit_code"], out, err, self.warm.files())
        here, there = str(self.cold.base).encode(), str(self.warm.base).encode()
        cold.out, cold.err = cold.out.replace(here, there), cold.err.replace(here, there)
        step = running.Step(ran, told, faults, cold=cold)
        self.modes.append(step.mode)
        row = rows.Row("random", self.row.name, {"mask": ADDRESS}, [self.files])
        found = running.differences(row, 0, step)
        if found:
            found.append(f"{told['mode']} at {told['resumed_at']}: {told['reason']}")
        return found


def changes(before: dict[str, str], files: dict[str, str]) -> list[str]:
    """What an edit was, to be read."""
    return [
        "\n".join(running.compare(path, files[path].encode(), before[path].encode()))
        for path in files
        if files[path] != before[path]
    ]

"""`cpu=50%`: half a processor for the whole tree, as on a crowded machine."""

from __future__ import annotations

import os
import signal

from zeroin.emulate import cgroups, values
from zeroin.emulate.grouped import SCOPE, V1, V2, Grouped
from zeroin.emulate.part import Backend, Effect, Kind, Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.emulate.part import Ending, Eyes, Limit, Scene
    from zeroin.emulate.watch import Watch

PERIOD = 100_000  # microseconds
SOON = 0.01  # seconds between two looks
LONGEST = 0.1  # seconds that it is stopped at a time
SAVED = 0.05  # seconds that it may have been idle before, and make up for
TICK = 1 / os.sysconf("SC_CLK_TCK")


class Slow(Part):
    """Without a group: the tree is stopped for as long as it has had too much."""

    def watch(self) -> Watch | None:
        """The one that stops it."""
        return Governor(self.limits[0].amount)

    def effects(self, ending: Ending) -> list[Effect]:
        """How much it got."""
        told = ending.told
        notes = (f"the watch over the CPU failed: {told['error']}",) if "error" in told else ()
        used = f"{told.get('share', 0.0):.0%} of a core"
        return [Effect(self.limits[0].text, self.backend, detail=used, notes=notes)]


class Governor:
    """Stops all of them, and lets them go on."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._from: tuple[float, float] | None = None  # when, and how much it had had by then
        self._first = self._last = (0.0, 0.0)
        self._is_stopped = False

    def look(self, eyes: Eyes, now: float) -> float:
        """Look once."""
        pids = eyes.members()
        if not pids:
            return SOON
        used = sum(map(eyes.ticks, pids)) * TICK
        if self._from is None:
            self._from = self._first = now, used
        self._last = now, max(used, self._last[1])
        began, had = self._from
        too_much = used - had - self._share * (now - began)
        if too_much < -SAVED:
            self._from = now - SAVED / self._share, used
        if too_much > 0:
            self._tell(pids, signal.SIGSTOP)
            self._is_stopped = True
            return min(max(too_much / self._share, SOON), LONGEST)
        if self._is_stopped:
            self._tell(pids, signal.SIGCONT)
            self._is_stopped = False
        return SOON

    def told(self) -> Mapping[str, Any]:
        """What it got on average."""
        seconds = self._last[0] - self._first[0]
        return {"share": (self._last[1] - self._first[1]) / seconds if seconds else 0.0}

    def _tell(self, pids: Sequence[int], number: int) -> None:
        for pid in pids:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                continue


class _Quota(Grouped):
    """By a control group."""

    controller = "cpu"
    word = "cpu"

    @classmethod
    def settings(cls, limits: Sequence[Limit]) -> dict[str, object]:
        """What is written to the group."""
        quota = max(1000, int(limits[0].amount * PERIOD))
        if cls.way == V1:
            return {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": quota}
        return {"cpu.max": f"{quota} {PERIOD}"}

    def effects(self, ending: Ending) -> list[Effect]:
        """How often it had to wait."""
        del ending
        count = cgroups.numbers(self._group.folder, "cpu.stat").get("nr_throttled", 0)
        detail = f"held back {count} times" if count else "not held back"
        return [Effect(self.limits[0].text, self.backend, detail=detail)]


class Quota1(_Quota):
    """Version 1."""

    way = V1


class Quota2(_Quota):
    """Version 2."""

    way = V2


class QuotaScope(_Quota):
    """Likewise, made by systemd."""

    way = SCOPE


def _always(limits: Sequence[Limit], scene: Scene) -> str:
    del limits, scene
    return ""


KINDS = {
    "cpu": Kind(
        "cpu",
        "a share of one processor for the command and all its children",
        values.read_share,
        (
            QuotaScope.backend_of(),
            Quota2.backend_of(),
            Quota1.backend_of(),
            Backend("stop and go", _always, lambda limits, _: Slow(limits, "stop and go")),
        ),
    )
}

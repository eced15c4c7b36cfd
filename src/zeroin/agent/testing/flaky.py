"""How often does a failing test fail? In this process, and alone in one of its own.

*Again* is here, right after it failed, with its fixtures torn down and set up anew. *Alone* is
a fresh process with this one test: what always fails here and never alone depends on what ran
before it.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time

from . import told
from .command import plain_id, repeat, target_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALONE = 2  # runs in a process of its own
TESTS = 20  # that are tried alone
PATIENCE = 60.0  # seconds for one of them, or ten times what it took here
LEAST = 5.0
LISTED = 3  # of those that always fail


def run_again(watch: Any, item: Any, nextitem: Any) -> dict[str, Any]:
    """Run a test that just failed as often as asked for."""
    times = watch.config.option.zeroin_flaky
    kinds: dict[str, list[Any]] = {}
    failed, began = 0, time.monotonic()
    item._zeroin_again = True
    try:
        for _ in range(times):
            crashes = _once(watch, item, nextitem)
            if crashes is None:
                continue
            failed += 1
            first = crashes[0] if crashes else None
            name = told.kind(first) if first else "failed"
            line = told.one_line(first["chain"][-1]) if first else "failed"
            kinds.setdefault(name, [0, line])[0] += 1
    finally:
        watch.again = None
        del item._zeroin_again
    path = str(getattr(item, "path", None) or item.fspath)
    return {
        "test": item.nodeid,
        "runs": times,
        "failed": failed,
        "kinds": [
            {"count": count, "kind": kind, "headline": line}
            for kind, (count, line) in kinds.items()
        ],
        "command": repeat(watch.config, plain_id(item), path),
        "seconds": (time.monotonic() - began) / times,
    }


def _once(watch: Any, item: Any, nextitem: Any) -> list[dict[str, Any]] | None:
    """Run it once more; what it failed of, or None if it passed."""
    from _pytest.runner import runtestprotocol

    _forget(item)
    watch.again = []
    session = item.session
    proxy_of = session.gethookproxy
    of_subtests: list[Any] = []
    session.gethookproxy = lambda path: Unheard(proxy_of(path), of_subtests)
    try:
        reports = runtestprotocol(item, log=False, nextitem=nextitem) + of_subtests
    finally:
        del session.gethookproxy
    failed = any(r.outcome == "failed" and not hasattr(r, "wasxfail") for r in reports)
    return watch.again if failed else None


class Unheard:
    """The hooks of a test that is run again: subtests log by themselves, and only we hear it."""

    def __init__(self, hooks: Any, reports: list[Any]) -> None:
        self._hooks = hooks
        self._reports = reports

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hooks, name)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep it from pytest's counts."""
        self._reports.append(report)


def _forget(item: Any) -> None:
    """What pytest remembers of a set-up that failed, and of fixtures that raised."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for definitions in known.values():
        for definition in definitions:
            result = getattr(definition, "cached_result", None)
            if result is not None and result[2] is not None:
                definition.cached_result = None
    stack = item.session._setupstate.stack
    for node in list(stack):
        entry = stack[node]
        if isinstance(entry, tuple) and entry[1] is not None:
            stack[node] = (entry[0], None)
    if hasattr(item, "_initrequest"):
        item._initrequest()


# --- alone ----------------------------------------------------------------------------------


def alone(desk: Any, session: Any) -> None:
    """Try those in a fresh process whose rate leaves a question.

    Each costs a start of pytest: of those that failed each time in the same way, one is enough.
    """
    settled: set[str] = set()
    tried = 0
    for rate in desk.rates:
        rate["alone_runs"] = rate["alone_failed"] = 0
        always = rate["failed"] == rate["runs"] and len(rate["kinds"]) == 1
        kind = rate["kinds"][0]["kind"] if always else ""
        if kind not in settled and tried < TESTS and not getattr(session, "shouldstop", False):
            tried += 1
            _try_alone(rate, desk, 1 if always else ALONE)
        if always and rate["alone_failed"]:
            settled.add(kind)
        rate["low"], rate["high"] = wilson(rate["failed"], rate["runs"])
        rate["verdict"] = verdict(rate)


def _try_alone(rate: dict[str, Any], desk: Any, enough: int) -> None:
    """As often as it takes: one failure settles what always fails here."""
    while rate["alone_runs"] < ALONE and rate["alone_failed"] < enough:
        failed = _fails_alone(rate, desk)
        if failed is None:
            return
        rate["alone_runs"] += 1
        rate["alone_failed"] += failed


def _fails_alone(rate: dict[str, Any], desk: Any) -> bool | None:
    """Whether it fails; None if that can't be told."""
    words = [*rate["command"], "-p", "no:cacheprovider", "-q"]
    env = dict(desk.environ)
    env.pop("ZEROIN_AGENT", None)  # it is no part of the run that is recorded
    try:
        process = subprocess.Popen(
            words,
            cwd=desk.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        code = process.wait(max(PATIENCE, LEAST + 10 * rate["seconds"]))
        return {0: False, 1: True}.get(code)
    except subprocess.TimeoutExpired:
        return True  # it hangs: that is no pass
    finally:
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass
            process.wait()


def verdict(rate: dict[str, Any]) -> str:
    """What follows from the rates here and alone."""
    failed, runs = rate["failed"], rate["runs"]
    alone_failed, alone_runs = rate["alone_failed"], rate["alone_runs"]
    if 0 < failed < runs:
        return "flaky"
    if not alone_runs:
        return "fails always" if failed else "failed once"
    if failed:  # each time
        return "order" if not alone_failed else "fails always"
    return "first" if alone_failed == alone_runs else "rare"


def wilson(count: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a rate that is right for few runs as well."""
    share = count / runs
    middle = share + z * z / (2 * runs)
    spread = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def words(rates: list[dict[str, Any]]) -> list[str]:
    """The lines about all of them; those that are plainly broken in one."""
    broken = [rate for rate in rates if rate["verdict"] == "fails always"]
    lines = [line for rate in rates if rate not in broken for line in _about(rate)]
    if len(broken) == 1:
        lines += _about(broken[0])
    elif broken:
        runs = broken[0]["runs"]
        lines.append(f"{len(broken)} tests failed each of {runs} times: not flaky")
        lines += [f"    {rate['test']}" for rate in broken[:LISTED]]
        lines += [f"    and {len(broken) - LISTED} more"] * (len(broken) > LISTED)
    return lines


def _about(rate: dict[str, Any]) -> list[str]:
    runs, failed = rate["runs"], rate["failed"]
    low, high = round(100 * rate["low"]), round(100 * rate["high"])
    share = f"{100 * failed / runs:.0f} % (95 % interval {low} to {high} %)"
    beside = _beside(rate)
    text = {
        "flaky": f"failed {failed} of {runs}: flaky, {share}{beside}",
        "fails always": f"failed {failed} of {runs}: not flaky{beside}",
        "failed once": f"failed once, then {failed} of {runs}: flaky, {share}",
        "order": f"failed {failed} of {runs} here, and never alone: it depends on what ran before",
        "first": f"failed once, then 0 of {runs}, and always alone: it fails the first time in a "
        "process",
        "rare": f"failed once, then 0 of {runs}{beside}: flaky, or it depends on what ran before",
    }[rate["verdict"]]
    lines = [f"{rate['test']}: {text}"]
    if len(rate["kinds"]) > 1 or rate["verdict"] == "flaky":
        lines += [f"    {one['count']} of {runs}: {one['headline']}" for one in rate["kinds"]]
    if rate["verdict"] in ("order", "rare"):
        lines.append(f"    which test is it? zeroin bisect tests {_quoted(rate['command'])}")
    return lines


def _beside(rate: dict[str, Any]) -> str:
    runs, failed = rate["alone_runs"], rate["alone_failed"]
    return f"; alone it failed {failed} of {runs}" if runs else ""


def _quoted(command: list[str]) -> str:
    import shlex

    return shlex.quote(target_of(command))

"""Modules that notice a fork, and forget what the program still needs.

`random` seeds itself anew, `asyncio` forgets its loop, `multiprocessing` disowns what another
process made, tqdm's watcher is gone. Only modules that are loaded are looked at.
"""

from __future__ import annotations

import os
import sys

from . import threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def capture() -> dict[str, Any]:
    """Note the state of each."""
    noted: dict[str, Any] = {}
    for name, take, _ in _KEEPERS:
        try:
            noted[name] = take()
        except Exception:  # a module of the user's that only has the name
            continue
    return noted


def restore(noted: dict[str, Any], pid: int) -> None:
    """Put it back; `pid` is the process that `capture` ran in."""
    for name, _, put in _KEEPERS:
        if noted.get(name) is not None:
            try:
                put(noted[name], pid)
            except Exception:
                continue


# --- random -----------------------------------------------------------------------------------


def _take_random() -> Any:
    module = sys.modules.get("random")
    return module._inst.getstate() if module else None


def _put_random(state: Any, _: int) -> None:
    sys.modules["random"]._inst.setstate(state)


# --- asyncio ----------------------------------------------------------------------------------


def _take_asyncio() -> Any:
    events = sys.modules.get("asyncio.events")
    if not events:
        return None
    import _signal  # type: ignore[import-not-found,unused-ignore]

    wakeup = _signal.set_wakeup_fd(-1)
    if wakeup != -1:
        _signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    policy = getattr(events, "_event_loop_policy", None)
    return events._get_running_loop(), policy, getattr(policy, "_local", None), wakeup


def _put_asyncio(state: Any, _: int) -> None:
    events: Any = sys.modules["asyncio.events"]
    loop, policy, local, wakeup = state
    if local is not None:
        policy._local = local
    events._set_running_loop(loop)
    if wakeup != -1:
        import _signal  # type: ignore[import-not-found,unused-ignore]

        _signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)


# --- multiprocessing --------------------------------------------------------------------------


def _take_multiprocessing() -> Any:
    return "multiprocessing.process" in sys.modules or None


def _put_multiprocessing(_: Any, pid: int) -> None:
    """Processes that were made but not started, queues, and what is to be tidied up at the end."""
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    _adopt(list(getattr(process, "_dangling", ())), "_parent_pid", pid)
    _adopt(list(getattr(util, "_finalizer_registry", {}).values()), "_pid", pid)
    _adopt(list(getattr(util, "_afterfork_registry", {}).values()), "_opid", pid)


def _adopt(things: list[Any], name: str, pid: int) -> None:
    for thing in things:
        if getattr(thing, name, None) == pid:
            setattr(thing, name, os.getpid())


# --- tqdm ------------------------------------------------------------------------------------


def _take_tqdm() -> Any:
    return threads.monitors() if "tqdm._monitor" in sys.modules else None


def _put_tqdm(monitors: Any, _: int) -> None:
    for one in monitors:
        one.tqdm_cls.monitor = type(one)(one.tqdm_cls, one.sleep_interval)


_KEEPERS = (
    ("random", _take_random, _put_random),
    ("asyncio", _take_asyncio, _put_asyncio),
    ("multiprocessing", _take_multiprocessing, _put_multiprocessing),
    ("tqdm", _take_tqdm, _put_tqdm),
)

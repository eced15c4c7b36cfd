"""What the agents of a run are asked for: one file in the folder where they deliver.

The agent's side is `zeroin/agent/asked.py`. One variable, `ZEROIN_AGENT`, names the file.
"""

from __future__ import annotations

import os

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE = "ZEROIN_AGENT"
NAME = "order"
FIRST = "order.first"  # for the program that is stepped; its children get the other


class WarmOrder(NamedTuple):
    """How the program is stepped, so that snapshots can be taken."""

    folder: str  # of the engine; "-" to step without taking any
    park: str = ""  # "FILE:LINE:SECONDS": run ahead to there, and wait
    before: tuple[str, ...] = ()  # take one snapshot, before these files are used
    is_try: bool = False  # one of many runs, of which only the end counts
    profiled: bool = False
    most_hooks: int | None = None  # bytes of modules that are watched statement by statement


class AgentOrder(NamedTuple):
    """What agents do beside telling of crashes; a field that is not set asks for nothing."""

    seed: int | None = None
    sync: bool = False
    brief: bool = False  # what failed, without the values in its frames
    debugger: bool = False
    peek: bool = False  # `peek` in every module
    log: str = ""  # the level from which on log records are kept,
    log_file: str = ""  # and where
    lines: bool = False  # note which line opens which file
    where: tuple[str, ...] = ()  # modules whose files are asked for
    nan: str = ""  # see `zeroin/agent/nan/start.py`
    probes: tuple[dict[str, Any], ...] = ()
    which: dict[str, Any] | None = None
    leak: dict[str, Any] | None = None
    shapes: dict[str, Any] | None = None
    full_folders: tuple[str, ...] = ()  # folders with little room
    memory_error: bool = False  # allocations may fail: look with more memory
    tests: dict[str, Any] | None = None  # which tests to run, in which order
    warm: WarmOrder | None = None


def hand_order(order: AgentOrder, folder: str, env: Mapping[str, str]) -> dict[str, str]:
    """Write the order into a folder of ours; the environment that leads agents to it."""
    told = {key: value for key, value in order._asdict().items() if value}
    if order.seed == 0:
        told["seed"] = 0
    told.pop("warm", None)
    name = NAME
    _write(os.path.join(folder, NAME), told)
    if order.warm is not None:
        name = FIRST
        _write(os.path.join(folder, FIRST), {**told, "warm": order.warm._asdict()})
    return {**env, VARIABLE: os.path.join(folder, name)}


def _write(path: str, told: dict[str, Any]) -> None:
    text = "{}"
    if told:
        import json  # takes as long to load as a short run takes

        text = json.dumps(told)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)

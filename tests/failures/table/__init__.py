"""The table: every row a small, real program that fails in its own way."""

from __future__ import annotations

from . import (
    chains,
    commands,
    hangs,
    imports,
    language,
    messages,
    network,
    numeric,
    processes,
    signals,
    stdlib,
    suites,
    tensors,
)
from .failure import Failure, Twins

FAMILIES = {
    "language": language.FAILURES,
    "chains": chains.FAILURES,
    "imports": imports.FAILURES,
    "messages": messages.FAILURES,
    "stdlib": stdlib.FAILURES,
    "network": network.FAILURES,
    "processes": processes.FAILURES,
    "tests": suites.FAILURES,
    "numeric": numeric.FAILURES,
    "torch": tensors.FAILURES,
    "signals": signals.FAILURES,
    "hangs": hangs.FAILURES,
    "commands": commands.FAILURES,
}

FAILURES: list[Failure] = [failure for family in FAMILIES.values() for failure in family]

TWINS: list[Twins] = [
    *language.TWINS,
    *chains.TWINS,
    *imports.TWINS,
    *stdlib.TWINS,
    *network.TWINS,
    *processes.TWINS,
    *suites.TWINS,
    *numeric.TWINS,
    *tensors.TWINS,
    *signals.TWINS,
    *hangs.TWINS,
    *commands.TWINS,
]

__all__ = ["FAILURES", "FAMILIES", "TWINS", "Failure", "Twins"]

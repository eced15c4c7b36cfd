"""The environment a command gets: the user's, this run's changes, and the agent's address."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle

BOOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "agent", "boot")

# Where `bisect tests` has its plugin for pytest.
ORDER = os.path.join(os.path.dirname(BOOT), "order")

# Ours, and of no interest to anyone comparing two runs.
OWN = ("ZEROIN_AGENT", "ZEROIN_LIMITED")

# One thread, one stream, errors where they happen.
SYNC = {
    "CUDA_LAUNCH_BLOCKING": "1",
    "HIP_LAUNCH_BLOCKING": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONASYNCIODEBUG": "1",
}
# What --sync does inside the program, where no variable exists.
SYNC_INSIDE = "DataLoader num_workers=0"


def users(cycle: Cycle, base: Mapping[str, str]) -> dict[str, str]:
    """The environment as the user would recognise it: theirs, with this run's changes."""
    env = {k: v for k, v in base.items() if k not in OWN}
    _drop_boot(env)
    if cycle.sync:
        env.update(SYNC)
    if cycle.seed is not None:
        env["PYTHONHASHSEED"] = str(cycle.seed % 2**32)
    for name, value in cycle.env.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    if cycle.cwd and env.get("PWD") != cycle.cwd and "PWD" in env:
        env["PWD"] = cycle.cwd
    return env


def lead_to_agent(env: Mapping[str, str], *, debugger: bool) -> dict[str, str]:
    """Put the agent on the path of every Python below."""
    env = dict(env)
    env["PYTHONPATH"] = BOOT + (os.pathsep + env["PYTHONPATH"] if env.get("PYTHONPATH") else "")
    if debugger:
        # pytest catches the failure itself, and has a debugger switch of its own.
        env["PYTEST_ADDOPTS"] = f"{env.get('PYTEST_ADDOPTS', '')} --pdb".strip()
    return env


def _drop_boot(env: dict[str, str]) -> None:
    """A run inside a run: the outer agent is not part of the user's path."""
    if BOOT in env.get("PYTHONPATH", ""):
        rest = [entry for entry in env["PYTHONPATH"].split(os.pathsep) if entry != BOOT]
        env["PYTHONPATH"] = os.pathsep.join(rest)
        if not rest:
            del env["PYTHONPATH"]

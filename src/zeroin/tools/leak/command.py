"""The command that runs a script, or the tests of pytest, many times in one process."""

from __future__ import annotations

import os
import re

from zeroin.errors import UsageError
from zeroin.run.environment import BOOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# The agent is loaded already, by its own name.
AGAIN = "import sys; from _zeroin_agent.leak import again; again.main(sys.argv[1:])"
_PYTHON = re.compile(r"python[0-9.]*(t|d)?")
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
AGENT = os.path.dirname(BOOT)


def is_pytest(command: Sequence[str]) -> bool:
    """`pytest ...`, or `python -m pytest ...`."""
    words = [os.path.basename(one) for one in command[:4]]
    return words[0] in ("pytest", "py.test") or (
        "-m" in words[:3] and "pytest" in words[words.index("-m") :][:2]
    )


def repeated(command: Sequence[str], times: int) -> list[str]:
    """The same program, run that often by one interpreter."""
    at = next(
        (n for n, one in enumerate(command) if _PYTHON.fullmatch(os.path.basename(one))), None
    )
    if at is None:
        raise UsageError(
            f"--repeat runs a Python script many times, and this is none: {command[0]}",
            hint="zeroin leak --repeat 20 -- python SCRIPT, or zeroin leak --repeat 20 -- pytest",
        )
    rest = at + 1
    while rest < len(command) and command[rest].startswith("-") and command[rest] != "-m":
        if command[rest] in ("-", "-c"):
            raise UsageError(
                f"--repeat can't run what `python {command[rest]}` is given",
                hint="put it into a script",
            )
        rest += 2 if command[rest] in _WITH_VALUE else 1
    if rest >= len(command):
        raise UsageError("--repeat: which script?", hint="zeroin leak --repeat 20 -- python SCRIPT")
    return [*command[:rest], "-c", AGAIN, str(times), *command[rest:]]

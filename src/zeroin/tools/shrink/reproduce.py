"""The command that shows what was found: it has to work as it stands."""

from __future__ import annotations

import os
import shlex

from zeroin.run.spawn import find
from zeroin.tools.shrink.world import ARGS, ENV

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.tools.shrink.report import Shrunk


def command(
    cycle: Cycle, payloads: Sequence[Shrunk], places: Mapping[str, str], environ: Mapping[str, str]
) -> list[str]:
    """The command with other places in the place of the payloads, and with what else matters."""
    words = list(cycle.command)
    left = {one.path: shlex.split(one.text) for one in payloads if not one.result}
    if ARGS[1:] in left:
        words = [words[0], *left[ARGS[1:]]]
    words = [places.get(os.path.join(cycle.cwd, word), word) for word in words]
    variables = left.get(ENV[1:])
    if variables is None:
        words = [*_changed(cycle.env), *words]
    else:  # without a PATH nobody would find it
        words = ["env", "-i", *variables, find(words[0], cycle.cwd, environ), *words[1:]]
    own = _own(cycle)
    return ["zeroin", "run", *own, "--", *words] if own else words


def _changed(env: Mapping[str, str | None]) -> list[str]:
    """What sets and takes away variables."""
    taken = [word for name, value in env.items() if value is None for word in ("-u", name)]
    given = [f"{name}={value}" for name, value in env.items() if value is not None]
    return ["env", *taken, *given] if env else []


def _own(cycle: Cycle) -> list[str]:
    """What only we can do."""
    words = [word for limit in cycle.limits for word in ("--limit", limit)]
    words += [word for line in cycle.reset for word in ("--reset", line)]
    if cycle.seed is not None:
        words += ["--seed", str(cycle.seed)]
    return [*words, "--sync"] if cycle.sync else words

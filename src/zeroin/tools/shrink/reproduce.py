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
    words = name_results(cycle, payloads, places)
    left = _words_left(payloads)
    variables = left.get(ENV[1:])
    if variables is None:
        words = [*_changed(cycle.env), *words]
    else:  # without a PATH nobody would find it
        words = ["env", "-i", *variables, find(words[0], cycle.cwd, environ), *words[1:]]
    own = _own(cycle)
    return ["zeroin", "run", *own, "--", *words] if own else words


def name_results(cycle: Cycle, payloads: Sequence[Shrunk], places: Mapping[str, str]) -> list[str]:
    """The words of the command, with the results where those name payloads."""
    words = list(cycle.command)
    left = _words_left(payloads)
    if ARGS[1:] in left:
        words = [words[0], *left[ARGS[1:]]]
    return [places.get(_full(cycle, word), word) for word in words]


def find_named(
    cycle: Cycle, payloads: Sequence[Shrunk], places: Mapping[str, str]
) -> frozenset[int]:
    """Which of the payloads that are files, by their numbers, the command names."""
    words = {_full(cycle, word) for word in name_results(cycle, payloads, {})}
    return frozenset(number for number, path in enumerate(places) if path in words)


def put_in_place(words: Sequence[str], swaps: Sequence[tuple[str, str]]) -> list[str]:
    """The same with results in the very place of payloads, for as long as it runs.

    For a command that finds a payload by a name of its own. After Ctrl-C, too, each payload is
    put back: the shell outlives what it has started.
    """
    copied = [f"cp -rp -- {shlex.quote(result)} {shlex.quote(path)}" for result, path in swaps]
    line = f"{' && '.join([*copied, shlex.join(words)])}; s=$?"
    for _, path in reversed(swaps):
        own, aside = shlex.quote(path), shlex.quote(_unused(path))
        line = f"mv -- {own} {aside} && {{ {line}; rm -rf -- {own}; mv -- {aside} {own}; }}"
    return ["sh", "-c", f"trap : INT TERM; s=1; {line}; exit $s"]


def _unused(path: str) -> str:
    """A name beside it that nobody has."""
    name, number = f"{path}.whole", 1
    while os.path.lexists(name):
        name, number = f"{path}.whole{number}", number + 1
    return name


def _full(cycle: Cycle, word: str) -> str:
    return os.path.normpath(os.path.join(cycle.cwd, word))


def _words_left(payloads: Sequence[Shrunk]) -> dict[str, list[str]]:
    """Of what is no file."""
    return {one.path: shlex.split(one.text) for one in payloads if not one.result}


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

"""Completion files for bash, zsh and fish, written once: completing runs no Python.

What a verb takes is read off its argparse parser (`verbs_of`), then written down in each
shell's own language (`script`). The command that `run` wraps begins after `--`, or at the
first word that is neither an option nor an option's value; from there on the shell
completes as it would for that command alone.
"""

from __future__ import annotations

from zeroin.errors import UsageError
from zeroin.fronts.completion import bash, fish, zsh
from zeroin.fronts.completion.verbs import ATTEMPTS, Option, Verb, verbs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTEMPTS", "SHELLS", "Option", "Verb", "script", "verbs_of"]

WRITERS = {"bash": bash.write, "zsh": zsh.write, "fish": fish.write}
SHELLS = tuple(WRITERS)


def script(shell: str, verbs: Mapping[str, Verb]) -> str:
    """Give the completion file for a shell."""
    if shell not in WRITERS:
        raise UsageError(
            f"no completion for {shell!r}: there is {', '.join(WRITERS)}",
            hint="zeroin completion bash",
        )
    return WRITERS[shell](list(verbs.values()))

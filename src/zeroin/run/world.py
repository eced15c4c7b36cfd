"""Putting the world back before a command runs: first what is restored, then what is reset.

A reset command may rely on what was restored. One that fails makes the trial untestable.
"""

from __future__ import annotations

import os
import shlex

from zeroin.digest import digest
from zeroin.errors import UNTESTABLE, UntestableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle

RESET_FAILED = "the reset failed:"


def put_world_back(cycle: Cycle, env: Mapping[str, str], store_folder: str, shown: int) -> None:
    """Restore and reset what the cycle asks for.

    `store_folder` keeps the first states; `shown` is the descriptor where resets print.
    """
    for path in cycle.restore:
        _restore_path(cycle, path, store_folder)
    for command in cycle.reset:
        _run_reset(command, cycle, env, shown)


def _restore_path(cycle: Cycle, path: str, store_folder: str) -> None:
    from zeroin.run import restore

    if not store_folder:
        raise UntestableError(
            "--restore keeps the first state in the record, and there is none",
            hint="leave --no-record out",
        )
    full = os.path.join(cycle.cwd, path)
    saved = os.path.join(store_folder, "restore", f"{cycle.key()}-{digest(full)}")
    try:
        if os.path.exists(saved):
            restore.put_back(full, saved)
        else:  # what is fit to be saved can be put back, whatever the program made of it
            restore.check(full, store=store_folder, home=os.path.expanduser("~"))
            restore.save(full, saved)
    except OSError as error:
        raise UntestableError(f"--restore {path}: {error}") from None


def _run_reset(command: str, cycle: Cycle, env: Mapping[str, str], shown: int) -> None:
    import subprocess

    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=cycle.cwd,
            env=dict(env),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=shown,  # ours to show, but not part of the command's own output
            stderr=shown,
        )
    except OSError as error:
        raise UntestableError(
            f"the reset can't be started, so the command was not run: {error}"
        ) from None
    if done.returncode:
        raise UntestableError(
            f"the reset failed with exit code {done.returncode}, so the command was not run: "
            f"{command}",
            hint=f"try it alone: {command}",
        )


def wrap_resets(cycle: Cycle) -> Cycle:
    """Let the resets of a cycle run where its command does, so that they see the same files.

    One that fails ends the trial with the exit code for untestable, and says which it was.
    """
    if not cycle.reset:
        return cycle
    lines = "".join(map(_guard_reset, cycle.reset))
    words = ("/bin/sh", "-c", f'{lines}exec "$0" "$@"')
    return cycle._replace(command=(*words, *cycle.command), reset=())


def _guard_reset(line: str) -> str:
    """Make shell lines that run a reset without our agent, and end everything if it fails."""
    complaint = shlex.quote(f"{RESET_FAILED} {line}")
    failed = f"printf '%s\\n' {complaint} >&2; exit {UNTESTABLE}"
    return f"( unset ZEROIN_AGENT\n{line}\n) >&2 || {{ {failed}; }}\n"

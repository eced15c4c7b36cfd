"""Which interpreter is asked, and why that one."""

from __future__ import annotations

import os
import shutil

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run import interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Choice(NamedTuple):
    """An interpreter, why it was taken, and the one that PATH would give if that is another."""

    executable: str
    why: str
    on_path: str = ""


def choose(
    given: str | None, command: Sequence[str], cwd: str, root: str, env: Mapping[str, str]
) -> Choice:
    """`--python`, else what the command starts, else the environment that is at hand."""
    if given:
        return Choice(_given(given, cwd, env), "--python")
    if command:
        return Choice(interpreter.of(command, cwd, env).executable, "the command's")
    on_path = shutil.which("python", path=env.get("PATH")) or shutil.which(
        "python3", path=env.get("PATH")
    )
    for folder, why in _at_hand(cwd, root, env):
        python = os.path.join(folder, "bin", "python")
        if os.access(python, os.X_OK):
            other = on_path if on_path and not _same(on_path, python) else ""
            return Choice(python, why, other or "")
    if not on_path:
        raise UsageError("there is no Python on PATH", hint="name one with --python")
    return Choice(on_path, "the first on PATH")


def _at_hand(cwd: str, root: str, env: Mapping[str, str]) -> list[tuple[str, str]]:
    found = []
    if env.get("VIRTUAL_ENV"):
        found.append((env["VIRTUAL_ENV"], "$VIRTUAL_ENV"))
    if env.get("CONDA_PREFIX"):
        found.append((env["CONDA_PREFIX"], "$CONDA_PREFIX"))
    for folder in dict.fromkeys([cwd, root]):
        for name in (".venv", "venv"):
            place = os.path.join(folder, name)
            if os.path.exists(os.path.join(place, "pyvenv.cfg")):
                found.append((place, f"the project's {name}"))
    return found


def _given(given: str, cwd: str, env: Mapping[str, str]) -> str:
    full = os.path.join(cwd, os.path.expanduser(given))
    if os.path.isdir(full):
        full = os.path.join(full, "bin", "python")
        if not os.access(full, os.X_OK):
            raise UsageError(f"--python {given}: there is no bin/python in that folder")
        return full
    if os.sep not in given:
        found = shutil.which(given, path=env.get("PATH"))
        if found is None:
            raise UsageError(f"--python {given}: there is no such command on PATH")
        return found
    if not os.access(full, os.X_OK):
        raise UsageError(f"--python {given}: no such file, or it can't be executed")
    return full


def _same(one: str, other: str) -> bool:
    """Whether two commands are the same environment: each has its own folder."""
    folders = [os.path.realpath(os.path.dirname(path)) for path in (one, other)]
    return folders[0] == folders[1]

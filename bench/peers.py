"""Other tools that wrap a command, installed with pip where the measurements vanish."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.scene import Scene

# name → its package, and how it wraps a command that does nothing (guild wants a script).
PEERS = {
    "asciinema": ("asciinema<3", ["rec", "-q", "--overwrite", "-c", "true", "true.cast"]),
    "con-duct": ("con-duct", ["run", "-q", "--clobber", "-p", "duct/", "true"]),
    "guild": ("guildai", ["run", "-y", "nothing.py"]),
}


def install(scene: Scene) -> tuple[dict[str, list[str]], list[str]]:
    """Install all that can be had: the words to run each, and a line for each that can't."""
    with open(os.path.join(scene.make("peers-work"), "nothing.py"), "w", encoding="utf-8") as file:
        file.write("pass\n")
    found, missing = {}, []
    for name, (package, words) in PEERS.items():
        folder = os.path.join(scene.folder, f"venv-{name}")
        program = os.path.join(folder, "bin", name)
        try:
            _call([os.path.realpath(sys.executable), "-m", "venv", folder])
            _call([os.path.join(folder, "bin", "python"), "-m", "pip", "-q", "install", package])
            _call([program, *words], cwd=scene.make("peers-work"), env=scene.env)
        except (OSError, subprocess.SubprocessError) as error:
            missing.append(f"{name}: can't be installed or run here ({type(error).__name__})")
            continue
        found[name] = [program, *words]
    return found, missing


def _call(words: list[str], cwd: str | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.run(
        words,
        cwd=cwd,
        env=env,
        check=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

"""What tests of the shadow snapshot make and look at."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from zeroin.record.code import Shadow

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(folder: Path, *args: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=A", "-c", "user.email=a@b.invalid", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, env=env, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        put(folder, name + ".py", content)


def put(folder: Path, name: str, content: str | bytes = "x\n", *, old: bool = False) -> Path:
    """Write a file; an `old` one is no candidate for being read again by git."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if old:
        os.utime(path, (1e9, 1e9))
    return path


def everything_in(folder: Path) -> dict[str, object]:
    """Say all there is to say about a folder: names, modes, times, contents."""
    state: dict[str, object] = {}
    for base, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            path = os.path.join(base, name)
            info = os.lstat(path)
            content = Path(path).read_bytes() if stat.S_ISREG(info.st_mode) else None
            state[path] = (info.st_mode, info.st_mtime_ns, info.st_ctime_ns, info.st_size, content)
    return state


def contents(shadow: Shadow, tree: str) -> dict[str, bytes]:
    return {path: shadow.read(tree, path) for path in shadow.files(tree)}


def shadow_of(root: Path, **options) -> Shadow:
    return Shadow(str(root / ".zeroin"), str(root), **options)

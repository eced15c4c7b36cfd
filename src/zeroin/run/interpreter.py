"""Which Python a command would use, and where packages are installed for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

from zeroin.errors import UntestableError, UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_PYTHON = re.compile(r"python[\d.]*t?")
_SECONDS = 30.0
# Programs that start another one in the project's environment, and how they change nothing there.
_RUNNERS = {
    "uv": ("run", "--no-sync"),
    "poetry": ("run",),
    "pipenv": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
}
# Before anything is imported for a question of ours: a file of the user's that is called
# `json.py` must not come between. `path` is what it was.
LIBRARY_ALONE = """
import os, sys
path = list(sys.path)
library = os.path.dirname(os.__file__)
sys.path[:] = [p for p in path if p == library or os.path.dirname(p) == library
    and os.path.basename(p) not in ("site-packages", "dist-packages")]
"""
# Runs in any Python 3, so it says everything in old words.
_PROBE = f"""{LIBRARY_ALONE}
if sys.version_info < (3,):
    sys.stdout.write('{{"old": "%d.%d.%d"}}' % sys.version_info[:3])
    sys.exit()
"""
_PROBE += """
import json, platform, sysconfig
def version(info):
    text = ".".join(str(one) for one in info[:3])
    return text if info[3] == "final" else text + info[3][0] + str(info[4])
abi = sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag or "python"
print(json.dumps({
    "executable": sys.executable,
    "base": getattr(sys, "_base_executable", None) or sys.executable,
    "version": ".".join(str(one) for one in sys.version_info[:3]),
    "tag": abi + "-" + sysconfig.get_platform(),
    "sites": [p for p in path if os.path.basename(p) in ("site-packages", "dist-packages")],
    "scripts": sysconfig.get_path("scripts"),
    "prefix": sys.prefix,
    "markers": {
        "implementation_name": sys.implementation.name,
        "implementation_version": version(sys.implementation.version),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    },
}))
"""


class Python(NamedTuple):
    """An interpreter, and the environment that it is in."""

    executable: str
    base: str  # the interpreter itself, outside of any environment
    version: str
    tag: str  # what is compiled for one tag does not fit another
    sites: tuple[str, ...]  # folders of packages
    scripts: str
    prefix: str
    markers: Mapping[str, str]  # what conditions of requirements ask for

    @property
    def name(self) -> str:
        """As its folder below `lib` is called."""
        return f"python{'.'.join(self.version.split('.')[:2])}"


def of(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> Python:
    """The one that this command would start, or that is on PATH."""
    if len(unwrapped(command)) < len(command):
        runner = command[0]
        words = [runner, *_RUNNERS[os.path.basename(runner)], "python"]
        return _told(_ask(words, cwd, env))
    return at(executable(command, cwd, env), cwd, env)


def unwrapped(command: Sequence[str]) -> Sequence[str]:
    """What `uv run` and its like would start: they choose an environment by themselves."""
    is_runner = len(command) > 2 and os.path.basename(command[0]) in _RUNNERS
    if is_runner and command[1] == "run" and not command[2].startswith("-"):
        return command[2:]
    return command


def at(path: str, cwd: str, env: Mapping[str, str]) -> Python:
    """Ask an interpreter; the folder of an environment will do."""
    full = os.path.join(cwd, path)
    if os.path.isdir(full):
        full = os.path.join(full, "bin", "python")
        if not os.access(full, os.X_OK):
            raise UsageError(f"{path}: no virtual environment: there is no bin/python")
    elif os.sep not in path:
        full = shutil.which(path, path=env.get("PATH")) or path
    return _told(_ask([full], cwd, env))


def _told(told: dict[str, Any]) -> Python:
    return Python(**{**told, "sites": tuple(_there(told["sites"]))})


def _ask(words: Sequence[str], cwd: str, env: Mapping[str, str]) -> dict[str, Any]:
    full = words[0]
    try:
        done = subprocess.run(
            [*words, "-c", _PROBE],
            cwd=cwd,
            env={**env, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        told = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired):
        raise UsageError(f"{full}: can't be started", hint="name a Python with --python") from None
    except (ValueError, IndexError):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"exit code {done.returncode}"
        raise UntestableError(f"{full}: does not tell what it is: {why}") from None
    if "old" in told:
        raise too_old(full, told["old"])
    return dict(told)


def too_old(python: str, version: str) -> UsageError:
    """One that can't be asked."""
    return UsageError(
        f"{python} is Python {version}, which is too old to be asked",
        hint="name one from 3.9 on with --python",
    )


def _there(folders: list[str]) -> list[str]:
    found: list[str] = []
    for folder in folders:
        full = os.path.abspath(folder)
        if os.path.isdir(full) and full not in found:
            found.append(full)
    return found


def named(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> str:
    """The one that a command starts by a word of its own; "" if none says which."""
    for word in command:
        found = (
            os.path.join(cwd, word) if os.sep in word else shutil.which(word, path=env.get("PATH"))
        )
        if found and _PYTHON.fullmatch(os.path.basename(found)) and os.access(found, os.X_OK):
            return found
        started = _shebang(found) if found and os.path.isfile(found) else ""
        if started:
            return started
        if word.endswith(".py"):
            break  # behind it are the program's own words
    return ""


def executable(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> str:
    """The one that a command names, else the active one, else the first on PATH."""
    started = named(command, cwd, env)
    if started:
        return started
    active = os.path.join(env.get("VIRTUAL_ENV") or "/nowhere", "bin", "python")
    if os.access(active, os.X_OK):
        return active
    for name in ("python", "python3"):
        found = shutil.which(name, path=env.get("PATH"))
        if found:
            return found
    raise UsageError("there is no Python on PATH", hint="name one with --python")


def _shebang(path: str) -> str:
    """The Python that a script names; "" for others."""
    try:
        with open(path, "rb") as file:
            head = file.read(1024)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    lines = head.decode(errors="replace").splitlines()
    words = lines[0][2:].split()
    if words[:1] == ["/bin/sh"] and len(lines) > 1 and lines[1].startswith("'''exec' "):
        words = lines[1].removeprefix("'''exec' ").strip().split('"')[1:2] or words
    first = words[0] if words else ""
    is_python = bool(_PYTHON.fullmatch(os.path.basename(first))) and os.access(first, os.X_OK)
    return first if is_python else ""

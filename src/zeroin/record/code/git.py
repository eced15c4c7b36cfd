"""Running git: with our settings, deaf to the user's, and its failures as one sentence."""

from __future__ import annotations

import os
import time

_SETTINGS = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.protectNTFS=false",  # names that Windows couldn't have are names here
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.looseCompression=1",
    "gc.auto=0",
    "gc.packRefs=false",  # so that `forget` is an unlink
)
_ENVIRONMENT = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class CodeError(Exception):
    """The code could not be recorded or read; the message says why in one sentence."""


class GitMissingError(CodeError):
    """There is no git to record the code with."""


class TookTooLongError(CodeError):
    """Git was ended at the time-out."""


def run_git(
    folder: str,
    *args: str,
    index: str = "",
    work_tree: str = "",
    cwd: str = "",
    borrow: str = "",
    stdin: bytes = b"",
    deadline: float | None = None,
) -> bytes:
    """Run git in a repository, deaf to the variables of the user's shell and to most settings."""
    import subprocess  # not for a command without code

    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= _ENVIRONMENT | {"GIT_DIR": folder}
    env |= {"GIT_INDEX_FILE": index} if index else {}
    env |= {"GIT_WORK_TREE": work_tree} if work_tree else {}
    if borrow:  # quoted, or a colon would split it
        quoted = borrow.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f'"{quoted}"'
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    where = cwd or work_tree or folder
    try:
        done = subprocess.run(
            ["git", *settings, *args],
            env=env,
            cwd=where,
            input=stdin,
            capture_output=True,
            timeout=None if deadline is None else max(0.0, deadline - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TookTooLongError(
            f"git {args[0]} did not finish in time: ignore large folders in .gitignore"
        ) from None
    except FileNotFoundError:
        if os.path.isdir(where):
            raise GitMissingError("git is not installed, so the code can't be recorded") from None
        raise CodeError(f"the folder {where} is gone") from None
    if done.returncode:
        said = "; ".join(done.stderr.decode("utf-8", "replace").split("\n")).strip("; ")
        raise CodeError(f"git {args[0]} failed: {said or done.returncode}")
    return done.stdout


def names_in(output: bytes) -> list[str]:
    """Read what git lists with `-z`: names, each with a zero byte after it."""
    return [os.fsdecode(name) for name in output.split(b"\0")[:-1]]


def as_lines(paths: list[str]) -> bytes:
    """Write paths as git reads them with `-z`."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def entries_in(index: str) -> int:
    """Read the number of entries off an index's head."""
    try:
        with open(index, "rb") as file:
            return int.from_bytes(file.read(12)[8:], "big")
    except FileNotFoundError:
        return 0

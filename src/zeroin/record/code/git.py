"""Running git: with our settings alone, and its failures as one sentence.

Whatever a repository or a machine says, git starts no other program here: it reads no settings but
ours, speaks no protocol, so it fetches nothing that is missing, and has no filters, hooks, monitors
or ways to show a difference.
"""

from __future__ import annotations

import os
import re
import time

from zeroin.errors import ZeroinError

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
    "core.excludesFile=/dev/null",  # `rules` has read the user's
    "protocol.allow=never",
    "core.looseCompression=1",
    "gc.auto=0",
    "gc.packRefs=false",  # so that `forget` is an unlink
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # goes over what any settings allow
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class CodeError(ZeroinError):
    """The code could not be recorded or read; the message says why in one sentence."""


class GitMissingError(CodeError):
    """There is no git to record the code with."""


class TookTooLongError(CodeError):
    """Git was ended at the time-out."""


def check_object_name(name: str) -> str:
    """Give the name of an object, or of something in it (`NAME:path`), if it can be none else."""
    if not re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", name.partition(":")[0]):
        raise CodeError(f"{name!r} names no code: the record is damaged")
    return name


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
    """Run git in a repository of ours, deaf to the user's variables and to all other settings."""
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


def ask_excludes_file() -> str:
    """Where the user's own settings say that patterns for all repositories lie; "" if nowhere."""
    import subprocess

    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    args = ["git", "config", "--type=path", "--get", "core.excludesFile"]
    try:
        done = subprocess.run(
            args, env=env | {"GIT_DIR": "/dev/null"}, cwd="/", capture_output=True, check=False
        )
    except OSError:
        return ""
    return os.fsdecode(done.stdout).strip("\n")


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

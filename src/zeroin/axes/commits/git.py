"""Running git in a repository of the user's, which is never written to."""

from __future__ import annotations

import os
import subprocess

from zeroin.errors import UntestableError, UsageError

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.fsmonitor=false",
    "diff.autoRefreshIndex=false",  # or `git diff` writes the user's index
    "advice.detachedHead=false",
    "gc.auto=0",
    "protocol.file.allow=always",
)
_VARIABLES = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


class GitError(UntestableError):
    """What git said."""


class Git:
    """Git in one folder, with the user's settings but for a few."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, *args: str, stdin: str = "") -> str:
        """What it prints."""
        return self.raw(*args, stdin=stdin.encode()).decode(errors="surrogateescape")

    def raw(self, *args: str, stdin: bytes = b"") -> bytes:
        """What it prints, as it is; a failure is an error with its last words."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        try:
            done = subprocess.run(
                ["git", *settings, *args],
                cwd=self.folder,
                env=env | _VARIABLES,
                input=stdin,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            if not os.path.isdir(self.folder):
                raise UsageError(f"{self.folder}: no such folder") from None
            raise UntestableError("there is no git here", hint="install git") from None
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            told = next((one for one in lines if one.startswith(("fatal:", "error:"))), "")
            told = told or (lines[-1] if lines else f"exit code {done.returncode}")
            raise GitError(f"git {args[0]}: {told.removeprefix('fatal: ').removeprefix('error: ')}")
        return done.stdout

    def tells(self, *args: str) -> str:
        """What it prints, in one line; "" if it fails."""
        try:
            return self(*args).strip()
        except GitError:
            return ""

    def has(self, *args: str) -> bool:
        """Whether it ends well."""
        try:
            self.raw(*args)
        except GitError:
            return False
        return True


def repository(folder: str) -> Git:
    """The one that a folder is in, at its top."""
    top = Git(folder).tells("rev-parse", "--show-toplevel")
    if not top:
        why = _why(folder)
        raise UsageError(why, hint="name the repository: zeroin bisect commits --repo PATH ...")
    return Git(top)


def _why(folder: str) -> str:
    try:
        Git(folder)("rev-parse", "--show-toplevel")
    except GitError as error:
        if "not a git repository" not in error.message:
            return error.message
    return f"{folder} is in no git repository that has a checkout"

"""A user without rights, made for a test and removed after it."""

from __future__ import annotations

import contextlib
import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import support

if TYPE_CHECKING:
    from collections.abc import Iterator


class PlainUser(NamedTuple):
    """Who it is, a folder of its own, and a Python that it can start."""

    uid: int
    gid: int
    name: str
    folder: Path
    python: str

    def run(
        self, *words: str | Path, timeout: float = 60, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as this user, in its folder."""
        return subprocess.run(
            [*map(str, words)],
            cwd=self.folder,
            env=self.env | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=timeout,
            check=False,
            **self.identity,
        )

    def zeroin(
        self, *words: str | Path, timeout: float = 60, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Likewise zeroin."""
        return self.run(self.python, "-m", "zeroin", *words, timeout=timeout, **env)

    @property
    def identity(self) -> dict[str, object]:
        """What `subprocess` needs to know."""
        if os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    @property
    def env(self) -> dict[str, str]:
        """A plain environment, with zeroin on the path."""
        return {
            "PATH": support.plain_path(),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(support.SRC),
            support.TEST_ID: os.environ[support.TEST_ID],
        }


@contextlib.contextmanager
def plain_user() -> Iterator[PlainUser]:
    """Ourselves, if we are one; else a new one."""
    if os.geteuid():
        with tempfile.TemporaryDirectory() as folder:
            yield PlainUser(os.getuid(), os.getgid(), "", Path(folder), sys.executable)
        return
    name = f"zt{os.getpid()}"
    made = subprocess.run(
        ["useradd", "-M", "-s", "/bin/sh", name], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip(f"needs a user of its own: useradd says {made.stderr!r}")
    found = pwd.getpwnam(name)
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, found.pw_uid, found.pw_gid)
            python = _python(found.pw_uid, found.pw_gid)
            yield PlainUser(found.pw_uid, found.pw_gid, name, Path(folder), python)
    finally:
        subprocess.run(["userdel", name], check=False, capture_output=True)


def _python(uid: int, gid: int) -> str:
    """One that the user may start and that may read our source."""
    tries = [*support.drivers().values(), "/usr/bin/python3"]
    for python in tries:
        with contextlib.suppress(OSError):
            done = subprocess.run(
                [python, "-c", "import sys, zeroin.errors; sys.exit(sys.version_info < (3, 11))"],
                user=uid,
                group=gid,
                extra_groups=[],
                env={"PYTHONPATH": str(support.SRC)},
                cwd="/",
                check=False,
                capture_output=True,
            )
            if not done.returncode:
                return python
    pytest.skip(
        "needs a Python from 3.11 on that every user may start, and our source to be theirs to read"
    )

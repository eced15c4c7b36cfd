"""The words of the doctor: a `Probe`, and a command run to its end or ended."""

from __future__ import annotations

import os
import signal
import subprocess

from zeroin.named import NamedTuple

OK, LIMITED, MISSING, ABSENT = "ok", "limited", "missing", "absent"
SECONDS = 1.2  # for any one command; what answers later is of no use while debugging


class Probe(NamedTuple):
    """One thing that was tried: how it went, what would fix it, and what needs it."""

    name: str
    state: str  # "ok", "limited", "missing" or "absent"
    detail: str  # one line: what was tried and found
    fix: str  # one shell command, or "" when there is nothing to be done
    matters: str  # which features need it


class Ran(NamedTuple):
    """How a command went; `code` is None when it didn't end in time."""

    code: int | None
    out: str
    err: str

    @property
    def reason(self) -> str:
        """Its last word, for a person."""
        if self.code is None:
            return f"no answer in {SECONDS} s"
        lines = (self.err.strip() or self.out.strip()).splitlines()
        return lines[-1].strip() if lines else f"exit code {self.code}"


def run(*command: str) -> Ran:
    """Run a command to its end, or end it and all it started."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Ran(None, "", "")
    return Ran(process.returncode, out, err)


def read(path: str) -> str:
    """Give what a small file says; "" if it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""

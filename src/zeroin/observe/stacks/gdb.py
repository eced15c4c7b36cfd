"""gdb: the last resort, for a Python that py-spy does not know and for frames in C."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from zeroin.observe.stacks import proc
from zeroin.observe.stacks.stack import Frame, Stack

SECONDS = 20.0
FRAMES = 60
_THREAD = re.compile(r"^Thread \d+ \(.*?LWP (\d+)\).*")
_NATIVE = re.compile(r"^#\d+\s+(?:0x[0-9a-f]+ in )?(.+?) \(.*?\)(?: (?:at|from) (\S+?))?$")
_PYTHON = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+), in (?P<name>\S+)')


def stacks(pid: int) -> tuple[list[Stack], str]:
    """The Python stack of each thread where gdb can read it, else its frames in C; or why not."""
    if shutil.which("gdb") is None:
        return [], "gdb is not installed"
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    if proc.owner(pid) == os.geteuid():  # gdb runs scripts that lie beside a program
        words += ["-iex", "set auto-load safe-path /"]
    words += ["-ex", "set print frame-arguments none"]
    words += ["-ex", f"thread apply all bt {FRAMES}", "-ex", "thread apply all py-bt"]
    try:
        done = subprocess.run(
            [*words, "-p", str(pid)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [], f"gdb did not answer within {SECONDS:.0f} s"
    found = read(pid, done.stdout)
    if found:
        return found, ""
    said = [line for line in done.stderr.splitlines() if "ptrace" in line or "ould not" in line]
    return [], said[0].strip() if said else "gdb found no stack"


def read(pid: int, text: str) -> list[Stack]:
    """The threads of gdb's answer; Python's frames take the place of those in C."""
    native: dict[int, list[Frame]] = {}
    python: dict[int, list[Frame]] = {}
    thread = pid
    for line in text.splitlines():
        if match := _THREAD.match(line):
            thread = int(match[1])
        elif match := _NATIVE.match(line):
            file, _, number = (match[2] or "").partition(":")
            where = file.rpartition("/")[2]
            frame = (where, int(number) if number.isdigit() else 0, match[1])
            native.setdefault(thread, []).insert(0, frame)
        elif match := _PYTHON.match(line):
            frame = (match["file"], int(match["line"]), match["name"])
            python.setdefault(thread, []).insert(0, frame)
    return [
        Stack(pid, "MainThread" if tid == pid else f"thread {tid}", frames, "gdb", (), tid)
        for tid, frames in sorted((native | python).items())
    ]

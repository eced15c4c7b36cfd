"""Core dumps: where the kernel put one, and the stacks in it."""

from __future__ import annotations

import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile

from zeroin.named import NamedTuple

SECONDS = 30.0  # for gdb, which reads large files
FRAMES = 25
SLACK = 2.0
_UNKNOWN = re.compile(r"%[a-zA-Z]")
NT_PRPSINFO, NT_FILE = 3, 0x46494C45
PIDS_AT = 24  # bytes into NT_PRPSINFO: its own number, then its parent's


class Core(NamedTuple):
    """A dump, or why there is none. `native` is the C stack, innermost first."""

    path: str = ""
    note: str = ""
    program: str = ""
    native: tuple[str, ...] = ()
    python: tuple[str, ...] = ()


class Death(NamedTuple):
    """Whose dump is looked for."""

    pid: int
    cwd: str
    since: float
    dumped: bool  # the kernel says that it wrote one
    limit: int  # bytes that one may have; -1 for no limit
    program: str = ""  # where the command was found
    family: tuple[int, ...] = ()  # if it was not the command but a child: processes of the run

    def is_meant(self, pid: int, parent: int) -> bool:
        """Whether a dump of that process is the one."""
        if self.family:
            return pid in self.family or parent in self.family
        return pid in (self.pid, 0)


def find(death: Death, pattern: str | None = None) -> Core:
    """Find it as the kernel was told to put it, and read its stacks."""
    pattern = pattern if pattern is not None else _read("/proc/sys/kernel/core_pattern")
    if pattern.startswith("|"):
        return _of_handler(death, pattern[1:])
    if not death.dumped and death.limit == 0:
        return Core(note="no core dump: its size is limited to 0; next time: ulimit -c unlimited")
    if not pattern:
        return Core()
    whose = {path: _pids(path) for path in _on_disk(death, pattern)}
    for path, pids in whose.items():
        if death.is_meant(*pids):
            return stacks(path, death.program)
    where = os.path.join(death.cwd, pattern)
    none = "a core dump was written, but is gone" if death.dumped else "there is no core dump of it"
    others = [f"{path} is that of process {pid}" for path, (pid, _) in whose.items()]
    return Core(note=f"{none}; {others[0] if others else f'it would be {where}'}")


def _on_disk(death: Death, pattern: str) -> list[str]:
    """The files that the pattern may mean and that are young enough, the newest first."""
    text = pattern.replace("%%", "%")
    number = "*" if death.family else str(death.pid)
    for mark in ("%p", "%P", "%i", "%I"):
        text = text.replace(mark, number)
    text = _UNKNOWN.sub("*", text)
    path = os.path.join(glob.escape(death.cwd), text)
    tries = [f"{path}.{number}", path]
    found = [name for one in tries for name in glob.glob(one) if _is_core(name, death.since)]
    return sorted(found, key=os.path.getmtime, reverse=True)


def _is_core(path: str, since: float) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(18)
        return os.path.getmtime(path) >= since - SLACK and head[:4] == b"\x7fELF" and head[16] == 4
    except (OSError, IndexError):
        return False


def _of_handler(death: Death, pattern: str) -> Core:
    """The dump went to a program's standard input."""
    handler = pattern.strip().partition(" ")[0]
    if "systemd-coredump" in handler and shutil.which("coredumpctl"):
        return _by_coredumpctl(death)
    if "apport" in handler:
        found = [
            path
            for path in glob.glob("/var/crash/*.crash")
            if os.access(path, os.R_OK) and os.path.getmtime(path) >= death.since - SLACK
        ]
        if found:
            unpack = f"apport-unpack {found[0]} crash && gdb -batch -ex bt PROGRAM crash/CoreDump"
            return Core(found[0], f"apport keeps it: {unpack}")
        return Core(note="core dumps go to apport, which kept none in /var/crash")
    return Core(note=f"core dumps go to {handler}; ask that")


def _by_coredumpctl(death: Death) -> Core:
    said: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "core")
        for pid in death.family or (death.pid,):
            words = ["coredumpctl", "dump", str(pid), f"--since=@{int(death.since)}", "-o", path]
            said = (_run(words) or "no answer").strip().splitlines()
            if os.path.exists(path):
                return stacks(path, death.program)._replace(path=f"coredumpctl dump {pid}")
    return Core(note=f"coredumpctl has none: {said[-1] if said else 'it is silent'}")


def stacks(path: str, program: str = "") -> Core:
    """By gdb, with the very program that died: it is named in the dump."""
    program = _program(path) or program
    if shutil.which("gdb") is None:
        return Core(path, "gdb is not on PATH: no stacks", program)
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    words += ["-iex", "set auto-load safe-path /", "-ex", f"bt {FRAMES}", "-ex", "py-bt"]
    said = _run([*words, program, path] if program else [*words, "-c", path])
    if said is None:
        return Core(path, f"gdb did not answer within {SECONDS:.0f} s", program)
    frames = _frames(said)
    python = [line for line in said.splitlines() if line.startswith('  File "')]
    return Core(
        path, "" if frames else "gdb found no stack in it", program, tuple(frames), tuple(python)
    )


def _frames(said: str) -> list[str]:
    """From where the fault was: a handler of Python's may have run after it."""
    found = [line.strip() for line in said.splitlines() if re.match(r"#\d+ ", line)]
    found = list(dict.fromkeys(found))  # gdb shows the innermost one also when it opens the dump
    handler = [at for at, line in enumerate(found) if "<signal handler called>" in line]
    return found[handler[-1] + 1 :] if handler else found


def _run(words: list[str]) -> str | None:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout + done.stderr


def _pids(path: str) -> tuple[int, int]:
    """The process that a dump is of, and its parent; 0 if it does not say."""
    about = _notes(path).get(NT_PRPSINFO, b"")
    if len(about) < PIDS_AT + 8:
        return 0, 0
    pid, parent = struct.unpack_from("<ii", about, PIDS_AT)
    return int(pid), int(parent)


def _program(path: str) -> str:
    """The first file that was mapped: the program itself, which lies below its libraries."""
    files = _notes(path).get(NT_FILE)
    if files is None:
        return ""
    (count,) = struct.unpack_from("<Q", files)
    return os.fsdecode(files[16 + 24 * count :].split(b"\0")[0])


def _notes(path: str) -> dict[int, bytes]:
    """What the kernel noted in a dump of 64 bits, by its kind; of each kind the first."""
    found: dict[int, bytes] = {}
    with open(path, "rb") as file:
        head = file.read(64)
        if head[4] != 2:  # 32 bits
            return {}
        offset, size, count = (
            struct.unpack_from("<Q", head, 32)[0],
            *struct.unpack_from("<HH", head, 54),
        )
        file.seek(offset)
        table = file.read(size * count)
        for number in range(count):
            kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", table, number * size)
            if kind == 4:  # notes
                file.seek(start)
                _add_notes(found, file.read(min(length, 16 << 20)))
    return found


def _add_notes(found: dict[int, bytes], notes: bytes) -> None:
    at = 0
    while at + 12 <= len(notes):
        names, size, kind = struct.unpack_from("<III", notes, at)
        start = at + 12 + (names + 3 & ~3)
        found.setdefault(kind, notes[start : start + size])
        at = start + (size + 3 & ~3)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""

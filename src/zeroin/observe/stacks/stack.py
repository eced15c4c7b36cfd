"""One stack, and whose code its frames are."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

Frame = tuple[str, int, str]  # file, line, function

# Our own thread in the program, which answers us: no part of it.
AGENT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "agent", "")
_STDLIB = ("/lib/python", "/lib64/python")
_INSTALLED = ("/site-packages/", "/dist-packages/")
BOOTS = ("multiprocessing/", "joblib/externals/loky/")
_COMPILED = (".pyx", ".pxd", ".pxi", ".c", ".cpp", ".cc", ".h", ".rs", ".so")


class Stack(NamedTuple):
    """One thread of one process, outermost frame first: (file, line, function)."""

    pid: int
    thread: str
    frames: list[Frame]
    source: str  # "py-spy", "faulthandler", "asyncio", "agent" or "gdb"
    locals: Sequence[dict[str, str]] = ()  # of each frame, where values were asked for
    tid: int = 0  # the kernel's number of the thread, where it can be told
    gil: bool = False  # whether it holds the interpreter's lock
    had: int | None = None  # processor time of the thread before it was looked at

    @property
    def is_main(self) -> bool:
        """Whether it is the thread that the program began with."""
        if self.tid:
            return self.tid == self.pid
        return self.thread in ("MainThread", "main")

    def told(self) -> dict[str, Any]:
        """What is kept of it."""
        return {name: value for name, value in self._asdict().items() if name != "had"}

    def has_moved(self, had: int) -> bool:
        """Whether it went on since: what it waits for by now is not told by these frames."""
        return self.had is not None and had != self.had


def _once(work: Callable[[str], str]) -> Callable[[str], str]:
    """Work it out once for each file. `functools` takes as long to load as this saves."""
    known: dict[str, str] = {}

    def told(file: str) -> str:
        found = known.get(file)
        if found is None:
            found = known[file] = work(file)
        return found

    return told


@_once
def module_of(file: str) -> str:
    """The path below the folder of libraries: `threading.py`, `torch/nn/modules/module.py`."""
    if file.endswith(_COMPILED) or ".so." in file:
        return file.rpartition("/")[2]
    for folder in _INSTALLED:
        if folder in file:
            return file.rpartition(folder)[2]
    for folder in _STDLIB:
        if folder in file:
            return file.rpartition(folder)[2].partition("/")[2] or file
    return file


@_once
def owner_of(file: str) -> str:
    """Whose code: "user", "package", "stdlib", or "native" where there is no Python file."""
    if not file or file.endswith(_COMPILED) or ".so." in file:
        return "native"
    if file.startswith(("<frozen", AGENT)):
        return "stdlib"
    if any(one in file for one in _INSTALLED):
        return "package"
    if any(one in file for one in _STDLIB) and module_of(file) != file:
        return "stdlib"
    folder, _, name = file.rpartition("/")
    is_script = folder.endswith("/bin") and not name.endswith(".py")
    return "package" if is_script else "user"


def without_boot(frames: list[Frame]) -> list[Frame]:
    """Without how a process began.

    The one line that multiprocessing starts a new Python with looks like the user's, and what a
    parent was doing when it forked is not the child's doing.
    """
    forked = [
        n
        for n, (file, _, name) in enumerate(frames)
        if name.endswith("_launch") and module_of(file) == "multiprocessing/popen_fork.py"
    ]
    if forked:
        frames = frames[forked[-1] + 1 :]
    is_boot = len(frames) > 1 and frames[0][0] == "<string>"
    return frames[1:] if is_boot and module_of(frames[1][0]).startswith(BOOTS) else frames


def plain(name: str) -> str:
    """A function without its class: before 3.11 nobody knows that."""
    return name.rpartition(".")[2]


def users(frames: Sequence[Frame]) -> list[Frame]:
    """Only the user's own frames."""
    return [frame for frame in frames if owner_of(frame[0]) == "user"]


def innermost(frames: Sequence[Frame]) -> Frame | None:
    """Where it stands, said by the user's own code if any of it is there."""
    own = users(frames)
    python = [frame for frame in frames if owner_of(frame[0]) != "native"]
    return own[-1] if own else python[-1] if python else frames[-1] if frames else None


def place(frame: Frame) -> str:
    """`data.py:17 read()`."""
    file, line, name = frame
    where = f"{os.path.basename(file) or '?'}:{line}" if line else os.path.basename(file)
    inner = plain(name)
    return where if inner.startswith("<") or not inner else f"{where} {inner}()".strip()

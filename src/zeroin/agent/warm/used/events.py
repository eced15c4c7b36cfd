"""What the audit events tell about files: opened, listed, made, moved, removed.

The events come before the deed, so what is recorded is what the program finds. The frame that
asked tells what for: the import system and tracebacks use files for other ends than the
program does, and `makedirs(exist_ok=True)` doesn't mind what it finds.
"""

from __future__ import annotations

import os
import posix
import sys

from ... import owner
from . import signatures, uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_TMPFILE = getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY

AGENT = __name__.partition(".")[0]
IMPORTS = frozenset(
    (
        "importlib._bootstrap",
        "importlib._bootstrap_external",
        "_frozen_importlib",
        "_frozen_importlib_external",
        "zipimport",
        "runpy",
    )
)
# They look through the folders of modules for packages that are installed there.
METADATA = frozenset(("importlib.metadata", "importlib_metadata"))
# They read the source of what runs, to import or to show it.
_TOOLS = IMPORTS | {
    "linecache",
    "tokenize",
    "inspect",
    "traceback",
    "warnings",
    "_pytest.assertion.rewrite",
}
# They list folders by `scandir`, and want only names and whether it's a folder.
_WALKERS = frozenset(
    ("os", "glob", "shutil", "pathlib", "pathlib._local", "pathlib._abc", "_pytest.pathlib")
)

ignored: tuple[str, ...] = ("/proc/", "/sys/", owner._STDLIB, owner._HERE)
_DEVICES, _MEMORY = "/dev/", "/dev/shm/"  # noqa: S108 - people keep data in the latter
_known: set[str] = set()  # paths, as given, that need no second look when read again
_moved = False  # did the program ever change its folder?


# --- paths --------------------------------------------------------------------------------


def tracked(path: str) -> bool:
    """Whether the path is looked after one by one."""
    return not (
        path.startswith(ignored)
        or (path.startswith(_DEVICES) and not path.startswith(_MEMORY))
        or "/site-packages" in path
        or "/dist-packages" in path
        or "/__pycache__" in path
    )


def resolve(path: Any, dir_fd: int = -1) -> str | None:
    """Make a path absolute as of now, or None where it is none or not looked after."""
    if type(path) is not str:
        if isinstance(path, int):
            return None
        path = os.fsdecode(path)
    if path[:1] != "/":
        if not path:
            return None
        base = posix.readlink(f"/proc/self/fd/{dir_fd}") if dir_fd >= 0 else posix.getcwd()
        path = f"{base}/{path}"
    if path[-1] == "/" or "/." in path or "//" in path:
        parts = path.split("/")
        if ".." not in parts:  # a link may lie before it: then only the system knows
            path = "/" + "/".join([part for part in parts if part and part != "."])
    return path if tracked(path) else None


def _asker(depth: int) -> tuple[str, FrameType | None]:
    """Whose statement it was: the name of the module, and the frame; none if it's C's own."""
    frame = sys._getframe(depth).f_back
    return (frame.f_globals.get("__name__") or "" if frame is not None else ""), frame


# --- open ---------------------------------------------------------------------------------


def opened(args: tuple[Any, ...]) -> None:
    """`open`, `os.open`, `io.open_code`: the path, a mode or None, the flags."""
    path, mode, flags = args
    if path in _known and not flags & _ACCESS:
        return
    name, frame = _asker(2)
    if name.startswith(AGENT) or isinstance(path, int):
        return
    if mode is None and name in _WALKERS and type(path) is str and path[:1] != "/":
        return  # relative to a descriptor that the event doesn't tell
    full = resolve(path)
    if full is None:
        source = _source_of(path)
        if source is not None:
            uses.read(source, tools=True)
    elif flags & _ACCESS == os.O_RDONLY and not flags & os.O_TRUNC:
        tools = full.endswith(".py") and _is_tool(frame)
        uses.read(full, tools)
        if tools:
            return
    elif not _TMPFILE or not flags & _TMPFILE:
        _open_to_write(full, flags, name)
        return
    if type(path) is str and (path[:1] == "/" or not _moved) and len(_known) < uses.MOST:
        _known.add(path)


def _open_to_write(path: str, flags: int, asker: str) -> None:
    if flags & os.O_EXCL and flags & os.O_CREAT:
        if asker != "tempfile":  # whose names are random
            uses.linked(path)
        uses.wrote(path, whole=True)
        return
    whole = bool(flags & os.O_TRUNC)
    if not whole and flags & _ACCESS == os.O_RDWR:
        uses.read(path)
    uses.wrote(path, whole)


def _source_of(path: Any) -> str | None:
    """Where a module is taken from its cache, its source is what counts."""
    if type(path) is not str or not path.endswith(".pyc"):
        return None
    folder, _, name = path.rpartition("/")
    prefix = sys.pycache_prefix
    if prefix and folder.startswith(prefix):
        folder = folder[len(prefix.rstrip("/")) :]
    elif folder.endswith("/__pycache__"):
        folder = folder[: -len("/__pycache__")]
    else:
        return None
    return resolve(f"{folder}/{name.partition('.')[0]}.py")


def _is_tool(frame: FrameType | None) -> bool:
    """Whether source is read to import it or to show it, and not by the program itself."""
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name in _TOOLS or name.startswith(AGENT):
            return True
        if owner.of(frame.f_code.co_filename) != "stdlib":
            return False
        frame = frame.f_back
    return True


# --- folders, and changes -----------------------------------------------------------------


def listed(args: tuple[Any, ...]) -> None:
    """`os.listdir`."""
    _listed(args[0], scanned=False)


def scanned(args: tuple[Any, ...]) -> None:
    """`os.scandir`, whose entries also give sizes and times."""
    _listed(args[0], scanned=True)


def _listed(path: Any, scanned: bool) -> None:
    name, frame = _asker(3)
    if name in IMPORTS or name.startswith(AGENT):
        return
    if isinstance(path, int):
        path = posix.readlink(f"/proc/self/fd/{path}")
    full = resolve("." if path is None else path)
    if full is None:
        return
    if _numbers_folders(frame):
        return
    if name in METADATA:
        uses.listed(full, -1)
    elif name == "glob" and not _wants_hidden(frame):
        uses.listed(full, 0)
    else:
        uses.listed(full, 2 if scanned and name not in _WALKERS else 1)


def _numbers_folders(frame: FrameType | None) -> bool:
    """Whether pytest looks among its temporary folders for the next number, or for old ones."""
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith("pathlib"):
        frame = frame.f_back
    return (
        frame is not None
        and frame.f_globals.get("__name__") == "_pytest.pathlib"
        and frame.f_code.co_name not in ("scandir", "visit")
    )


def _wants_hidden(frame: FrameType | None) -> bool:
    """Whether a pattern of `glob` may match names that begin with a dot."""
    while frame is not None and frame.f_globals.get("__name__") == "glob":
        local = frame.f_locals
        pattern = local.get("pattern", local.get("pathname", ""))
        hidden = b"." if isinstance(pattern, bytes) else "."
        if local.get("include_hidden") or (pattern and pattern.startswith(hidden)):
            return True
        frame = frame.f_back
    return False


def made(args: tuple[Any, ...]) -> None:
    """`os.mkdir`."""
    full = resolve(args[0], args[2])
    name, frame = _asker(2)
    if full is None or name.startswith(AGENT):
        return
    needed = (
        frame is not None
        and name in _WALKERS
        and frame.f_code.co_name in ("makedirs", "mkdir")
        and bool(frame.f_locals.get("exist_ok"))
    )
    uses.made(full, needed, random=name == "tempfile")


def removed(args: tuple[Any, ...]) -> None:
    """`os.remove`, `os.unlink`, `os.rmdir`."""
    full = resolve(args[0], args[1])
    if full is not None:
        uses.removed(full)


def renamed(args: tuple[Any, ...]) -> None:
    """`os.rename`, `os.replace`."""
    source, target = resolve(args[0], args[2]), resolve(args[1], args[3])
    was = uses.TABLE.get(source or "")
    fresh = was is not None and was.fresh
    if source is not None:
        uses.removed(source)
    use = uses.wrote(target, whole=True) if target is not None else None
    if use is not None:
        use.fresh = fresh


def linked(args: tuple[Any, ...]) -> None:
    """`os.link`, `os.symlink`: the new name must not have been there."""
    full = resolve(args[1], args[-1])
    if full is not None:
        uses.linked(full)
        uses.wrote(full, whole=True)


def truncated(args: tuple[Any, ...]) -> None:
    """`os.truncate`."""
    full = resolve(args[0])
    if full is not None:
        uses.read(full)
        uses.wrote(full, whole=False)


def touched(args: tuple[Any, ...]) -> None:
    """`os.utime`, `os.chmod`, `os.chown`."""
    full = resolve(args[0], args[-1])
    if full is not None:
        frame = _asker(2)[1]
        if frame is None or frame.f_code.co_name != "touch":  # which makes it if it isn't there
            uses.looked(full)
        uses.touched(full)


def moved(_: tuple[Any, ...]) -> None:
    """`os.chdir`: from now on a relative path says nothing by itself."""
    global _moved  # noqa: PLW0603 - a process has one folder
    _moved = True
    _known.intersection_update([path for path in _known if path[:1] == "/"])


# --- what is opened outside of Python -------------------------------------------------------


def connected(args: tuple[Any, ...]) -> None:
    """`sqlite3.connect`, which opens the file in C."""
    path = os.fsdecode(args[0])
    if path.startswith("file:"):
        path = path[5:].partition("?")[0]
    full = resolve(path) if path != ":memory:" else None
    if full is not None:
        uses.read(full)
        uses.wrote(full, whole=False)


def dynamic(args: tuple[Any, ...]) -> None:
    """`ctypes.dlopen`."""
    full = resolve(args[0]) if args[0] and "/" in os.fsdecode(args[0]) else None
    if full is not None:
        uses.read(full)


def started(args: tuple[Any, ...]) -> None:
    """Take a command's own files, as far as its words name them, as read. More isn't known."""
    command = args[1] if len(args) > 1 else args[0]
    folder = os.fsdecode(args[2]) if len(args) > 3 and args[2] is not None else "."
    if isinstance(command, (str, bytes, os.PathLike)):
        command = [command]
    words = [os.fsdecode(word) for word in command]
    parts = [part.strip("<>;&|()'\"") for word in words for part in word.split()]
    for word in {*words, *parts}:
        full = resolve(os.path.join(folder, word)) if word else None
        if full is not None and signatures.kind(signatures.state(full)) == signatures.FILE:
            uses.read(full)


HANDLERS = {
    "open": opened,
    "os.listdir": listed,
    "os.scandir": scanned,
    "os.mkdir": made,
    "os.remove": removed,
    "os.rmdir": removed,
    "os.rename": renamed,
    "os.link": linked,
    "os.symlink": linked,
    "os.truncate": truncated,
    "os.utime": touched,
    "os.chmod": touched,
    "os.chown": touched,
    "os.chdir": moved,
    "sqlite3.connect": connected,
    "ctypes.dlopen": dynamic,
    "subprocess.Popen": started,
    "os.posix_spawn": started,
    "os.system": started,
}

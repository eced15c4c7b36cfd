"""How a probe speaks: one line on stderr, written in one piece, with who and where before it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

PATIENCE = 1.0  # seconds that a full pipe is waited for
RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_begun = os.getpid()
_shown: dict[str, str] = {}


def say(where: str, *texts: str) -> None:
    """`train.py:41 forward  x = Tensor[32, 10] f32`."""
    line = "  ".join((label() + where, *texts)) + "\n"
    write(line.encode("utf-8", "backslashreplace"))


def write(data: bytes) -> None:
    """To stderr, come what may: a program must not fail because somebody looks at it."""
    flush()
    try:
        done = os.write(2, data)
        while done < len(data):
            done += os.write(2, data[done:])
    except BlockingIOError:
        _write_slowly(data)
    except OSError:
        return


def flush() -> None:
    """What the program has said before shall stand before."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed, full, or something else of the program's
            continue


def _write_slowly(data: bytes) -> None:
    import select

    try:
        if select.select([], [2], [], PATIENCE)[1]:
            os.write(2, data)
    except OSError:
        return


def place(frame: FrameType, name: str | None = None) -> str:
    """File, line and function; `train.py:41` alone at the top of a module."""
    if name is None:
        name = function_of(frame.f_code)
    where = f"{shown(file_of(frame))}:{frame.f_lineno}"
    return where if name in ("", "<module>") else f"{where} {name}"


def function_of(code: CodeType) -> str:
    """The function's name with its class, where Python knows it."""
    return str(getattr(code, "co_qualname", code.co_name)).replace("<locals>.", "")


def file_of(frame: FrameType) -> str:
    """The file that the code is of; a frozen module has one as well."""
    name = frame.f_code.co_filename
    if name.startswith("<frozen"):
        found = frame.f_globals.get("__file__")
        return found if type(found) is str else name
    return os.path.abspath(name) if not name.startswith("<") else name


def shown(path: str) -> str:
    """A path as short as it can be told: from here, from the packages, from the home folder."""
    found = _shown.get(path)
    if found is None:
        found = _shown[path] = _short(path)
    return found


def _short(path: str) -> str:
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            return path.rpartition(mark)[2]
    stdlib = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
    if path.startswith(stdlib):
        return path[len(stdlib) :]
    try:
        here = os.getcwd() + os.sep
    except OSError:
        here = ""
    return path[len(here) :] if here and path.startswith(here) else path


def label() -> str:
    """Say who speaks, where there are several: `[rank 2] `."""
    names = []
    for name in RANKS:
        if os.environ.get(name, "").isdecimal():
            names.append(f"rank {os.environ[name]}")
            break
    process: Any = sys.modules.get("multiprocessing.process")
    own = process.current_process().name if process is not None else "MainProcess"
    if own != "MainProcess":
        names.append(own)
    elif os.getpid() != _begun:
        names.append(f"pid {os.getpid()}")
    threading: Any = sys.modules.get("threading")
    if threading is not None:
        thread = threading._active.get(threading.get_ident())
        if thread is not None and thread is not threading.main_thread():
            names.append(str(thread.name))
    return f"[{' · '.join(names)}] " if names else ""

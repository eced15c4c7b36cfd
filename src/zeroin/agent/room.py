"""Whether a folder with little room was full: a program may notice, tidy up, and say nothing.

Python tells an audit hook before a file is deleted, moved or cut: then it can still be seen. From
3.12 on it also tells of each OSError at the place where it comes up, whoever catches it.
"""

from __future__ import annotations

import os
import sys
from errno import ENOSPC

from . import owner, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GIVES_BACK = frozenset(("os.remove", "os.rename", "os.truncate", "open"))
CUTS = os.O_TRUNC
TOOL = 4  # of the six that `sys.monitoring` has; see `lines`


def install(wanted: list[str]) -> None:
    """Begin, with the folders that may be full."""
    folders = list(wanted)

    def tell(folder: str, frame: Any) -> None:
        """Once for each folder."""
        folders.remove(folder)
        while frame is not None and not owner.is_users(frame.f_code.co_filename):
            frame = frame.f_back
        where = [frame.f_code.co_filename, frame.f_lineno] if frame is not None else []
        post.send({"kind": "full", "pid": os.getpid(), "folder": folder, "where": where})

    def heard(event: str, args: Any) -> None:
        if event in GIVES_BACK and folders and (event != "open" or _cuts(args)):
            for folder in [one for one in folders if _is_full(one)]:
                tell(folder, sys._getframe(1))

    sys.addaudithook(heard)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None and monitoring.get_tool(TOOL) is None:

        def raised(_code: Any, _offset: int, exc: BaseException) -> None:
            if isinstance(exc, OSError) and exc.errno == ENOSPC:
                full = [one for one in folders if _is_full(one)]
                # What was refused as a whole, by fallocate, left it as it was.
                for folder in full or folders[:1] * (len(folders) == 1):
                    tell(folder, sys._getframe(1))

        monitoring.use_tool_id(TOOL, "zeroin")
        monitoring.register_callback(TOOL, monitoring.events.RAISE, raised)
        monitoring.set_events(TOOL, monitoring.events.RAISE)


def _cuts(args: Any) -> bool:
    """Of `open`: path, mode, flags."""
    return isinstance(args[2], int) and bool(args[2] & CUTS)


def _is_full(folder: str) -> bool:
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    return not room.f_bfree or (room.f_files > 0 and not room.f_ffree)

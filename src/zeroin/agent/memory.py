"""What the kernel and the allocator count of this process: the one place that reads it.

*Resident* is what the kernel counts, and its *peak* can be set back. *In use* is what malloc has
given out and not got back.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

PAGE = os.sysconf("SC_PAGE_SIZE")
_ask: Callable[[], int | None] | None = None


def resident() -> int:
    """Give the bytes of memory that are really there; 0 where that can't be told."""
    try:
        return int(_read("/proc/self/statm").split()[1]) * PAGE
    except (OSError, IndexError, ValueError):  # no files left to open, or no /proc
        return 0


def peak() -> int:
    """Give the most that was resident, since the start or since it was set back."""
    try:
        text = _read("/proc/self/status")
        return int(text.partition(b"\nVmHWM:")[2].split(None, 1)[0]) * 1024
    except (OSError, IndexError, ValueError):
        return 0


def reset_peak() -> bool:
    """Set the peak back to what is resident now; False where that is forbidden."""
    try:
        fd = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:  # some containers don't have it
        return False
    try:
        return os.write(fd, b"5") == 1
    except OSError:
        return False
    finally:
        os.close(fd)


def in_use() -> int | None:
    """Give what malloc has given out; None where the C library keeps no such account."""
    global _ask  # noqa: PLW0603 - found once
    if _ask is None:
        _ask = _find()
    return _ask()


def _find() -> Callable[[], int | None]:
    """Ask glibc 2.33 or newer; older ones count in 32 bits, other C libraries don't count."""
    try:
        import ctypes

        names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"

        class Info(ctypes.Structure):
            _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

        ask: Any = ctypes.CDLL(None).mallinfo2
        ask.restype = Info
        ask.argtypes = []
    except Exception:  # no ctypes, or no such function
        return lambda: None

    def told() -> int:
        info = ask()
        return int(info.uordblks + info.hblkhd)

    return told


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 8192)
    finally:
        os.close(fd)

"""Lines of the user's code: the one that runs an operation, and those that led to it."""

from __future__ import annotations

from .. import crash, owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

FRAMES = 10  # of the user's own
_users: dict[CodeType, bool] = {}


def users_frame(start: FrameType | None) -> FrameType | None:
    """Find the innermost frame of the user's own code. Called for each operation."""
    frame = start
    while frame is not None:
        code = frame.f_code
        mine = _users.get(code)
        if mine is None:
            mine = _users[code] = owner.is_users(code.co_filename)
        if mine:
            return frame
        frame = frame.f_back
    return None


def place_of(start: FrameType | None) -> tuple[CodeType, int, int] | None:
    """Say where the user's code is now, for little."""
    frame = users_frame(start)
    return None if frame is None else (frame.f_code, frame.f_lineno, frame.f_lasti)


def is_called_by(name: str, file: str, start: FrameType | None, within: int = 8) -> bool:
    """Whether a function of a library is among the next callers."""
    frame = start
    for _ in range(within):
        if frame is None:
            return False
        if frame.f_code.co_name == name and frame.f_code.co_filename.endswith(file):
            return True
        frame = frame.f_back
    return False


def frames_below(name: str, file: str, start: FrameType | None) -> int:
    """How many frames of the user's were called, directly or not, by a function of a library."""
    count, frame = 0, start
    while frame is not None:
        code = frame.f_code
        if code.co_name == name and code.co_filename.endswith(file):
            return count
        count += users_frame(frame) is frame
        frame = frame.f_back
    return 0


def frames_from(start: FrameType | None) -> list[dict[str, Any]]:
    """Describe the user's own frames, the innermost last, with their source."""
    found: list[dict[str, Any]] = []
    frame = users_frame(start)
    while frame is not None and len(found) < FRAMES:
        found.append(crash.frame_of(frame, frame.f_lineno, frame.f_lasti))
        frame = users_frame(frame.f_back)
    found.reverse()
    for one in found[-3:]:
        crash.add_source(one)
    return found


def described(place: Any) -> dict[str, Any] | None:
    """Describe a line that was noted earlier."""
    if place is None:
        return None
    code, line, lasti = place
    about: dict[str, Any] = {
        "file": crash.file_of(code),
        "line": line,
        "name": code.co_name,
        "qualname": getattr(code, "co_qualname", code.co_name),
        "owner": owner.of(code.co_filename),
    }
    span = crash.span_of(code, lasti)
    if span:
        about["span"] = span
    crash.add_source(about)
    return about


def names_of(frame: FrameType | None, values: list[Any]) -> list[str]:
    """Find under which names of that frame the tensors go; "" where under none."""
    if frame is None:
        return [""] * len(values)
    names: dict[int, str] = {}
    try:
        for name, value in list(frame.f_locals.items()):
            if not name.startswith(("_", ".", "@")):
                names.setdefault(id(value), name)
    except Exception:  # a class body may have any mapping as its namespace
        return [""] * len(values)
    return [names.get(id(value), "") for value in values]


def trim(value: BaseException, tb: Any) -> Any:
    """Take our frames, and torch's that called them, out of a traceback that is printed."""
    kept = []
    while tb is not None:
        file = tb.tb_frame.f_code.co_filename
        if not (file.startswith(_HERE) or file.endswith("torch/utils/_python_dispatch.py")):
            kept.append(tb)
        tb = tb.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    tb = kept[0] if kept else None
    value.__traceback__ = tb
    return tb


_HERE = __file__.rpartition("/")[0] + "/"
